import { toStewardError } from '../errors';
import type { SenseConfig } from '../config/schema';
import { parseIso, toIso, type Clock } from '../platform/time/clock';
import { clean } from '../platform/terminal/terminal';
import { dayBounds, dayOf, type Day } from '../platform/time/time';
import type { SenseEvent, SourceId } from './event';
import { noticeJump } from './clock-jump';
import { completePending, keepNew, openState, storeCapture, storedEvents, wasLost } from './capture-store';
import { rollPastDays, type RollDeps } from './roll';
import type { Collected, SenseSource } from './source';
import type { SenseState } from './state';
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
 * for, then the lines are appended, then the state is relieved of them; a run that finds lines missing
 * completes them. So whatever instant a crash or a full disk chooses, no event is lost and none is stored
 * twice. Past days are rolled afterwards.
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
  const today = dayOf(nowMs, deps.timezone);
  const state = openState(deps.store, today, result.problems);
  completePending(deps.store, state, today, result.problems);
  const enabled = deps.sources.filter((source) => deps.config.sources[source.id]);
  const stored = wasLost(state, today) ? storedEvents(deps.store, today, result.problems) : [];
  const collected = await collectAll(deps, enabled, state, stored, nowMs, today);
  const fresh = keepNew(
    collected.flatMap(({ outcome }) => outcome.events),
    stored,
  );
  const next = advance(state, deps, collected, nowMs, today);
  storeCapture(deps, next, fresh, nowMs, today, result.problems);
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
        // A failed source goes on from where it was, and be it from what the stored events tell.
        outcome: outcome === undefined ? noAnswer(cursor) : { ...outcome, cursor: outcome.cursor ?? cursor },
      };
    }),
  );
}

function noAnswer(cursor: unknown): Collected {
  return { events: [], cursor, state: 'error', reason: 'no answer in time; it is asked again next time' };
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
    rolled: { ...state.rolled },
    zones: { ...state.zones },
    away: awayTime(state, deps, collected, nowMs, today),
    ...noticeJump(state, { wallMs: nowMs, boot: deps.clock.boot?.() }),
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
