import type { SenseConfig } from '../config/schema';
import { StewardError, toStewardError } from '../errors';
import { toIso, type Clock } from '../platform/time/clock';
import { futureDayError } from '../platform/time/day-words';
import { addDays, dayOf, type Day } from '../platform/time/time';
import type { Classifier } from '../time/classify';
import { SENSE_VERSION } from '../time/event';
import type { DayLedger } from '../time/ledger/model';
import { isEmptyRecord, recordTally, type DailyRecord } from '../time/record';
import { recentJumps, type SenseState } from './state';
import type { OnDamaged, SenseStore } from './store';
import { recordMarkdown } from './view-markdown';

export interface RollDeps {
  clock: Clock;
  store: SenseStore;
  config: Pick<SenseConfig, 'pollIntervalSec' | 'retentionDays'>;
  timezone: string;
  classify: Classifier;
  /** Returns a ledger's time per goal. Without this function, records contain no goals. */
  goalTags?: ((ledger: DayLedger) => DailyRecord['goalTags']) | undefined;
  /** Whether a ledger built from a log contains the agents' time, which takes longest. Default: true. */
  hasAgents?: boolean;
  /** Rebuilds the data that depends on records. Called once after all records are written. */
  afterRecords: (today: Day) => void;
}

/** Returns today's date in the configured time zone. */
export function todayOf({ clock, timezone }: Pick<RollDeps, 'clock' | 'timezone'>): Day {
  return dayOf(clock.now(), timezone);
}

/** Builds a day's record from its event log, without storing the record. */
export function readDay(deps: RollDeps, state: SenseState, day: Day) {
  const tally = recordTally(day, {
    timezone: state.zones[day] ?? deps.timezone,
    pollIntervalSec: deps.config.pollIntervalSec,
    classify: deps.classify,
  });
  const scan = deps.store.scanLog(day, tally.add);
  const final = day < todayOf(deps);
  const isUncaptured = final && state.zones[day] === undefined;
  const label = { version: SENSE_VERSION, generatedAt: toIso(deps.clock.now()), final, isUncaptured };
  const record = tally.result(label, deps.hasAgents);
  record.goalTags = deps.goalTags?.(record.ledger) ?? {};
  return { record, sessionRepos: tally.sessionRepos(), scan };
}

/**
 * Returns a function that reads a day's record: the stored one if it is final, otherwise one
 * built from the log. Reports a damaged record only if its log was deleted, or has no events that can be read.
 */
export function recordReader(deps: RollDeps): (day: Day, onDamaged?: OnDamaged) => DailyRecord | undefined {
  const { store } = deps;
  let state: SenseState | undefined;
  return (day, onDamaged) => {
    const hasLog = store.logBytes(day) !== undefined;
    const stored = store.readRecord(day, hasLog ? () => undefined : onDamaged);
    // After a journey west, today can have a final record from the time zone before.
    const isPast = day < todayOf(deps);
    if ((isPast && stored?.final === true) || !hasLog) return stored;
    state ??= store.readState().state;
    const { record } = readDay(deps, state, day);
    const isLost = isPast && isEmptyRecord(record) && store.recordState(day) === 'damaged';
    return isLost ? store.readRecord(day, onDamaged) : record;
  };
}

/**
 * Builds and stores a day's record, and quarantines invalid lines. Updates `state` without writing it. The log of a
 * past day that has no valid line replaces no record.
 */
function rollDay(
  deps: RollDeps,
  state: SenseState,
  day: Day,
  change: (record: DailyRecord) => DailyRecord = (built) => built,
): void {
  const { record: built, scan } = readDay(deps, state, day);
  const record = change(built);
  deps.store.writeQuarantine(day, scan.bad);
  const isLost = record.final && scan.badCount > 0 && isEmptyRecord(built) && deps.store.hasRecord(day);
  if (!isLost) deps.store.writeRecord(record, recordMarkdown(record));
  if (deps.store.logBytes(day) === undefined) delete state.rolled[day];
  else state.rolled[day] = { bytes: scan.bytes, final: record.final, quarantined: scan.badCount };
}

/**
 * Rebuilds records after a backfill and stores the state. Preserves the application time in records of
 * completed days.
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

/** Builds and stores the days' records, and updates the stored state unless it is damaged or lost. */
function rollDays(deps: RollDeps, days: readonly Day[]): void {
  const { state, damaged, lost } = deps.store.readState();
  for (const day of days) rollDay(deps, state, day);
  deps.afterRecords(todayOf(deps));
  if (!damaged && !lost) deps.store.writeState(state);
}

/**
 * Builds and stores a day's record (default: today). Throws `usage` or `not_found`. The caller must hold the
 * sense lock.
 */
export function rollup(deps: RollDeps, date?: Day): DailyRecord {
  const { store } = deps;
  const today = todayOf(deps);
  const day = date ?? today;
  if (day > today) throw futureDayError(day, today);
  const isClosed = day < today || store.recordState(day) === 'final';
  if (isClosed && store.logBytes(day) === undefined && !isEmptyDay(store, day)) {
    throw store.hasRecord(day)
      ? new StewardError(
          'not_found',
          `The event log for ${day} was deleted; the day's record is unchanged.`,
          {
            hint: `Event logs are deleted after ${deps.config.retentionDays} days (sense.retentionDays).`,
          },
        )
      : nothingStored(day);
  }
  store.prepare();
  rollDays(deps, [day]);
  const record = store.readRecord(day);
  if (record === undefined) throw nothingStored(day);
  return record;
}

export function nothingStored(day: Day): StewardError {
  return new StewardError('not_found', `Nothing is stored for ${day}.`, {
    hint: 'List the recorded days: steward sense recent --of year',
  });
}

function isEmptyDay(store: SenseStore, day: Day): boolean {
  const first = firstDay(store);
  return first !== undefined && day > first && (!store.hasRecord(day) || store.recordState(day) === 'empty');
}

function firstDay(store: SenseStore): Day | undefined {
  return [...store.loggedDays().slice(0, 1), ...store.recordedDays().slice(0, 1)].sort()[0];
}

/** `kept`: days whose records weren't rebuilt, because their event logs were deleted. */
export type Rerolled = ReturnType<typeof rollAgain>;

/**
 * Rebuilds the records from `since` on, if their event logs still exist. The caller must hold the sense lock.
 */
export function rollAgain(deps: RollDeps, since: Day) {
  const { store } = deps;
  const today = todayOf(deps);
  const stored = store.recordedDays().filter((day) => day >= since && day <= today);
  const hasLog = (day: Day): boolean => store.logBytes(day) !== undefined;
  const rolled = stored.filter(hasLog);
  if (rolled.length > 0) rollDays(deps, rolled);
  return { rolled, kept: stored.filter((day) => !hasLog(day) && store.recordState(day) !== 'empty') };
}

export interface RollResult {
  rolled: Day[];
  pruned: Day[];
  problems: string[];
}

/**
 * Builds missing and outdated records of past days, then deletes old event logs. The next capture retries
 * failures.
 */
export function rollPastDays(deps: RollDeps, state: SenseState, today: Day): RollResult {
  const { store } = deps;
  const result: RollResult = { rolled: [], pruned: [], problems: [] };
  for (const day of pastDays(deps, today)) {
    if (isRolled(store, state, day)) continue;
    try {
      rollDay(deps, state, day);
      result.rolled.push(day);
    } catch (error) {
      result.problems.push(`The record for ${day} could not be built: ${toStewardError(error).message}`);
    }
  }
  if (result.rolled.length > 0 || state.untold) {
    state.untold = !tryAfterRecords(deps, today, result.problems);
    store.writeState(state);
  }
  if (result.rolled.length > 0) store.sweep(deps.clock.now());
  // Don't delete any logs for a day after a clock change, because recent days may look old.
  if (recentJumps(state.jumps, deps.clock.now(), 1).length === 0) prune(deps, state, today, result);
  return result;
}

function tryAfterRecords(deps: RollDeps, today: Day, problems: string[]): boolean {
  try {
    deps.afterRecords(today);
    return true;
  } catch (error) {
    const { message } = toStewardError(error);
    problems.push(`Could not rebuild the goals state; retrying at the next capture: ${message}`);
    return false;
  }
}

/** Returns all past days that are within the retention period or have a log. */
function pastDays({ store, config }: RollDeps, today: Day): Day[] {
  const logged = store.loggedDays();
  // Remove empty records for future days. They were created while the clock was ahead.
  const isFuture = (day: Day): boolean =>
    day > today && store.logBytes(day) === undefined && store.recordState(day) === 'empty';
  for (const day of store.recordedDays().filter(isFuture)) store.removeRecord(day);
  const days = new Set(logged.filter((day) => day < today));
  const first = firstDay(store);
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

function prune({ store, config }: RollDeps, state: SenseState, today: Day, result: RollResult): void {
  const oldest = addDays(today, -config.retentionDays);
  for (const day of store.loggedDays().filter((logged) => logged < oldest)) {
    if (!isRolled(store, state, day)) continue;
    store.removeLog(day);
    store.removeQuarantine(day);
    result.pruned.push(day);
  }
  const isGone = (day: Day): boolean => day < oldest && store.logBytes(day) === undefined;
  if (forgetDays(state, isGone)) store.writeState(state);
}

/** Removes the selected days from the state. Returns false if nothing changed. */
export function forgetDays(state: SenseState, isForgotten: (day: Day) => boolean): boolean {
  const gone = [state.rolled, state.zones].flatMap((days) =>
    Object.keys(days)
      .filter(isForgotten)
      .map((day) => ({ days, day })),
  );
  for (const { days, day } of gone) delete days[day];
  return gone.length > 0;
}
