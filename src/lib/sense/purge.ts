import { StewardError } from '../errors';
import { parseIso } from '../platform/time/clock';
import { notBegun } from '../platform/time/day-words';
import { addDays, dayOf, type Day } from '../platform/time/time';
import { completePending } from './capture-store';
import type { SenseEvent } from './event';
import { rollup, type RollDeps } from './roll';

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
  /** Days whose content-type read was removed (a note of a failed build is no read): it may tell of what is removed, and cannot be made again without it. */
  insights: Day[];
}

/**
 * Forgets what was captured (facts: a retroactive purge). Call it under the lock of sense. Cursors stay:
 * what was removed is not captured again.
 */
export function purge(deps: RollDeps, selection: PurgeSelection, dryRun: boolean): PurgeResult {
  check(selection, dayOf(deps.clock.now(), deps.timezone));
  const { store } = deps;
  const { state, damaged } = store.readState();
  if (!dryRun && state.pending.length > 0) {
    // The lines that the state still stands for must not bring back what is removed now.
    completePending(store, state, dayOf(deps.clock.now(), deps.timezone), []);
    const kept = state.pending.filter((plan) => plan.day !== 'late' && !covers(selection, plan.day));
    store.writeState({ ...state, pending: kept });
  }
  const result: PurgeResult = {
    dryRun,
    day: selection.day ?? null,
    before: selection.before ?? null,
    events: 0,
    logs: [],
    rebuilt: [],
    removed: [],
    kept: [],
    insights: [],
  };
  const whole = selection.app === undefined && selection.repo === undefined;
  const days = new Set([
    ...store.loggedDays(),
    ...store.recordedDays(),
    ...store.quarantinedDays(),
    ...store.insightDays(),
  ]);
  for (const day of [...days].sort()) {
    if (!covers(selection, day)) continue;
    if (whole) removeDay(deps, day, result, dryRun);
    else removeMatches(deps, day, selection, result, dryRun);
  }
  removeLate(deps, selection, result, dryRun);
  if (!dryRun && whole) forgetDays(store, selection, damaged);
  if (!dryRun) {
    // Both hold events in whole: what a killed run left, and the copy of a damaged state.
    store.sweep(deps.clock.now(), -1);
    store.removeStateAside();
  }
  if (!dryRun && (result.removed.length > 0 || result.rebuilt.length > 0)) {
    deps.afterRecords(dayOf(deps.clock.now(), deps.timezone));
  }
  return result;
}

function check(selection: PurgeSelection, today: Day): void {
  const { day, before, app, repo, all } = selection;
  const named = [day, before, app, repo].some((value) => value !== undefined);
  if (all === true && named) {
    throw new StewardError('usage', '--all removes everything; it goes with no other choice.', {
      hint: 'Leave --all out, or the others.',
    });
  }
  if (all !== true && !named) {
    throw new StewardError('usage', 'Say what to remove.', {
      hint: 'One of --day, --before, --app, --repo, --all. Without --yes it only shows what it would remove.',
    });
  }
  if (day !== undefined && day > today) throw notBegun(day, 'today', today);
  const tomorrow = addDays(today, 1);
  if (before !== undefined && before > tomorrow) throw notBegun(before, 'tomorrow', tomorrow);
}

function covers({ day, before }: PurgeSelection, candidate: Day): boolean {
  return (day === undefined || candidate === day) && (before === undefined || candidate < before);
}

function removeDay(deps: RollDeps, day: Day, result: PurgeResult, dryRun: boolean): void {
  const { store } = deps;
  if (store.logBytes(day) !== undefined) {
    result.events += store.countLines(day);
    result.logs.push(day);
  }
  // A record of today without content is removed, too, but there is nothing to list.
  const isBlank = store.recordState(day) === 'empty' && day >= dayOf(deps.clock.now(), deps.timezone);
  if (store.hasRecord(day) && !isBlank) result.removed.push(day);
  removeInsight(deps, day, result, dryRun);
  if (dryRun) return;
  // The log first: a record without one is not built again, whatever stops this run.
  store.removeLog(day);
  store.removeQuarantine(day);
  store.removeRecord(day);
}

/** What the state says of days that are removed. */
function forgetDays(store: RollDeps['store'], selection: PurgeSelection, damaged: boolean): void {
  if (damaged) return;
  const { state, lost } = store.readState();
  if (lost) return;
  for (const days of [state.rolled, state.zones])
    for (const day of Object.keys(days)) if (covers(selection, day)) delete days[day];
  store.writeState(state);
}

/** The events that came too late for their day. */
function removeLate(deps: RollDeps, selection: PurgeSelection, result: PurgeResult, dryRun: boolean): void {
  const { store } = deps;
  if (store.logBytes('late') === undefined) return;
  const whole = selection.app === undefined && selection.repo === undefined;
  const { events } = store.readLog('late');
  const left = events.filter(
    (event) =>
      !covers(selection, dayOf(parseIso(event.ts) ?? 0, deps.timezone)) ||
      !(whole || matches(event, selection)),
  );
  if (left.length === events.length && selection.all !== true) return;
  result.events += events.length - left.length;
  if (dryRun) return;
  if (left.length === 0) store.removeLog('late');
  else store.rewriteLog('late', left);
}

function removeMatches(
  deps: RollDeps,
  day: Day,
  selection: PurgeSelection,
  result: PurgeResult,
  dryRun: boolean,
): void {
  const { store } = deps;
  if (store.logBytes(day) === undefined) {
    let isDamaged = false;
    const record = store.readRecord(day, () => (isDamaged = true));
    // A damaged one may name it.
    const named =
      isDamaged ||
      record?.apps.some(({ app }) => same(app, selection.app)) === true ||
      record?.commits.repos.some(({ repo }) => same(repo, selection.repo)) === true;
    if (!named) return;
    removeInsight(deps, day, result, dryRun);
    if (selection.records === true) {
      result.removed.push(day);
      if (!dryRun) store.removeRecord(day);
    } else result.kept.push(day);
    return;
  }
  const { events } = store.readLog(day);
  const left = events.filter((event) => !matches(event, selection));
  if (left.length === events.length) return;
  result.events += events.length - left.length;
  result.logs.push(day);
  const recorded = store.hasRecord(day);
  if (recorded) result.rebuilt.push(day);
  removeInsight(deps, day, result, dryRun);
  if (dryRun) return;
  store.rewriteLog(day, left);
  store.removeQuarantine(day);
  if (recorded) rollup(deps, day);
}

function removeInsight({ store }: RollDeps, day: Day, result: PurgeResult, dryRun: boolean): void {
  if (!store.insightDays().includes(day)) return;
  if (store.hasRead(day)) result.insights.push(day);
  if (!dryRun) store.removeInsight(day);
}

function matches(event: SenseEvent, { app, repo }: PurgeSelection): boolean {
  const byApp = app !== undefined && (same(event.app, app) || same(event.detail?.['bundleId'], app));
  const byRepo = repo !== undefined && (same(event.repo, repo) || event.detail?.['path'] === repo);
  return byApp || byRepo;
}

function same(value: unknown, wanted: string | undefined): boolean {
  return typeof value === 'string' && wanted !== undefined && value.toLowerCase() === wanted.toLowerCase();
}
