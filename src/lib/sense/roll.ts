import { StewardError, toStewardError } from '../errors';
import type { SenseConfig } from '../config/schema';
import { toIso, type Clock } from '../platform/time/clock';
import { notBegun } from '../platform/time/day-words';
import { addDays, dayOf, type Day } from '../platform/time/time';
import type { Classifier } from './classify';
import { recentJumps } from './clock-jump';
import { recordTally, type DailyRecord } from './record';
import type { SessionRepos } from './record-tally';
import type { SenseState } from './state';
import type { LogScan, SenseStore } from './store';
import { SENSE_VERSION } from './version';
import { recordMarkdown } from './view-markdown';

export interface RollDeps {
  clock: Clock;
  store: SenseStore;
  config: Pick<SenseConfig, 'pollIntervalSec' | 'retentionDays'>;
  timezone: string;
  classify: Classifier;
  /** Called once after records were written: the goals state is rebuilt there (service.md: Sense day cycle). */
  afterRecords: (today: Day) => void;
}

/** A day from its raw log. */
export interface DayRead {
  record: DailyRecord;
  sessionRepos: SessionRepos;
  scan: LogScan;
}

/** Reads a day; nothing is stored. */
export function readDay(deps: RollDeps, state: SenseState, day: Day): DayRead {
  const nowMs = deps.clock.now();
  const tally = recordTally(day, {
    timezone: state.zones[day] ?? deps.timezone,
    pollIntervalSec: deps.config.pollIntervalSec,
    classify: deps.classify,
  });
  const scan = deps.store.scanLog(day, tally.add);
  const record = tally.result({
    version: SENSE_VERSION,
    generatedAt: toIso(nowMs),
    final: day < dayOf(nowMs, deps.timezone),
  });
  return { record, sessionRepos: tally.sessionRepos(), scan };
}

/** Builds and stores one day's record, and sets its bad lines aside. The state is changed, not written. */
function rollDay(deps: RollDeps, state: SenseState, day: Day): DailyRecord {
  const { record, scan } = readDay(deps, state, day);
  deps.store.writeQuarantine(day, scan.bad);
  deps.store.writeRecord(record, recordMarkdown(record));
  // A day without a log has nothing that could grow: its record tells all.
  if (deps.store.logBytes(day) === undefined) delete state.rolled[day];
  else state.rolled[day] = { bytes: scan.bytes, final: record.final, quarantined: scan.badCount };
  return record;
}

/**
 * `rollup [date]`: builds and stores a day's record now. A day to come is `usage`; a day before the first of which
 * something is stored is `not_found`. Call it under the lock of sense.
 */
export function rollup(deps: RollDeps, date?: Day): DailyRecord {
  const today = dayOf(deps.clock.now(), deps.timezone);
  const day = date ?? today;
  if (day > today) throw notBegun(day, 'today', today);
  const isClosed = day < today || deps.store.recordState(day) === 'final';
  if (isClosed && deps.store.logBytes(day) === undefined && !isEmptyDay(deps.store, day)) {
    throw deps.store.hasRecord(day)
      ? new StewardError('not_found', `The raw log of ${day} is discarded; its record stays as it is.`, {
          hint: `Raw logs are kept for ${deps.config.retentionDays} days (sense.retentionDays).`,
        })
      : new StewardError('not_found', `Nothing is stored of ${day}.`, {
          hint: 'See which days are: steward sense recent --days 366',
        });
  }
  deps.store.prepare();
  const { state, damaged, lost } = deps.store.readState();
  const record = rollDay(deps, state, day);
  deps.afterRecords(today);
  // A lost state is begun anew by the next capture, which looks at what is stored already; it rolls this day again.
  if (!damaged && !lost) deps.store.writeState(state);
  return record;
}

/** A past day without a log, since the first day of which something is stored: nothing was captured on it. */
function isEmptyDay(store: SenseStore, day: Day): boolean {
  const [first] = [...store.loggedDays().slice(0, 1), ...store.recordedDays().slice(0, 1)].sort();
  return first !== undefined && day > first && (!store.hasRecord(day) || store.recordState(day) === 'empty');
}

export interface Rerolled {
  rolled: Day[];
  /** Recorded days whose raw log is discarded: their records stay as they are. */
  kept: Day[];
}

/** Builds the records from `since` on again, of every past day that still has its raw log. Call it under the lock of sense. */
export function rollAgain(deps: RollDeps, since: Day): Rerolled {
  const today = dayOf(deps.clock.now(), deps.timezone);
  const { state, damaged, lost } = deps.store.readState();
  const stored = deps.store.recordedDays().filter((day) => day >= since && day <= today);
  const hasLog = (day: Day): boolean => deps.store.logBytes(day) !== undefined;
  const rolled = stored.filter(hasLog);
  for (const day of rolled) rollDay(deps, state, day);
  if (rolled.length > 0) deps.afterRecords(today);
  if (rolled.length > 0 && !damaged && !lost) deps.store.writeState(state);
  return { rolled, kept: stored.filter((day) => !hasLog(day) && deps.store.recordState(day) !== 'empty') };
}

export interface Rolled {
  rolled: Day[];
  pruned: Day[];
  problems: string[];
}

/**
 * Rolls every past day that lacks its final record, or got a late event since; then discards raw logs past
 * their retention, and only those whose record stands (service.md: Sense day cycle). A day that cannot be
 * read is said in `problems` and left for the next time. A run that is killed before the state is written
 * does the same again.
 */
export function rollPastDays(deps: RollDeps, state: SenseState, today: Day): Rolled {
  const result: Rolled = { rolled: [], pruned: [], problems: [] };
  const recorded = new Set(deps.store.recordedDays());
  for (const day of recorded) if (day > today) forgetFuture(deps.store, day, recorded);
  for (const day of pastDays(deps.store.loggedDays(), recorded, deps.config.retentionDays, today)) {
    if (isRolled(deps.store, state, day, recorded)) continue;
    try {
      rollDay(deps, state, day);
      result.rolled.push(day);
    } catch (error) {
      result.problems.push(`${day} could not be rolled: ${toStewardError(error).message}`);
    }
  }
  if (result.rolled.length > 0 || state.untold) {
    state.untold = !tellOfRecords(deps, today, result);
    deps.store.writeState(state);
  }
  if (result.rolled.length > 0) deps.store.sweep(deps.clock.now());
  // By a clock that was just set, days may look old that are not: their logs stay for another day.
  if (recentJumps(state.jumps, deps.clock.now(), 1).length === 0) prune(deps, state, today, result);
  return result;
}

/** A clock that was ahead recorded days as empty that have not come. */
function forgetFuture(store: SenseStore, day: Day, recorded: Set<Day>): void {
  if (store.logBytes(day) !== undefined || store.recordState(day) !== 'empty') return;
  store.removeRecord(day);
  recorded.delete(day);
}

/** What is made from the records may fail; the records, and the capture they came with, stand. */
function tellOfRecords(deps: RollDeps, today: Day, result: Rolled): boolean {
  try {
    deps.afterRecords(today);
    return true;
  } catch (error) {
    const { message } = toStewardError(error);
    result.problems.push(`The goals state was not rebuilt, the next capture tries again: ${message}`);
    return false;
  }
}

/** Logged days, and the empty days between them and today within the retention: a week asleep is seven records. */
function pastDays(
  logged: readonly Day[],
  recorded: ReadonlySet<Day>,
  retentionDays: number,
  today: Day,
): Day[] {
  const days = new Set(logged.filter((day) => day < today));
  const first = [logged[0], [...recorded][0]].filter((day) => day !== undefined).sort()[0];
  const oldest = addDays(today, -retentionDays);
  if (first !== undefined) {
    for (let day = first > oldest ? first : oldest; day < today; day = addDays(day, 1)) days.add(day);
  }
  return [...days].sort();
}

function isRolled(store: SenseStore, state: SenseState, day: Day, recorded: ReadonlySet<Day>): boolean {
  if (!recorded.has(day)) return false;
  const bytes = store.logBytes(day);
  if (bytes === undefined) return true;
  const before = state.rolled[day];
  return before !== undefined && before.final && before.bytes === bytes;
}

function prune(deps: RollDeps, state: SenseState, today: Day, result: Rolled): void {
  const oldest = addDays(today, -deps.config.retentionDays);
  for (const day of deps.store.loggedDays()) {
    if (day >= oldest) break;
    const rolled = state.rolled[day];
    if (rolled?.final !== true || rolled.bytes !== deps.store.logBytes(day) || !deps.store.hasRecord(day))
      continue;
    deps.store.removeLog(day);
    deps.store.removeQuarantine(day);
    result.pruned.push(day);
  }
  if (forgetDiscarded(deps.store, state, oldest)) deps.store.writeState(state);
}

/** What the state says of days whose raw log is discarded, by this run or by one that was stopped. */
function forgetDiscarded(store: SenseStore, state: SenseState, oldest: Day): boolean {
  let forgot = false;
  for (const days of [state.rolled, state.zones]) {
    for (const day of Object.keys(days)) {
      if (day >= oldest || store.logBytes(day) !== undefined) continue;
      delete days[day];
      forgot = true;
    }
  }
  return forgot;
}
