import type { SenseConfig } from '../config/schema';
import { StewardError } from '../errors';
import { refreshCached, type Cached } from '../platform/files/file-cache';
import { futureDayError } from '../platform/time/day-words';
import { toIso } from '../platform/time/clock';
import { addDays, dayBounds, type Day } from '../platform/time/time';
import { dayTimeline, type DayTimeline } from './day-timeline';
import { SENSE_VERSION, SOURCE_IDS, type SenseEvent, type SourceId } from './event';
import type { Piece } from './ledger/attention';
import { ledgerTally } from './ledger/ledger';
import type { DayLedger } from './ledger/model';
import { withoutLedger } from './ledger/rows';
import { recordTally, type DailyRecord, type SessionRepos } from './record';
import { nothingStored, readDay, todayOf, type RollDeps } from './roll';
import type { SenseSource, SenseStatus, SourceStatus } from './source';
import { recentJumps, type SenseState } from './state';
import type { OnDamaged } from './store';
import type { NotSeen } from './view';

export interface Today {
  record: DailyRecord;
  /** What was not captured. Shown next to the record but never stored in it. */
  notSeen: NotSeen;
  sessionRepos: SessionRepos;
}

export interface ReadDeps extends RollDeps {
  config: RollDeps['config'] & Pick<SenseConfig, 'enabled' | 'sources' | 'repos'>;
  sources: readonly Pick<SenseSource, 'id' | 'label' | 'description'>[];
}

/** Returns a day's record from its event log, or the stored record if the log was deleted. Writes nothing. */
export function dayView(deps: ReadDeps, day: Day): Today {
  const now = todayOf(deps);
  if (day === now) return today(deps);
  const notSeen = { idleMinutes: 0, sources: [] };
  if (deps.store.logBytes(day) !== undefined)
    return { ...readDay(deps, deps.store.readState().state, day), notSeen };
  const record = deps.store.readRecord(day);
  if (record !== undefined) return { record, sessionRepos: [], notSeen };
  throw day > now ? futureDayError(day, 'today', now) : nothingStored(day);
}

/** Returns today's record from the events so far. Writes nothing. */
export function today(deps: ReadDeps): Today {
  const { state } = deps.store.readState();
  const day = todayOf(deps);
  const { record, sessionRepos } = readDay(deps, state, day);
  const failed = sourceRows(deps, state, []).filter((row) => row.state !== 'ok' && row.state !== 'idle');
  return {
    record,
    sessionRepos,
    notSeen: {
      idleMinutes: state.away?.day === day ? state.away.seconds / 60 : 0,
      sources: failed.map(({ label, state: status, reason }) => ({ label, reason: reason ?? status })),
    },
  };
}

export interface DayDetail extends Pick<Today, 'record' | 'notSeen'> {
  startMs: number;
  endMs: number;
  /** Whether the event log still exists. Without a log, the timeline is empty. */
  raw: boolean;
  timeline: DayTimeline;
}

/** Returns a day's record with its timeline. Writes nothing. */
export function dayDetail(deps: ReadDeps, day: Day): DayDetail {
  const { record, notSeen } = dayView(deps, day);
  const bounds = dayBounds(day, record.timezone);
  const options = { ...bounds, pollIntervalSec: deps.config.pollIntervalSec, classify: deps.classify };
  return {
    ...{ record, notSeen, ...bounds },
    raw: day === todayOf(deps) || deps.store.logBytes(day) !== undefined,
    timeline: dayTimeline(deps.store.readLog(day).events, options),
  };
}

const MAX_RECENT_DAYS = 366;

/**
 * Returns the last stored records, newest first, omitting damaged ones. Throws `usage` unless `days` is
 * between 1 and 366.
 */
export function recent(
  { store }: Pick<ReadDeps, 'store'>,
  days: number,
  onDamaged: OnDamaged = () => undefined,
): DailyRecord[] {
  if (!Number.isInteger(days) || days < 1 || days > MAX_RECENT_DAYS) {
    throw new StewardError('usage', `Invalid number of days: ${days}.`, {
      hint: `Use a whole number from 1 to ${MAX_RECENT_DAYS}.`,
    });
  }
  const stored = store.recordedDays().slice(-days).reverse();
  return stored.flatMap((day) => store.readRecord(day, onDamaged) ?? []);
}

/**
 * Returns a record for each of the last `days` days, starting with today. Days without stored data get an
 * empty record, marked as `backfilled`. Writes nothing.
 */
export function lastDays(deps: ReadDeps, days: number): DailyRecord[] {
  const now = todayOf(deps);
  const options = { timezone: deps.timezone, pollIntervalSec: deps.config.pollIntervalSec };
  const label = { version: SENSE_VERSION, generatedAt: toIso(deps.clock.now()), final: true };
  return Array.from({ length: days }, (_, i) => {
    const day = addDays(now, -i);
    if (i === 0) return readDay(deps, deps.store.readState().state, day).record;
    const empty = recordTally(day, { ...options, classify: deps.classify }).result(label);
    return deps.store.readRecord(day, () => undefined) ?? { ...empty, backfilled: true };
  });
}

export interface Ledgers {
  ledgers: DayLedger[];
  /** Number of days without recorded time: backfilled, or without a record. */
  notRecorded: number;
  /** Number of your commits. */
  commits: number;
  /** The damaged records of days without a log. */
  damaged: StewardError[];
}

/**
 * Returns the days' ledgers. Damaged records and those from earlier versions are recomputed from their logs;
 * without a log, all time in a record from an earlier version is unknown.
 */
export function ledgersOf(deps: ReadDeps, days: readonly Day[]): Ledgers {
  const { store } = deps;
  const [logged, recorded] = [new Set(store.loggedDays()), new Set(store.recordedDays())];
  const { state } = store.readState();
  const damaged: StewardError[] = [];
  const onDamaged = ({ kind, message }: StewardError): void => {
    const hint = 'Its event log was deleted, so restore the file from a backup or delete it.';
    damaged.push(new StewardError(kind, message, { hint }));
  };
  const records = days.flatMap((day) => {
    const ignore = logged.has(day) ? () => undefined : onDamaged;
    const record = recorded.has(day) ? store.readRecord(day, ignore) : undefined;
    const isCurrent = record?.final === true && record.ledger !== undefined;
    return logged.has(day) && !isCurrent ? readDay(deps, state, day).record : (record ?? []);
  });
  const backfilled = records.filter((record) => record.backfilled === true);
  return {
    ledgers: records.map((record) => record.ledger ?? withoutLedger(record)),
    notRecorded: backfilled.length + days.length - records.length - damaged.length,
    commits: records.reduce((sum, { commits }) => sum + commits.count, 0),
    damaged,
  };
}

/** Returns your time on a day, in pieces; empty if the day's event log was deleted. */
export function dayPieces({ store, config, timezone }: ReadDeps, day: Day): Piece[] {
  if (store.logBytes(day) === undefined) return [];
  const zone = store.readState().state.zones[day] ?? timezone;
  const tally = ledgerTally({ pollIntervalSec: config.pollIntervalSec, ...dayBounds(day, zone) });
  store.scanLog(day, (event, ms) => tally.add(ms, event));
  return tally.pieces();
}

export interface DayRange {
  from?: Day;
  /** The last day, inclusive. */
  to?: Day;
}

/** Yields stored records, oldest first, omitting damaged ones. */
export function* recordsBetween(
  { store }: Pick<ReadDeps, 'store'>,
  range: DayRange,
  onDamaged: OnDamaged,
): Generator<DailyRecord> {
  for (const day of daysBetween(store.recordedDays(), range)) {
    const record = store.readRecord(day, onDamaged);
    if (record !== undefined) yield record;
  }
}

/** Yields the events of all days that still have an event log. */
export function* eventsBetween({ store }: Pick<ReadDeps, 'store'>, range: DayRange): Generator<SenseEvent> {
  for (const day of daysBetween(store.loggedDays(), range)) yield* store.readLog(day).events;
}

function daysBetween(days: readonly Day[], { from = '', to = '9999-12-31' }: DayRange): Day[] {
  if (from > to) {
    throw new StewardError('usage', `${from} is after ${to}.`, { hint: 'Pass the earlier day as --from.' });
  }
  return days.filter((day) => day >= from && day <= to);
}

/** Returns one row per source. */
export function sources(deps: ReadDeps): SourceStatus[] {
  return sourceRows(deps, deps.store.readState().state, deps.store.readLog(todayOf(deps)).events);
}

export function status(deps: ReadDeps, scheduler: SenseStatus['scheduler']): SenseStatus {
  const { config, store } = deps;
  const { state } = store.readState();
  const day = todayOf(deps);
  const log = store.readLog(day);
  const bad = Object.entries(state.rolled).map(([rolled, { quarantined }]) =>
    rolled === day ? 0 : quarantined,
  );
  return {
    enabled: config.enabled,
    version: SENSE_VERSION,
    pollIntervalSec: config.pollIntervalSec,
    repos: config.repos,
    retentionDays: config.retentionDays,
    eventsToday: log.events.length,
    lastCaptureTs: state.lastCaptureTs,
    lastRecord: store.recordedDays().at(-1) ?? null,
    quarantined: bad.reduce((sum, count) => sum + count, log.badCount),
    clockJumps: recentJumps(state.jumps, deps.clock.now()),
    sources: sourceRows(deps, state, log.events),
    scheduler,
  };
}

function sourceRows(deps: ReadDeps, state: SenseState, events: readonly SenseEvent[]): SourceStatus[] {
  return SOURCE_IDS.map((id) => {
    const about = deps.sources.find((source) => source.id === id);
    if (about === undefined) throw new StewardError('internal', `The source ${id} is not registered.`);
    const own = events.filter((event) => event.source === id);
    const newest = own.reduce(
      (last, { ts }) => (Date.parse(ts) > Date.parse(last) ? ts : last),
      own[0]?.ts ?? '',
    );
    return {
      id,
      label: about.label,
      description: about.description,
      enabled: deps.config.enabled && deps.config.sources[id],
      ...stateOf(deps, state, id),
      pollIntervalSec: deps.config.pollIntervalSec,
      eventsToday: own.length,
      lastEventTs: newest || (state.sources[id]?.lastEventTs ?? null),
    };
  });
}

function stateOf(
  { config }: ReadDeps,
  state: SenseState,
  id: SourceId,
): Pick<SourceStatus, 'state' | 'reason'> {
  if (!config.enabled) return { state: 'off', reason: 'turned off by sense.enabled' };
  if (!config.sources[id]) return { state: 'off', reason: `turned off by sense.sources.${id}` };
  const memory = state.sources[id];
  if (memory === undefined) return { state: 'idle', reason: 'not captured yet' };
  return { state: memory.state, ...(memory.reason === undefined ? {} : { reason: memory.reason }) };
}

/** Cached reads for a long-running process. Each returns the same object until something changes. */
export interface LiveReads {
  today: (deps: ReadDeps) => DailyRecord;
  sources: (deps: ReadDeps) => readonly SourceStatus[];
  status: (deps: ReadDeps) => SenseStatus;
  day: (deps: ReadDeps, day: Day) => DayDetail;
}

/**
 * Returns reads that are cached until the configuration (`deps`), the date or a file changes. `day` caches
 * only the last day read.
 */
export function liveReads(scheduler: SenseStatus['scheduler']): LiveReads {
  return {
    today: cached((deps) => today(deps).record),
    sources: cached(sources),
    status: cached((deps) => status(deps, scheduler)),
    day: cached(dayDetail),
  };
}

function cached<T>(read: (deps: ReadDeps, day: Day) => T): (deps: ReadDeps, day?: Day) => T {
  let last: { deps: ReadDeps; today: Day; day: Day; entry: Cached<T> } | undefined;
  return (deps, wanted) => {
    const today = todayOf(deps);
    const day = wanted ?? today;
    const paths = [deps.store.logOf(day), deps.store.statePath, deps.store.dailyPath];
    const isSame = last?.deps === deps && last.today === today && last.day === day;
    const before = isSame ? last?.entry : undefined;
    last = { deps, today, day, entry: refreshCached(deps.clock, before, paths, () => read(deps, day)) };
    return last.entry.value;
  };
}
