import type { SenseConfig } from '../config/schema';
import { StewardError, toStewardError } from '../errors';
import { toIso, type Clock } from '../platform/time/clock';
import { futureDayError } from '../platform/time/day-words';
import { addDays, dayOf, type Day } from '../platform/time/time';
import type { Classifier } from './classify';
import { isEmptyRecord, recordTally, type DailyRecord, type SessionRepos } from './record';
import { recentJumps, type SenseState } from './state';
import type { LogScan, SenseStore } from './store';
import { SENSE_VERSION } from './event';
import { recordMarkdown } from './view-markdown';

export interface RollDeps {
  clock: Clock;
  store: SenseStore;
  config: Pick<SenseConfig, 'pollIntervalSec' | 'retentionDays'>;
  timezone: string;
  classify: Classifier;
  /** Called once after records were written; the goals state is rebuilt there. */
  afterRecords: (today: Day) => void;
}

/** Today's date in the configured zone. */
export function todayOf({ clock, timezone }: Pick<RollDeps, 'clock' | 'timezone'>): Day {
  return dayOf(clock.now(), timezone);
}

/** A day from its raw log. */
export interface DayRead {
  record: DailyRecord;
  sessionRepos: SessionRepos;
  scan: LogScan;
}

/** Reads a day; nothing is stored. */
export function readDay(deps: RollDeps, state: SenseState, day: Day): DayRead {
  const tally = recordTally(day, {
    timezone: state.zones[day] ?? deps.timezone,
    pollIntervalSec: deps.config.pollIntervalSec,
    classify: deps.classify,
  });
  const scan = deps.store.scanLog(day, tally.add);
  const generatedAt = toIso(deps.clock.now());
  const record = tally.result({ version: SENSE_VERSION, generatedAt, final: day < todayOf(deps) });
  return { record, sessionRepos: tally.sessionRepos(), scan };
}

/** Builds and stores one day's record, and sets its bad lines aside. The state is changed, not written. */
function rollDay(
  deps: RollDeps,
  state: SenseState,
  day: Day,
  change: (record: DailyRecord) => DailyRecord = (built) => built,
): DailyRecord {
  const { record: built, scan } = readDay(deps, state, day);
  const record = change(built);
  deps.store.writeQuarantine(day, scan.bad);
  deps.store.writeRecord(record, recordMarkdown(record));
  // A day without a log has nothing that could grow.
  if (deps.store.logBytes(day) === undefined) delete state.rolled[day];
  else state.rolled[day] = { bytes: scan.bytes, final: record.final, quarantined: scan.badCount };
  return record;
}

/**
 * Builds the records of past days again after commits and sessions were added. What a final record says of application
 * time stays, though the poll interval or the kinds of applications have changed since. Writes the state.
 */
export function rollKeepingTime(deps: RollDeps, state: SenseState, days: readonly Day[]): void {
  for (const day of days) {
    const before = deps.store.readRecord(day);
    rollDay(deps, state, day, (built) => {
      if (before?.final !== true || isEmptyRecord(before)) return built;
      const { totalMinutes, creationMinutes, consumptionMinutes, neutralMinutes, apps, hours } = before;
      return { ...built, totalMinutes, creationMinutes, consumptionMinutes, neutralMinutes, apps, hours };
    });
  }
  if (days.length > 0) deps.afterRecords(todayOf(deps));
  deps.store.writeState(state);
}

/** Changes the state and stores it. A lost one is begun anew by the next capture, which rolls the days again. */
function withState<T>(store: SenseStore, change: (state: SenseState) => T): T {
  const { state, damaged, lost } = store.readState();
  const result = change(state);
  if (!damaged && !lost) store.writeState(state);
  return result;
}

/**
 * `rollup [date]`: builds and stores a day's record now. A day to come is `usage`; a day before the first of which
 * something is stored is `not_found`. Call it under the lock of sense.
 */
export function rollup(deps: RollDeps, date?: Day): DailyRecord {
  const { store } = deps;
  const today = todayOf(deps);
  const day = date ?? today;
  if (day > today) throw futureDayError(day, 'today', today);
  const isClosed = day < today || store.recordState(day) === 'final';
  if (isClosed && store.logBytes(day) === undefined && !isEmptyDay(store, day)) {
    throw store.hasRecord(day)
      ? new StewardError('not_found', `The raw log of ${day} is discarded; its record stays as it is.`, {
          hint: `Raw logs are kept for ${deps.config.retentionDays} days (sense.retentionDays).`,
        })
      : nothingStored(day);
  }
  store.prepare();
  return withState(store, (state) => {
    const record = rollDay(deps, state, day);
    deps.afterRecords(today);
    return record;
  });
}

export function nothingStored(day: Day): StewardError {
  return new StewardError('not_found', `Nothing is stored of ${day}.`, {
    hint: 'See which days are: steward sense recent --days 366',
  });
}

/** A past day without a log, since the first day of which something is stored: nothing was captured on it. */
function isEmptyDay(store: SenseStore, day: Day): boolean {
  const first = firstDay(store.loggedDays(), store.recordedDays());
  return first !== undefined && day > first && (!store.hasRecord(day) || store.recordState(day) === 'empty');
}

function firstDay(...lists: (readonly Day[])[]): Day | undefined {
  return lists.flatMap((days) => days.slice(0, 1)).sort()[0];
}

export interface Rerolled {
  rolled: Day[];
  /** Recorded days whose raw log is discarded: their records stay as they are. */
  kept: Day[];
}

/** Builds the records from `since` on again, of every day that still has its raw log. Call it under the lock of sense. */
export function rollAgain(deps: RollDeps, since: Day): Rerolled {
  const { store } = deps;
  const today = todayOf(deps);
  const stored = store.recordedDays().filter((day) => day >= since && day <= today);
  const hasLog = (day: Day): boolean => store.logBytes(day) !== undefined;
  const rolled = stored.filter(hasLog);
  if (rolled.length > 0) {
    withState(store, (state) => {
      for (const day of rolled) rollDay(deps, state, day);
      deps.afterRecords(today);
    });
  }
  return { rolled, kept: stored.filter((day) => !hasLog(day) && store.recordState(day) !== 'empty') };
}

export interface Rolled {
  rolled: Day[];
  pruned: Day[];
  problems: string[];
}

/**
 * Rolls every past day that lacks its final record, or got a late event since; then discards raw logs past their
 * retention whose record stands. A day that cannot be read is left for the next time; a killed run does the same again.
 */
export function rollPastDays(deps: RollDeps, state: SenseState, today: Day): Rolled {
  const { store } = deps;
  const result: Rolled = { rolled: [], pruned: [], problems: [] };
  for (const day of pastDays(deps, today)) {
    if (isRolled(store, state, day)) continue;
    try {
      rollDay(deps, state, day);
      result.rolled.push(day);
    } catch (error) {
      result.problems.push(`${day} could not be rolled: ${toStewardError(error).message}`);
    }
  }
  if (result.rolled.length > 0 || state.untold) {
    state.untold = !tellOfRecords(deps, today, result);
    store.writeState(state);
  }
  if (result.rolled.length > 0) store.sweep(deps.clock.now());
  // By a clock that was just set, days may look old that are not: their logs stay for another day.
  if (recentJumps(state.jumps, deps.clock.now(), 1).length === 0) prune(deps, state, today, result);
  return result;
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
function pastDays({ store, config }: RollDeps, today: Day): Day[] {
  const logged = store.loggedDays();
  // A clock that was ahead recorded days as empty that have not come.
  const isFuture = (day: Day): boolean =>
    day > today && store.logBytes(day) === undefined && store.recordState(day) === 'empty';
  for (const day of store.recordedDays().filter(isFuture)) store.removeRecord(day);
  const days = new Set(logged.filter((day) => day < today));
  const first = firstDay(logged, store.recordedDays());
  const oldest = addDays(today, -config.retentionDays);
  if (first !== undefined) {
    for (let day = first > oldest ? first : oldest; day < today; day = addDays(day, 1)) days.add(day);
  }
  return [...days].sort();
}

function isRolled(store: SenseStore, state: SenseState, day: Day): boolean {
  if (!store.hasRecord(day)) return false;
  const bytes = store.logBytes(day);
  const before = state.rolled[day];
  return bytes === undefined || (before?.final === true && before.bytes === bytes);
}

function prune({ store, config }: RollDeps, state: SenseState, today: Day, result: Rolled): void {
  const oldest = addDays(today, -config.retentionDays);
  for (const day of store.loggedDays().filter((logged) => logged < oldest)) {
    if (!isRolled(store, state, day)) continue;
    store.removeLog(day);
    store.removeQuarantine(day);
    result.pruned.push(day);
  }
  // What the state says of days whose raw log is discarded, by this run or by one that was stopped.
  const isGone = (day: Day): boolean => day < oldest && store.logBytes(day) === undefined;
  if (forgetDays(state, isGone)) store.writeState(state);
}

/** Removes what the state says of these days; false when it says nothing. */
export function forgetDays(state: SenseState, which: (day: Day) => boolean): boolean {
  const gone = [state.rolled, state.zones].flatMap((days) =>
    Object.keys(days)
      .filter(which)
      .map((day) => ({ days, day })),
  );
  for (const { days, day } of gone) delete days[day];
  return gone.length > 0;
}
