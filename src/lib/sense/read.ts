import type { SenseConfig } from '../config/schema';
import { StewardError } from '../errors';
import { futureDayError } from '../platform/time/day-words';
import { toIso } from '../platform/time/clock';
import { isInRange, type DayRange } from '../platform/time/period';
import { addDays, type Day } from '../platform/time/time';
import { foldName, type Classifier } from '../time/classify';
import { dayTimeline } from '../time/day-timeline';
import { SENSE_VERSION, type SenseEvent, type SourceId } from '../time/event';
import type { UnionRecord } from '../time/machines/model';
import { yielder } from '../platform/time/wait';
import { readAhead, sessionReposOf, unionDays, unionParts, type Machines } from '../time/machines/read';
import { machineTimeline } from '../time/machines/timeline';
import { boundsOf, isEmptyRecord, recordTally, type DailyRecord, type SessionRepos } from '../time/record';
import { nothingStored, readDay, recordReader, todayOf, type RollDeps } from './roll';
import type { CaptureScheduler, SenseSource, SourceStatus } from './source';
import { recentJumps, type SenseState } from './state';
import type { OnDamaged } from './store';
import type { NotSeen } from './view';

export interface Today {
  /** The day's record, or the merged record of several machines. */
  record: DailyRecord | UnionRecord;
  notSeen: NotSeen;
  sessionRepos: SessionRepos;
}

export interface ReadDeps extends RollDeps {
  config: RollDeps['config'] & Pick<SenseConfig, 'enabled' | 'sources' | 'repos'>;
  sources: readonly Pick<SenseSource, 'id' | 'label' | 'description'>[];
  /** Returns the machines to merge, or undefined to read only this machine's days. */
  machines?: (() => Machines | undefined) | undefined;
  /** Returns the files and folders to watch for changes to other machines' day files. */
  machineFiles?: (() => readonly string[]) | undefined;
}

/** Returns a day's record: the stored one if the day is over, otherwise one built from the log. Writes nothing. */
export function dayView(deps: ReadDeps, day: Day): Today {
  const machines = deps.machines?.();
  if (machines !== undefined) return unionView(deps, machines, day);
  if (day === todayOf(deps)) return today(deps);
  const record = recordReader(deps)(day);
  if (record === undefined) throw notStored(deps, day);
  return { record, sessionRepos: sessionReposOf(record), notSeen: NOTHING_MISSED };
}

const NOTHING_MISSED: NotSeen = { idleMinutes: 0, sources: [] };

function notStored(deps: ReadDeps, day: Day): StewardError {
  const now = todayOf(deps);
  return day > now ? futureDayError(day, now) : nothingStored(day);
}

function unionView(deps: ReadDeps, machines: Machines, day: Day): Today {
  const record = unionDays(machines, [day], deps).get(day);
  const isNow = machines.hasOwn && day === todayOf(deps);
  // Throws if the day was recorded, but can't be read.
  if (machines.hasOwn && !isNow && (!record || isEmptyRecord(record))) deps.store.readRecord(day);
  if (record === undefined) throw notStored(deps, day);
  const notSeen = isNow ? missedToday(deps, deps.store.readState().state, day) : NOTHING_MISSED;
  return { record, notSeen, sessionRepos: sessionReposOf(record) };
}

/** Returns today's record so far. Writes nothing. */
export function today(deps: ReadDeps): Today {
  const day = todayOf(deps);
  const machines = deps.machines?.();
  if (machines !== undefined) return unionView(deps, machines, day);
  const { state } = deps.store.readState();
  const { record, sessionRepos } = readDay(deps, state, day);
  return { record, sessionRepos, notSeen: missedToday(deps, state, day) };
}

function missedToday(deps: ReadDeps, state: SenseState, day: Day): NotSeen {
  const failed = sourceRows(deps, state, []).filter((row) => row.state !== 'ok' && row.state !== 'idle');
  return {
    idleMinutes: state.away?.day === day ? state.away.seconds / 60 : 0,
    sources: failed.map(({ label, state: status, reason }) => ({ label, reason: reason ?? status })),
  };
}

/** Returns a day's record and timeline. Writes nothing. */
export function dayDetail(deps: ReadDeps, day: Day) {
  const { record, notSeen } = dayView(deps, day);
  const machines = deps.machines?.();
  const hasOwn = machines?.hasOwn !== false;
  const draw = timelinesOf(deps, machines, record);
  return {
    record,
    notSeen,
    ...boundsOf(record),
    /** Whether the event log still exists. If it doesn't, the timeline is empty. */
    raw: hasOwn && (day === todayOf(deps) || deps.store.logBytes(day) !== undefined),
    timeline: draw.own(),
    ...(machines && { others: draw.others() }),
  };
}

/** Returns functions that draw a day's timelines. With a memory, they draw again only after a file has changed. */
function timelinesOf(deps: ReadDeps, machines: Machines | undefined, record: DailyRecord) {
  const { date } = record;
  const bounds = boundsOf(record);
  const once = <T>(name: string, make: () => T): T =>
    machines?.memory === undefined
      ? make()
      : machines.memory.get(`${name} ${date} ${JSON.stringify(machines.names)}`, machines.inputs(date), make);
  return {
    own: () =>
      once('own', () => {
        const { pollIntervalSec } = deps.config;
        const events = machines?.hasOwn === false ? [] : deps.store.readLog(date).events;
        return dayTimeline(events, { ...bounds, pollIntervalSec, classify: kindsIn(record, deps) });
      }),
    others: () =>
      once('others', () =>
        (machines?.others(date) ?? []).map(({ id, name, ...parts }) => ({
          id,
          name,
          timeline: machineTimeline(parts, bounds),
        })),
      ),
  };
}

/** Classifies applications as in the record, because the rules may have changed since it was built. */
function kindsIn({ apps }: DailyRecord, { classify }: ReadDeps): Classifier {
  const kinds = new Map(apps.map(({ app, kind }) => [foldName(app), kind]));
  return (app, bundleId) => {
    const kind = kinds.get(foldName(app));
    return kind === undefined ? classify(app, bundleId) : { kind };
  };
}

/** Merges days with pauses, so that the daemon stays responsive. Does nothing for a single machine. */
export async function prepareDays(deps: ReadDeps, days: readonly Day[]): Promise<void> {
  const machines = deps.machines?.();
  if (machines !== undefined) await readAhead(machines, days, yielder(deps.clock, 0));
}

/** Merges a day and draws its timelines, with pauses. */
export async function prepareDay(deps: ReadDeps, day: Day): Promise<void> {
  const machines = deps.machines?.();
  if (machines?.memory === undefined) return;
  const pause = yielder(deps.clock, 0);
  await readAhead(machines, [day], pause);
  const record = unionDays(machines, [day]).get(day);
  if (record === undefined) return;
  for (const draw of Object.values(timelinesOf(deps, machines, record))) {
    draw();
    await pause();
  }
}

/** Returns the past days that `recent` returns of several machines. */
export function recentDays(deps: ReadDeps, machines: Machines, days: number, range: DayRange = {}): Day[] {
  return daysBetween(machines.days(), range)
    .filter((day) => day < todayOf(deps))
    .slice(-days);
}

export interface RecentOptions extends DayRange {
  onDamaged?: OnDamaged;
}

export const MAX_RECENT_DAYS = 366;

/**
 * Returns the latest `days` records of a range, newest first. Throws `usage` unless `days` is
 * from 1 to 366.
 */
export function recent(deps: ReadDeps, days: number, options?: RecentOptions): DailyRecord[] {
  return [...recentParts(deps, days, options)].flat().reverse();
}

/** Yields what `recent` returns, a few days at a time, oldest first. */
export function* recentParts(
  deps: ReadDeps,
  days: number,
  { onDamaged = () => undefined, ...range }: RecentOptions = {},
): Generator<DailyRecord[]> {
  const { store, goalTags } = deps;
  if (!Number.isInteger(days) || days < 1 || days > MAX_RECENT_DAYS) {
    throw new StewardError('usage', `Invalid number of days: ${days}.`, {
      hint: `Use a whole number from 1 to ${MAX_RECENT_DAYS}.`,
    });
  }
  const machines = deps.machines?.();
  if (machines !== undefined) {
    return yield* unionParts(machines, recentDays(deps, machines, days, range), { goalTags });
  }
  const recorded = new Set(store.recordedDays());
  // If captures end before a day is over, the day has a log but no record.
  const logged = store.loggedDays().filter((day) => day < todayOf(deps) && !recorded.has(day));
  const known = daysBetween([...recorded, ...logged].sort(), range).slice(-days);
  for (const day of known) {
    const record = recorded.has(day)
      ? store.readRecord(day, onDamaged)
      : readDay(deps, store.readState().state, day).record;
    if (record !== undefined) yield [record];
  }
}

/**
 * Returns a record for each of the last `days` days, newest first. Days without data have an empty record.
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

/** Yields stored records, oldest first. Omits damaged records. */
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

/** Yields the events of each day that still has an event log. */
export function* eventsBetween({ store }: Pick<ReadDeps, 'store'>, range: DayRange): Generator<SenseEvent> {
  for (const day of daysBetween(store.loggedDays(), range)) yield* store.readLog(day).events;
}

function daysBetween(days: readonly Day[], range: DayRange): Day[] {
  return days.filter((day) => isInRange(range, day));
}

export function sources(deps: ReadDeps): SourceStatus[] {
  return sourceRows(deps, deps.store.readState().state, deps.store.readLog(todayOf(deps)).events);
}

/** The output of `sense status`. */
export type SenseStatus = ReturnType<typeof status>;

const CHECKED_DAYS = 60;

export function status(deps: ReadDeps, scheduler: CaptureScheduler) {
  const { config, store } = deps;
  const { state } = store.readState();
  const day = todayOf(deps);
  const damaged = damagedDays(deps, CHECKED_DAYS);
  const log = store.readLog(day);
  const bad = Object.entries(state.rolled).map(([rolled, { quarantined }]) =>
    rolled === day ? 0 : quarantined,
  );
  return {
    enabled: config.enabled,
    version: SENSE_VERSION,
    pollIntervalSec: config.pollIntervalSec,
    repos: config.repos,
    /** Number of days after which event logs are deleted. Records are never deleted. */
    retentionDays: config.retentionDays,
    eventsToday: log.events.length,
    lastCaptureTs: state.lastCaptureTs,
    /** The newest day with a record. */
    lastRecord: store.recordedDays().at(-1) ?? null,
    /** The latest days with a record that can't be read, newest first. */
    damagedDays: damaged,
    /** Those of them that can't be rebuilt, because their event log is deleted or unreadable. */
    lostDays: damaged.filter((lost) => recordReader(deps)(lost, () => undefined) === undefined),
    quarantined: bad.reduce((sum, count) => sum + count, log.badCount),
    /** Recent clock changes of more than an hour. `byMs` is positive if the clock was set ahead. */
    clockJumps: recentJumps(state.jumps, deps.clock.now()),
    sources: sourceRows(deps, state, log.events),
    scheduler,
  };
}

/** Returns which of the latest recorded days have a record that can't be read, newest first. */
export function damagedDays({ store }: Pick<ReadDeps, 'store'>, days: number): Day[] {
  const recorded = store.recordedDays().slice(-days);
  return recorded.filter((day) => store.recordState(day) === 'damaged').reverse();
}

function sourceRows(deps: ReadDeps, state: SenseState, events: readonly SenseEvent[]): SourceStatus[] {
  return deps.sources.map(({ id, label, description }) => {
    const own = events.filter((event) => event.source === id);
    const times = own.map(({ ts }) => toIso(Date.parse(ts))).sort();
    return {
      id,
      label,
      description,
      enabled: deps.config.enabled && deps.config.sources[id],
      ...stateOf(deps, state, id),
      pollIntervalSec: deps.config.pollIntervalSec,
      eventsToday: own.length,
      lastEventTs: times.at(-1) ?? state.sources[id]?.lastEventTs ?? null,
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
