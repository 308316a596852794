import { StewardError } from '../errors';
import { notBegun } from '../platform/time/day-words';
import { dayOf, type Day } from '../platform/time/time';
import type { SenseConfig } from '../config/schema';
import { recentJumps } from './clock-jump';
import { SOURCE_IDS, type SenseEvent, type SourceId } from './event';
import type { DailyRecord } from './record';
import type { SessionRepos } from './record-tally';
import { readDay, type RollDeps } from './roll';
import type { SenseSource } from './source';
import type { SenseState } from './state';
import type { OnDamaged } from './store';
import type { SenseStatus, SourceStatus } from './status-types';
import { SENSE_VERSION } from './version';
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
  const now = dayOf(deps.clock.now(), deps.timezone);
  if (day === now) return today(deps);
  const notSeen = { idleMinutes: 0, sources: [] };
  const { state } = deps.store.readState();
  if (deps.store.logBytes(day) !== undefined) return { ...readDay(deps, state, day), notSeen };
  const record = deps.store.readRecord(day);
  if (record !== undefined) return { record, sessionRepos: [], notSeen };
  throw day > now
    ? notBegun(day, 'today', now)
    : new StewardError('not_found', `Nothing is stored of ${day}.`, {
        hint: 'See which days are: steward sense recent --days 366',
      });
}

/** Today's record from the events so far; nothing is stored. */
export function today(deps: ReadDeps): Today {
  const { state } = deps.store.readState();
  const day = dayOf(deps.clock.now(), deps.timezone);
  const { record, sessionRepos } = readDay(deps, state, day);
  return {
    record,
    sessionRepos,
    notSeen: {
      idleMinutes: state.away?.day === day ? state.away.seconds / 60 : 0,
      sources: sourceRows(deps, state, [])
        .filter(({ state: s }) => s === 'unsupported' || s === 'error' || s === 'off')
        .map(({ label, state: s, reason }) => ({ label, reason: reason ?? s })),
    },
  };
}

const MAX_RECENT_DAYS = 366;

/** The last stored records, newest first; `days` from 1 to 366, anything else is `usage`. A damaged one is left out. */
export function recent(
  deps: Pick<ReadDeps, 'store'>,
  days: number,
  onDamaged: OnDamaged = leaveOut,
): DailyRecord[] {
  if (!Number.isInteger(days) || days < 1 || days > MAX_RECENT_DAYS) {
    throw new StewardError('usage', `days must be a whole number from 1 to ${MAX_RECENT_DAYS}.`, {
      hint: 'Such as 30.',
    });
  }
  const stored = deps.store.recordedDays().slice(-days).reverse();
  return stored.map((day) => deps.store.readRecord(day, onDamaged)).filter((record) => record !== undefined);
}

/** Where nobody can be told, `doctor` tells of damaged records. */
const leaveOut: OnDamaged = () => undefined;

export interface DayRange {
  from?: Day;
  /** The last day, inclusive. */
  to?: Day;
}

/** Stored records, oldest first; a damaged one is left out. */
export function* recordsBetween(
  deps: Pick<ReadDeps, 'store'>,
  range: DayRange,
  onDamaged: OnDamaged,
): Generator<DailyRecord> {
  for (const day of daysBetween(deps.store.recordedDays(), range)) {
    const record = deps.store.readRecord(day, onDamaged);
    if (record !== undefined) yield record;
  }
}

/** Events whose raw log is still kept, day by day. */
export function* eventsBetween(deps: Pick<ReadDeps, 'store'>, range: DayRange): Generator<SenseEvent> {
  for (const day of daysBetween(deps.store.loggedDays(), range)) yield* deps.store.readLog(day).events;
}

function daysBetween(days: readonly Day[], { from, to }: DayRange): Day[] {
  if (from !== undefined && to !== undefined && from > to) {
    throw new StewardError('usage', `${from} is after ${to}.`, { hint: 'Give the earlier day as --from.' });
  }
  return days.filter((day) => (from === undefined || day >= from) && (to === undefined || day <= to));
}

/** One row a source (service.md: Sense source status item), from configuration and events alone. */
export function sources(deps: ReadDeps): SourceStatus[] {
  const { state } = deps.store.readState();
  return sourceRows(deps, state, todaysEvents(deps));
}

export function status(deps: ReadDeps, scheduler: SenseStatus['scheduler']): SenseStatus {
  const { state } = deps.store.readState();
  const day = dayOf(deps.clock.now(), deps.timezone);
  const log = deps.store.readLog(day);
  const recorded = deps.store.recordedDays();
  return {
    enabled: deps.config.enabled,
    version: SENSE_VERSION,
    pollIntervalSec: deps.config.pollIntervalSec,
    repos: deps.config.repos,
    retentionDays: deps.config.retentionDays,
    eventsToday: log.events.length,
    lastCaptureTs: state.lastCaptureTs,
    lastRecord: recorded[recorded.length - 1] ?? null,
    quarantined: quarantined(state.rolled, day) + log.badCount,
    clockJumps: recentJumps(state.jumps, deps.clock.now()),
    sources: sourceRows(deps, state, log.events),
    scheduler,
  };
}

function quarantined(rolled: Record<Day, { quarantined: number }>, except: Day): number {
  return Object.entries(rolled).reduce(
    (sum, [day, { quarantined: n }]) => (day === except ? sum : sum + n),
    0,
  );
}

function todaysEvents(deps: ReadDeps): SenseEvent[] {
  return deps.store.readLog(dayOf(deps.clock.now(), deps.timezone)).events;
}

function sourceRows(deps: ReadDeps, state: SenseState, events: readonly SenseEvent[]): SourceStatus[] {
  return SOURCE_IDS.map((id) => {
    const about = deps.sources.find((source) => source.id === id);
    if (about === undefined) throw new StewardError('internal', `No source ${id} is wired.`);
    const memory = state.sources[id];
    const enabled = deps.config.enabled && deps.config.sources[id];
    const seen = events.filter((event) => event.source === id);
    return {
      id,
      label: about.label,
      description: about.description,
      enabled,
      ...stateOf(enabled, deps.config.enabled, id, memory),
      pollIntervalSec: deps.config.pollIntervalSec,
      eventsToday: seen.length,
      lastEventTs: newest(seen) ?? memory?.lastEventTs ?? null,
    };
  });
}

function stateOf(
  enabled: boolean,
  all: boolean,
  id: SourceId,
  memory: { state: SourceStatus['state']; reason?: string } | undefined,
): Pick<SourceStatus, 'state' | 'reason'> {
  if (!enabled)
    return { state: 'off', reason: `switched off by ${all ? `sense.sources.${id}` : 'sense.enabled'}` };
  if (memory === undefined) return { state: 'idle', reason: 'not captured yet' };
  return { state: memory.state, ...(memory.reason === undefined ? {} : { reason: memory.reason }) };
}

function newest(events: readonly SenseEvent[]): string | undefined {
  let last: string | undefined;
  for (const { ts } of events) if (last === undefined || Date.parse(ts) > Date.parse(last)) last = ts;
  return last;
}
