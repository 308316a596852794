import type { SenseConfig } from '../config/schema';
import { StewardError } from '../errors';
import { refreshCached, type Cached } from '../platform/files/file-cache';
import { futureDayError } from '../platform/time/day-words';
import { toIso } from '../platform/time/clock';
import { addDays, type Day } from '../platform/time/time';
import { SENSE_VERSION, SOURCE_IDS, type SenseEvent, type SourceId } from './event';
import { recordTally, type DailyRecord, type SessionRepos } from './record';
import { nothingStored, readDay, todayOf, type RollDeps } from './roll';
import type { SenseSource, SenseStatus, SourceStatus } from './source';
import { recentJumps, type SenseState } from './state';
import type { OnDamaged } from './store';
import type { NotSeen } from './view';

export interface Today {
  record: DailyRecord;
  /** What could not be seen: shown beside the record, never stored in it. */
  notSeen: NotSeen;
  sessionRepos: SessionRepos;
}

export interface ReadDeps extends RollDeps {
  config: RollDeps['config'] & Pick<SenseConfig, 'enabled' | 'sources' | 'repos'>;
  /** What the sources say of themselves: their ids, labels and descriptions. */
  sources: readonly Pick<SenseSource, 'id' | 'label' | 'description'>[];
}

/** A day's record, from its raw log or, where that is discarded, as it is stored; nothing is written. */
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

/** Today's record from the events so far; nothing is stored. */
export function today(deps: ReadDeps): Today {
  const { state } = deps.store.readState();
  const day = todayOf(deps);
  const { record, sessionRepos } = readDay(deps, state, day);
  const blind = sourceRows(deps, state, []).filter((row) => row.state !== 'ok' && row.state !== 'idle');
  return {
    record,
    sessionRepos,
    notSeen: {
      idleMinutes: state.away?.day === day ? state.away.seconds / 60 : 0,
      sources: blind.map(({ label, state: why, reason }) => ({ label, reason: reason ?? why })),
    },
  };
}

const MAX_RECENT_DAYS = 366;

/** The last stored records, newest first; `days` from 1 to 366, anything else is `usage`. A damaged one is left out. */
export function recent(
  { store }: Pick<ReadDeps, 'store'>,
  days: number,
  onDamaged: OnDamaged = () => undefined,
): DailyRecord[] {
  if (!Number.isInteger(days) || days < 1 || days > MAX_RECENT_DAYS) {
    throw new StewardError('usage', `days must be a whole number from 1 to ${MAX_RECENT_DAYS}.`, {
      hint: 'Such as 30.',
    });
  }
  const stored = store.recordedDays().slice(-days).reverse();
  return stored.flatMap((day) => store.readRecord(day, onDamaged) ?? []);
}

/**
 * The last `days` days with today, newest first, one record each. A day of which nothing is stored has an empty record
 * that says so (`backfilled`); nothing is written.
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

export interface DayRange {
  from?: Day;
  /** The last day, inclusive. */
  to?: Day;
}

/** Stored records, oldest first; a damaged one is left out. */
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

/** Events whose raw log is still kept, day by day. */
export function* eventsBetween({ store }: Pick<ReadDeps, 'store'>, range: DayRange): Generator<SenseEvent> {
  for (const day of daysBetween(store.loggedDays(), range)) yield* store.readLog(day).events;
}

function daysBetween(days: readonly Day[], { from = '', to = '9999-12-31' }: DayRange): Day[] {
  if (from > to) {
    throw new StewardError('usage', `${from} is after ${to}.`, { hint: 'Give the earlier day as --from.' });
  }
  return days.filter((day) => day >= from && day <= to);
}

/** One row a source, from configuration and events alone. */
export function sources(deps: ReadDeps): SourceStatus[] {
  return sourceRows(deps, deps.store.readState().state, deps.store.readLog(todayOf(deps)).events);
}

/** @param scheduler what runs the captures */
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
    if (about === undefined) throw new StewardError('internal', `No source ${id} is wired.`);
    const seen = events.filter((event) => event.source === id);
    const newest = seen.reduce(
      (last, { ts }) => (Date.parse(ts) > Date.parse(last) ? ts : last),
      seen[0]?.ts ?? '',
    );
    return {
      id,
      label: about.label,
      description: about.description,
      enabled: deps.config.enabled && deps.config.sources[id],
      ...stateOf(deps, state, id),
      pollIntervalSec: deps.config.pollIntervalSec,
      eventsToday: seen.length,
      lastEventTs: newest || (state.sources[id]?.lastEventTs ?? null),
    };
  });
}

function stateOf(
  { config }: ReadDeps,
  state: SenseState,
  id: SourceId,
): Pick<SourceStatus, 'state' | 'reason'> {
  if (!config.enabled) return { state: 'off', reason: 'switched off by sense.enabled' };
  if (!config.sources[id]) return { state: 'off', reason: `switched off by sense.sources.${id}` };
  const memory = state.sources[id];
  if (memory === undefined) return { state: 'idle', reason: 'not captured yet' };
  return { state: memory.state, ...(memory.reason === undefined ? {} : { reason: memory.reason }) };
}

/** The reads of the day, for a process that answers them over and over. */
export interface LiveReads {
  today: (deps: ReadDeps) => DailyRecord;
  sources: (deps: ReadDeps) => readonly SourceStatus[];
  status: (deps: ReadDeps) => SenseStatus;
}

/**
 * The same as `today`, `sources` and `status`, made again only when something that they depend on has changed: the
 * configuration (`deps` is then another object), the date, today's log, the state, the stored days.
 *
 * @param scheduler what runs the captures, for `status`
 */
export function liveReads(scheduler: SenseStatus['scheduler']): LiveReads {
  return {
    today: keeping((deps) => today(deps).record),
    sources: keeping(sources),
    status: keeping((deps) => status(deps, scheduler)),
  };
}

function keeping<T>(make: (deps: ReadDeps) => T): (deps: ReadDeps) => T {
  let last: { deps: ReadDeps; day: Day; kept: Cached<T> } | undefined;
  return (deps) => {
    const day = todayOf(deps);
    const paths = [deps.store.logOf(day), deps.store.statePath, deps.store.dailyPath];
    const before = last?.deps === deps && last.day === day ? last.kept : undefined;
    last = { deps, day, kept: refreshCached(deps.clock, before, paths, () => make(deps)) };
    return last.kept.value;
  };
}
