import { dirname } from 'node:path';

import type { SenseConfig } from '../config/schema';
import { StewardError } from '../errors';
import { exists } from '../platform/files/folder';
import { isObject } from '../platform/files/json-object';
import { parseIso } from '../platform/time/clock';
import { isInRange, type DayRange } from '../platform/time/period';
import { dayOf, type Day } from '../platform/time/time';
import { completePending } from './capture';
import type { SenseEvent } from '../time/event';
import { readCursor, writeCursor } from './git/memory';
import { matchRepo, type RepoMatch } from './purge-repo';
import { appsOf, isAnyOf, rowApps, selectedApps, selectedRepos, withPurge } from './purged';
import { forgetDays, rollup, todayOf, type RollDeps } from './roll';
import type { SenseState } from './state';

/** The events to remove, of all days unless a range is set. */
export interface PurgeSelection extends DayRange {
  /** Restricts the purge to events of this application, by name or bundle id, ignoring case. */
  app?: string;
  /** Restricts the purge to data of this repository, by name or path. */
  repo?: string;
  /** Whether to remove all captured data. */
  all?: boolean;
  /** Whether to also remove records that mention `app` or `repo` and whose event logs were deleted. */
  records?: boolean;
}

export type PurgeResult = ReturnType<typeof emptyResult>;

function emptyResult(dryRun: boolean, { from, to }: DayRange, match: RepoMatch | undefined) {
  const { path = null, names = [], others = [] } = match ?? {};
  return {
    dryRun,
    /** The range of days; null for all days. */
    from: from ?? null,
    to: to ?? null,
    /** Number of events removed. */
    events: 0,
    /** Days whose event logs were removed or rewritten. */
    logs: [] as Day[],
    rebuilt: [] as Day[],
    removed: [] as Day[],
    /** Days whose records still mention `app` or `repo`. */
    kept: [] as Day[],
    /** Days whose insights were removed, because they may mention removed data. */
    insights: [] as Day[],
    /**
     * The selected repository, or null. `unclear` lists the days with data that has no path and may belong to
     * `others`; this data isn't removed.
     */
    repo: match === undefined ? null : { path, names, others, unclear: [] as Day[] },
  };
}

export type PurgeDeps = RollDeps & { config: Pick<SenseConfig, 'repos'> };

interface Purge {
  deps: PurgeDeps;
  selection: PurgeSelection;
  /** Whether the purge removes whole days, rather than the data of one application or repository. */
  isWhole: boolean;
  match: RepoMatch | undefined;
  /** The names of the selected application. */
  apps: string[];
  result: PurgeResult;
}

/**
 * Deletes captured data. Doesn't reset the cursors, so that the data isn't captured again. The caller must
 * hold the sense lock.
 */
export function purge(deps: PurgeDeps, selection: PurgeSelection, dryRun: boolean): PurgeResult {
  const { store } = deps;
  validate(selection);
  const apps = selection.app === undefined ? [] : selectedApps(selection.app);
  const isWhole = selection.app === undefined && selection.repo === undefined;
  if (!dryRun) finishPending(deps, selection);
  const repos = { store, repos: deps.config.repos, nowMs: deps.clock.now() };
  const match = selection.repo === undefined ? undefined : matchRepo(repos, selection.repo);
  const result = emptyResult(dryRun, selection, match);
  const run: Purge = { deps, selection, isWhole, match, apps, result };
  const stored = [store.loggedDays(), store.recordedDays(), store.quarantinedDays(), store.insightDays()];
  for (const candidate of [...new Set(stored.flat())].sort()) {
    if (!isInRange(selection, candidate)) continue;
    if (isWhole) removeDay(run, candidate);
    else if (store.logBytes(candidate) !== undefined) removeEvents(run, candidate);
    else removeFromRecord(run, candidate);
  }
  removeLate(run);
  if (dryRun) return result;
  updateState(run);
  // Temporary files and the saved copy of a damaged state file may also contain events.
  store.sweep(deps.clock.now(), -1);
  store.removeQuarantinedState();
  if (result.removed.length > 0 || result.rebuilt.length > 0) deps.afterRecords(todayOf(deps));
  return result;
}

function validate({ from, app, repo, all = false }: PurgeSelection): void {
  const isNarrowed = [from, app, repo].some((value) => value !== undefined);
  if (all && isNarrowed) {
    throw new StewardError('usage', '--all cannot be combined with other selections.', {
      hint: 'Omit --all or the other selections.',
    });
  }
  if (!all && !isNarrowed) {
    throw new StewardError('usage', 'Choose what to remove: --of, --app, --repo or --all.', {
      hint: 'Without --yes, the command only shows what it would remove.',
    });
  }
}

/** Forgets removed days, and marks selected focus that the daemon or a browser hasn't stored yet. */
function updateState({ deps, selection, isWhole, match, apps }: Purge): void {
  const { store, clock } = deps;
  const { state, damaged, lost } = store.readState();
  if (damaged || lost || !exists(dirname(store.statePath))) return;
  if (isWhole) forgetDays(state, (known) => isInRange(selection, known));
  if (selection.all === true) forgetNames(state, deps);
  const names = isWhole ? undefined : [...apps, ...(match === undefined ? [] : selectedRepos(match))];
  state.cursors['purges'] = withPurge(state.cursors['purges'], selection, names, clock.now());
  store.writeState(state);
}

/** Forgets the running sessions and the repositories that are no longer watched. */
function forgetNames({ cursors }: SenseState, { config: { repos }, clock }: PurgeDeps): void {
  const nowMs = clock.now();
  const memories = readCursor({ cursor: cursors['git'], nowMs });
  const watched = new Map([...memories].filter(([, { path }]) => repos.includes(path)));
  if (watched.size < memories.size) cursors['git'] = writeCursor(watched, repos, nowMs);
  withoutRunning(cursors);
}

function withoutRunning(cursors: SenseState['cursors']): void {
  const cursor = cursors['agentSession'];
  if (isObject(cursor)) delete cursor['states'];
}

/** Forgets the running sessions. The caller must hold the sense lock. */
export function forgetRunning({ store }: Pick<PurgeDeps, 'store'>): void {
  const { state, damaged, lost } = store.readState();
  if (damaged || lost || !exists(store.statePath)) return;
  withoutRunning(state.cursors);
  store.writeState(state);
}

/**
 * Finishes or discards log writes that a capture left incomplete. Otherwise, the next capture would write
 * removed data to the log again.
 */
function finishPending(deps: PurgeDeps, selection: PurgeSelection): void {
  const { state } = deps.store.readState();
  if (state.pending.length === 0) return;
  completePending(deps.store, state, todayOf(deps), []);
  const pending = state.pending.filter(({ day }) => day !== 'late' && !isInRange(selection, day));
  deps.store.writeState({ ...state, pending });
}

function removeDay(run: Purge, day: Day): void {
  const { deps, result } = run;
  const { store } = deps;
  if (store.logBytes(day) !== undefined) {
    result.events += store.countLines(day);
    result.logs.push(day);
  }
  // If today's record is empty, don't report its removal.
  const isBlank = store.recordState(day) === 'empty' && day >= todayOf(deps);
  if (store.hasRecord(day) && !isBlank) result.removed.push(day);
  removeInsight(run, day);
  if (result.dryRun) return;
  // Remove the log first. Otherwise, a capture after a crash would rebuild the record.
  store.removeLog(day);
  store.removeCopies(day);
  store.removeQuarantine(day);
  store.removeRecord(day);
}

function removeEvents(run: Purge, day: Day): void {
  const { deps, result } = run;
  const { store } = deps;
  const { events } = store.readLog(day);
  const remaining = events.filter((event) => !isSelected(run, event, day));
  if (remaining.length === events.length) return;
  result.events += events.length - remaining.length;
  result.logs.push(day);
  const isRecorded = store.hasRecord(day);
  if (isRecorded) result.rebuilt.push(day);
  removeInsight(run, day);
  if (result.dryRun) return;
  store.rewriteLog(day, remaining);
  store.removeQuarantine(day);
  if (isRecorded) rollup(deps, day);
}

/**
 * Handles a day without an event log. If its record mentions the application or repository, removes the
 * record or reports that it was kept.
 */
function removeFromRecord(run: Purge, day: Day): void {
  const { deps, selection, result } = run;
  let isNamed = false;
  const record = deps.store.readRecord(day, () => (isNamed = true));
  isNamed ||= record?.apps.some(({ app }) => isAnyOf(rowApps(app), run.apps)) === true;
  isNamed ||= record !== undefined && belongs(run, day, run.match?.ofRecord(record));
  if (!isNamed) return;
  removeInsight(run, day);
  (selection.records === true ? result.removed : result.kept).push(day);
  if (selection.records === true && !result.dryRun) deps.store.removeRecord(day);
}

function removeLate(run: Purge): void {
  const { deps, selection, isWhole, result } = run;
  const { store, timezone } = deps;
  if (store.logBytes('late') === undefined) return;
  const { events } = store.readLog('late');
  const isGone = (event: SenseEvent): boolean => {
    const day = dayOf(parseIso(event.ts) ?? 0, timezone);
    return isInRange(selection, day) && (isWhole || isSelected(run, event, day));
  };
  const remaining = events.filter((event) => !isGone(event));
  if (remaining.length === events.length && selection.all !== true) return;
  result.events += events.length - remaining.length;
  if (result.dryRun) return;
  store.removeCopies('late');
  if (remaining.length === 0) store.removeLog('late');
  else store.rewriteLog('late', remaining);
}

function removeInsight({ deps: { store }, result }: Purge, day: Day): void {
  if (!store.insightDays().includes(day)) return;
  if (store.hasInsight(day)) result.insights.push(day);
  if (!result.dryRun) store.removeInsight(day);
}

function isSelected(run: Purge, event: SenseEvent, day: Day): boolean {
  return isAnyOf(appsOf(event), run.apps) || belongs(run, day, run.match?.ofEvent(event));
}

/** Returns whether data belongs to the repository. Data that may belong to another one isn't removed. */
function belongs({ match, result }: Purge, day: Day, answer: 'yes' | 'named' | 'no' | undefined): boolean {
  if (answer !== 'named' || match?.others.length === 0) return answer === 'yes' || answer === 'named';
  if (result.repo?.unclear.includes(day) === false) result.repo.unclear.push(day);
  return false;
}
