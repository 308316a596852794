import { StewardError } from '../errors';
import { parseIso } from '../platform/time/clock';
import { futureDayError } from '../platform/time/day-words';
import { addDays, dayOf, type Day } from '../platform/time/time';
import { completePending } from './capture';
import type { SenseEvent } from './event';
import { forgetDays, rollup, todayOf, type RollDeps } from './roll';

/** What to remove: of the days that match (all, when no day is named), the events that match. */
export interface PurgeSelection {
  /** Only this day; it has begun. */
  day?: Day;
  /** Only days before this one; tomorrow at most, which includes today. */
  before?: Day;
  /** Only app time of this app: its name or bundle id, without case. Records are built again without it. */
  app?: string;
  /** Only what was seen of this repository: its name or path. */
  repo?: string;
  /** Everything that was ever captured. */
  all?: boolean;
  /** Also remove records that name the app or repository and cannot be built again: their raw log is discarded. */
  records?: boolean;
}

export interface PurgeResult {
  dryRun: boolean;
  /** The day, and the day before which, as they were understood; null when none was named. */
  day: Day | null;
  before: Day | null;
  /** Events removed from raw logs. */
  events: number;
  /** Days whose raw log was removed or shortened. */
  logs: Day[];
  /** Days whose record was built again without what was removed. */
  rebuilt: Day[];
  /** Days whose record was removed. */
  removed: Day[];
  /** Days whose record still names it: their raw log is discarded, and `records` was not asked for. */
  kept: Day[];
  /** Days whose content-type read was removed: it may tell of what is removed. A note of a failed build is not listed. */
  insights: Day[];
}

interface Purge {
  deps: RollDeps;
  selection: PurgeSelection;
  /** Whole days go, and not only what matches an application or a repository. */
  isWhole: boolean;
  result: PurgeResult;
}

/** Forgets what was captured. Call it under the lock of sense. Cursors stay: what is removed is not captured again. */
export function purge(deps: RollDeps, selection: PurgeSelection, dryRun: boolean): PurgeResult {
  const { store } = deps;
  const { day = null, before = null } = selection;
  check(selection, todayOf(deps));
  const result: PurgeResult = {
    ...{ dryRun, day, before, events: 0 },
    ...{ logs: [], rebuilt: [], removed: [], kept: [], insights: [] },
  };
  const isWhole = selection.app === undefined && selection.repo === undefined;
  const purging: Purge = { deps, selection, isWhole, result };
  if (!dryRun) settlePending(purging);
  const stored = [store.loggedDays(), store.recordedDays(), store.quarantinedDays(), store.insightDays()];
  for (const candidate of [...new Set(stored.flat())].sort()) {
    if (!covers(selection, candidate)) continue;
    if (isWhole) removeDay(purging, candidate);
    else if (store.logBytes(candidate) !== undefined) removeEvents(purging, candidate);
    else removeNaming(purging, candidate);
  }
  removeLate(purging);
  if (dryRun) return result;
  const { state, damaged, lost } = store.readState();
  if (isWhole && !damaged && !lost) {
    forgetDays(state, (known) => covers(selection, known));
    store.writeState(state);
  }
  // Both hold events in whole: what a killed run left, and the copy of a damaged state.
  store.sweep(deps.clock.now(), -1);
  store.removeStateAside();
  if (result.removed.length > 0 || result.rebuilt.length > 0) deps.afterRecords(todayOf(deps));
  return result;
}

function check({ day, before, app, repo, all = false }: PurgeSelection, today: Day): void {
  const named = [day, before, app, repo].some((value) => value !== undefined);
  if (all && named) {
    throw new StewardError('usage', '--all removes everything; it goes with no other choice.', {
      hint: 'Leave --all out, or the others.',
    });
  }
  if (!all && !named) {
    throw new StewardError('usage', 'Say what to remove.', {
      hint: 'One of --day, --before, --app, --repo, --all. Without --yes it only shows what it would remove.',
    });
  }
  if (day !== undefined && day > today) throw futureDayError(day, 'today', today);
  const tomorrow = addDays(today, 1);
  if (before !== undefined && before > tomorrow) throw futureDayError(before, 'tomorrow', tomorrow);
}

/** The lines that the state still stands for must not bring back what is removed now. */
function settlePending({ deps, selection }: Purge): void {
  const { state } = deps.store.readState();
  if (state.pending.length === 0) return;
  completePending(deps.store, state, todayOf(deps), []);
  const kept = state.pending.filter(({ day }) => day !== 'late' && !covers(selection, day));
  deps.store.writeState({ ...state, pending: kept });
}

function covers({ day, before }: PurgeSelection, candidate: Day): boolean {
  return (day === undefined || candidate === day) && (before === undefined || candidate < before);
}

function removeDay(purging: Purge, day: Day): void {
  const { deps, result } = purging;
  const { store } = deps;
  if (store.logBytes(day) !== undefined) {
    result.events += store.countLines(day);
    result.logs.push(day);
  }
  // A record of today without content is removed, too, but there is nothing to list.
  const isBlank = store.recordState(day) === 'empty' && day >= todayOf(deps);
  if (store.hasRecord(day) && !isBlank) result.removed.push(day);
  removeInsight(purging, day);
  if (result.dryRun) return;
  // The log first: a record without one is not built again, whatever stops this run.
  store.removeLog(day);
  store.removeQuarantine(day);
  store.removeRecord(day);
}

/** Removes the events that match from a raw log, and builds the record again. */
function removeEvents(purging: Purge, day: Day): void {
  const { deps, selection, result } = purging;
  const { store } = deps;
  const { events } = store.readLog(day);
  const left = events.filter((event) => !matches(event, selection));
  if (left.length === events.length) return;
  result.events += events.length - left.length;
  result.logs.push(day);
  const isRecorded = store.hasRecord(day);
  if (isRecorded) result.rebuilt.push(day);
  removeInsight(purging, day);
  if (result.dryRun) return;
  store.rewriteLog(day, left);
  store.removeQuarantine(day);
  if (isRecorded) rollup(deps, day);
}

/** A record that names it, and cannot be built again. */
function removeNaming(purging: Purge, day: Day): void {
  const { deps, selection, result } = purging;
  // A damaged record may name it.
  let isNamed = false;
  const record = deps.store.readRecord(day, () => (isNamed = true));
  isNamed ||= record?.apps.some(({ app }) => same(app, selection.app)) === true;
  isNamed ||= record?.commits.repos.some(({ repo }) => same(repo, selection.repo)) === true;
  if (!isNamed) return;
  removeInsight(purging, day);
  (selection.records === true ? result.removed : result.kept).push(day);
  if (selection.records === true && !result.dryRun) deps.store.removeRecord(day);
}

/** The events that came too late for their day. */
function removeLate({ deps, selection, isWhole, result }: Purge): void {
  const { store, timezone } = deps;
  if (store.logBytes('late') === undefined) return;
  const { events } = store.readLog('late');
  const isGone = (event: SenseEvent): boolean =>
    covers(selection, dayOf(parseIso(event.ts) ?? 0, timezone)) && (isWhole || matches(event, selection));
  const left = events.filter((event) => !isGone(event));
  if (left.length === events.length && selection.all !== true) return;
  result.events += events.length - left.length;
  if (result.dryRun) return;
  if (left.length === 0) store.removeLog('late');
  else store.rewriteLog('late', left);
}

function removeInsight({ deps: { store }, result }: Purge, day: Day): void {
  if (!store.insightDays().includes(day)) return;
  if (store.hasRead(day)) result.insights.push(day);
  if (!result.dryRun) store.removeInsight(day);
}

function matches(event: SenseEvent, { app, repo }: PurgeSelection): boolean {
  const byApp = same(event.app, app) || same(event.detail?.['bundleId'], app);
  return byApp || same(event.repo, repo) || (repo !== undefined && event.detail?.['path'] === repo);
}

function same(value: unknown, wanted: string | undefined): boolean {
  return typeof value === 'string' && wanted !== undefined && value.toLowerCase() === wanted.toLowerCase();
}
