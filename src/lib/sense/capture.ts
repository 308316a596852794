import { toStewardError } from '../errors';
import type { SenseConfig } from '../config/schema';
import { parseIso, toIso, type Clock } from '../platform/clock';
import { clean } from '../platform/terminal';
import { addDays, dayBounds, dayOf, type Day } from '../platform/time';
import type { SenseEvent, SourceId } from './event';
import { rollPastDays, type RollDeps } from './roll';
import type { Collected, SenseSource } from './source';
import type { PendingAppend, SenseState } from './state';
import type { SenseStore } from './store';

export interface CaptureDeps extends RollDeps {
  clock: Clock;
  store: SenseStore;
  config: Pick<SenseConfig, 'enabled' | 'pollIntervalSec' | 'sources' | 'retentionDays'>;
  /** IANA name; decides which day an event belongs to. */
  timezone: string;
  sources: readonly SenseSource[];
  /** How long one source may take; the others do not wait for it longer. */
  sourceTimeoutMs?: number;
}

export interface SourceOutcome {
  id: SourceId;
  state: Collected['state'];
  reason?: string;
  events: number;
}

export interface CaptureResult {
  /** False: the kill switch is set, and nothing was read or written. */
  captured: boolean;
  ts: string;
  /** Events stored by this run. */
  events: number;
  sources: SourceOutcome[];
  /** Past days whose record was written. */
  rolled: Day[];
  /** Days whose raw log was discarded. */
  pruned: Day[];
  /** What went wrong beside the sources, in words; the capture itself stands. */
  problems: string[];
}

const SOURCE_TIMEOUT_MS = 20_000;

/**
 * Runs the enabled sources once and stores what they saw (service.md: capture). Call it under the lock of
 * sense. Events and cursors become durable together: the state is replaced first, with the lines it stands
 * for, then the lines are appended; a run that finds lines missing completes them. So whatever instant a
 * crash or a full disk chooses, no event is lost and none is stored twice. Past days are rolled afterwards.
 */
export async function capture(deps: CaptureDeps): Promise<CaptureResult> {
  const nowMs = deps.clock.now();
  const result: CaptureResult = {
    captured: deps.config.enabled,
    ts: toIso(nowMs),
    events: 0,
    sources: [],
    rolled: [],
    pruned: [],
    problems: [],
  };
  if (!deps.config.enabled) return result;
  deps.store.prepare();
  const { state, lost } = openState(deps.store, result.problems);
  completePending(deps.store, state);
  const today = dayOf(nowMs, deps.timezone);
  const enabled = deps.sources.filter((source) => deps.config.sources[source.id]);
  const stored = lost ? storedEvents(deps.store, today) : [];
  const collected = await collectAll(deps, enabled, state, stored, nowMs, today);
  const fresh = keepNew(
    collected.flatMap(({ outcome }) => outcome.events),
    stored,
  );
  const next = advance(state, deps, collected, nowMs, today);
  store(deps, next, fresh, nowMs, today);
  result.events = fresh.length;
  result.sources = collected.map(({ source, outcome }) => ({
    id: source.id,
    state: outcome.state,
    ...(outcome.reason === undefined ? {} : { reason: outcome.reason }),
    events: outcome.events.length,
  }));
  const rolled = rollPastDays(deps, next, today);
  return {
    ...result,
    rolled: rolled.rolled,
    pruned: rolled.pruned,
    problems: [...result.problems, ...rolled.problems],
  };
}

function openState(store: SenseStore, problems: string[]): { state: SenseState; lost: boolean } {
  const { state, damaged, lost } = store.readState();
  if (damaged) {
    store.setStateAside();
    problems.push('state.json was damaged: it was started anew, and a copy is in quarantine/state.json');
  }
  return { state, lost };
}

/** Brings lines into their logs that an earlier run decided on and did not live to write. */
export function completePending(store: SenseStore, state: SenseState): void {
  for (const plan of state.pending) {
    // A log that was there and is gone was removed by somebody: its lines are not brought back.
    if (plan.offset > 0 && store.logBytes(plan.day) === undefined) continue;
    store.completeAppend(plan);
  }
}

interface Answer {
  source: SenseSource;
  outcome: Collected;
}

function collectAll(
  deps: CaptureDeps,
  sources: readonly SenseSource[],
  state: SenseState,
  stored: readonly SenseEvent[],
  nowMs: number,
  today: Day,
): Promise<Answer[]> {
  const { startMs } = dayBounds(today, deps.timezone);
  return Promise.all(
    sources.map(async (source) => {
      const cursor = state.cursors[source.id] ?? (stored.length > 0 ? source.recover?.(stored) : undefined);
      const input = { nowMs, dayStartMs: startMs, cursor };
      const outcome = await bounded(source, deps.sourceTimeoutMs ?? SOURCE_TIMEOUT_MS, () =>
        source.collect(input),
      );
      return {
        source,
        outcome: outcome ?? { events: [], cursor, state: 'error', reason: 'no answer in time' },
      };
    }),
  );
}

/** What a source gives; an error of one is its own state and never stops the others (service.md: fault-isolated). */
async function bounded(
  source: SenseSource,
  timeoutMs: number,
  work: () => Promise<Collected>,
): Promise<Collected | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, undefined);
  });
  try {
    return await Promise.race([work(), late]);
  } catch (error) {
    const { message, hint } = toStewardError(error);
    const reason = clean(`${source.label}: ${message}${hint === undefined ? '' : ` ${hint}`}`);
    return { events: [], cursor: undefined, state: 'error', reason };
  } finally {
    clearTimeout(timer);
  }
}

/** The state after this capture; a source that failed keeps its cursor and asks for the same again. */
function advance(
  state: SenseState,
  deps: CaptureDeps,
  collected: readonly Answer[],
  nowMs: number,
  today: Day,
): SenseState {
  const at = toIso(nowMs);
  const next: SenseState = {
    ...state,
    lastCaptureTs: at,
    cursors: { ...state.cursors },
    sources: { ...state.sources },
    away: awayTime(state, deps, collected, nowMs, today),
  };
  for (const { source, outcome } of collected) {
    if (outcome.cursor !== undefined) next.cursors[source.id] = outcome.cursor;
    const newest = outcome.events.map((event) => event.ts).sort();
    next.sources[source.id] = {
      state: outcome.state,
      ...(outcome.reason === undefined ? {} : { reason: outcome.reason }),
      at,
      lastEventTs: newest[newest.length - 1] ?? state.sources[source.id]?.lastEventTs ?? null,
    };
  }
  return next;
}

/** Time of today that was sampled and was nobody's: a poll at the most, as with app time. */
function awayTime(
  state: SenseState,
  deps: CaptureDeps,
  collected: readonly Answer[],
  nowMs: number,
  today: Day,
): SenseState['away'] {
  const before = state.away?.day === today ? state.away.seconds : 0;
  const idle = collected.some(({ source, outcome }) => source.id === 'appFocus' && outcome.state === 'idle');
  const last = state.lastCaptureTs === null ? undefined : parseIso(state.lastCaptureTs);
  const since = last === undefined || last > nowMs ? deps.config.pollIntervalSec : (nowMs - last) / 1000;
  const seconds = idle ? Math.min(deps.config.pollIntervalSec, since) : 0;
  return { day: today, seconds: before + Math.round(seconds) };
}

function store(
  deps: CaptureDeps,
  next: SenseState,
  events: readonly SenseEvent[],
  nowMs: number,
  today: Day,
): void {
  const byDay = new Map<Day, SenseEvent[]>();
  const late: SenseEvent[] = [];
  for (const event of events) {
    const day = dayOf(parseIso(event.ts) ?? nowMs, deps.timezone);
    if (!isOpen(deps.store, next, day, today)) late.push(event);
    else byDay.set(day, [...(byDay.get(day) ?? []), event]);
  }
  const pending: PendingAppend[] = [...byDay].map(([day, group]) => deps.store.planAppend(day, group));
  next.pending = pending;
  for (const day of byDay.keys()) next.zones[day] ??= deps.timezone;
  deps.store.writeState(next);
  for (const plan of pending) deps.store.completeAppend(plan);
  if (late.length > 0) deps.store.keepLate(late);
}

/** May a day still take events? Not when it is recorded and its raw log was discarded: a new roll would lose it. */
function isOpen(store: SenseStore, state: SenseState, day: Day, today: Day): boolean {
  if (day >= today || store.logBytes(day) !== undefined || state.rolled[day]?.bytes === 0) return true;
  return !store.hasRecord(day);
}

/** Events of the last two days, to tell what a lost state had stored already. */
function storedEvents(store: SenseStore, today: Day): SenseEvent[] {
  const from = addDays(today, -1);
  return store
    .loggedDays()
    .filter((day) => day >= from)
    .flatMap((day) => store.readLog(day).events);
}

function keepNew(events: SenseEvent[], stored: readonly SenseEvent[]): SenseEvent[] {
  if (stored.length === 0) return events;
  const key = (event: SenseEvent): string =>
    event.type === 'git-commit'
      ? JSON.stringify([event.detail?.['path'], event.detail?.['sha']])
      : JSON.stringify(event);
  const known = new Set(stored.map(key));
  return events.filter((event) => !known.has(key(event)));
}
