import { definedOnly, isObject } from '../platform/files/json-object';
import { stateOf, type ProcessMark } from '../platform/process/ancestor';
import { toIso } from '../platform/time/clock';
import { dayBounds, dayOf } from '../platform/time/time';
import { activityAfter, endsByReason } from '../sessions/fold';
import { parseRequests, requestsAfter, type OpenRequest } from '../sessions/requests';
import { parseProcess, type WorkEvent } from '../sessions/work-events';
import type { SenseEvent, SessionState, SessionStateDetail } from '../time/event';

/** A running session, as stored in the cursor. */
interface Known {
  state: Exclude<SessionState, 'over'>;
  /** The main agent's state, beside the requests. */
  turn: 'working' | 'ready';
  sinceMs: number;
  reason?: string;
  /** The requests that wait for your answer. */
  requests: OpenRequest[];
  repo?: string;
  branch?: string;
  assistant?: string;
  process?: ProcessMark;
  /** When the session was last known to be running. */
  seenMs: number;
  /** Time of the session's last stored event. */
  storedMs: number;
}

export interface StatesCursor {
  /** The running sessions by id. */
  known: Record<string, Known>;
  /** Start of the next day, when all states are stored again. */
  nextDayMs: number;
  /** Time of the last capture. Absent in cursors from earlier versions. */
  atMs?: number;
}

export interface StatesDeps {
  timezone: string;
  machineId: string;
  nowMs: number;
  /** Start of the current local day. */
  dayStartMs: number;
  /** Returns whether a repository with this name is watched. */
  isWatched: (repo: string) => boolean;
}

/** Time without events after which a working session counts as ended, if its process is unknown. */
const SILENT_AFTER_MS = 30 * 60_000;
/** Time without events after which a waiting or ready session counts as ended, if its process is unknown. */
const LOST_AFTER_MS = 12 * 3_600_000;

/**
 * Converts work events to session-state events. Stores all states again at midnight and after a change of
 * the time zone, so that each day's log is complete.
 */
export function statesFold(deps: StatesDeps, before: StatesCursor | undefined) {
  const { timezone, nowMs } = deps;
  const known = new Map(Object.entries(before?.known ?? {}));
  let nextDayMs = storeAllAt(deps, before);
  const events: SenseEvent[] = [];
  const store = (id: string, at: Known, ms: number, more: Partial<SessionStateDetail> = {}): void => {
    const isOther = at.repo === undefined || !deps.isWatched(at.repo);
    const place = isOther ? { otherFolder: true as const } : {};
    events.push(stateEvent(id, at, ms, { ...place, ...more, machine: deps.machineId }));
    at.storedMs = ms;
  };
  const end = (id: string, at: Known, ms: number): void => {
    if (at.storedMs > 0) store(id, at, Math.min(nowMs, Math.max(ms, at.storedMs)), { state: 'over' });
    known.delete(id);
  };
  const endSilent = (ms: number): void => {
    for (const [id, at] of known) if (isSilent(at, ms)) end(id, at, at.seenMs);
  };
  const startDays = (untilMs: number): void => {
    while (nextDayMs <= untilMs) {
      endSilent(nextDayMs);
      for (const [id, at] of known) store(id, at, nextDayMs, { since: toIso(at.sinceMs) });
      nextDayMs = dayBounds(dayOf(nextDayMs, timezone), timezone).endMs;
    }
  };
  for (const [id, at] of known) {
    const process = at.process === undefined ? 'unknown' : stateOf(at.process);
    if (process === 'runs') at.seenMs = nowMs;
    else if (process === 'gone') end(id, at, at.seenMs);
  }
  return {
    /** Applies a work event. If `isNew` is false, updates the state without reporting an event. */
    take(event: WorkEvent, ms: number, isNew: boolean): void {
      startDays(ms);
      endSilent(ms);
      const at = known.get(event.session);
      if (event.type === 'session-end') {
        if (at !== undefined && isNew) end(event.session, at, ms);
        known.delete(event.session);
        return;
      }
      // The turn that you interrupted is over, and another one has started.
      if (endsByReason(event) && at !== undefined && ms < at.sinceMs) return;
      const next = applied(at, event, ms, deps.machineId);
      if (next === undefined) return;
      known.set(event.session, next);
      const isChange = at?.state !== next.state || at.reason !== next.reason;
      const prompt = event.type === 'prompt' ? { prompt: true as const } : {};
      // If the cursor was lost, old events are replayed. Don't store today's state changes again, because the
      // log already contains them.
      if (!isNew && ms >= deps.dayStartMs) next.storedMs = ms;
      else if (isNew && (isChange || event.type === 'prompt')) store(event.session, next, ms, prompt);
    },
    result(): { events: SenseEvent[]; cursor: StatesCursor } {
      startDays(nowMs);
      endSilent(nowMs);
      return { events, cursor: { known: Object.fromEntries(known), nextDayMs, atMs: nowMs } };
    },
  };
}

/** Returns when to store all states again. */
function storeAllAt({ timezone, nowMs, dayStartMs }: StatesDeps, before: StatesCursor | undefined): number {
  if (before === undefined) return dayStartMs;
  const { nextDayMs, atMs = nowMs } = before;
  const isMidnight = dayBounds(dayOf(nextDayMs, timezone), timezone).startMs === nextDayMs;
  const firstMs = isMidnight ? nextDayMs : Math.max(dayStartMs, atMs);
  return Math.min(firstMs, dayBounds(dayOf(nowMs, timezone), timezone).endMs);
}

function isSilent({ state, seenMs }: Known, ms: number): boolean {
  return ms - seenMs > (state === 'working' ? SILENT_AFTER_MS : LOST_AFTER_MS);
}

/** Returns the updated session, or undefined if the session is unknown and the event doesn't start it. */
function applied(at: Known | undefined, event: WorkEvent, ms: number, machineId: string): Known | undefined {
  const activity = activityAfter(at?.requests ?? [], event);
  const requests = requestsAfter(at?.requests ?? [], event);
  const [oldest] = requests;
  if (at === undefined && activity === undefined && oldest === undefined) return undefined;
  const turn = activity === undefined ? (at?.turn ?? 'ready') : activity === 'working' ? 'working' : 'ready';
  const state = oldest === undefined ? turn : 'waiting';
  const next: Known = { sinceMs: ms, storedMs: 0, ...at, state, turn, requests, seenMs: ms };
  delete next.reason;
  if (oldest !== undefined) next.reason = oldest.reason ?? 'notification';
  if (next.state !== at?.state || next.reason !== at.reason) next.sinceMs = ms;
  if (event.repo !== null) next.repo = event.repo;
  if (typeof event.branch === 'string') next.branch = event.branch;
  else if (event.branch === null) delete next.branch;
  if (event.assistant !== undefined) next.assistant = event.assistant;
  // A process id is valid only on the machine that runs the process.
  if (event.process !== undefined && (event.machine ?? machineId) === machineId) next.process = event.process;
  return next;
}

function stateEvent(
  session: string,
  { state, assistant, branch, reason, repo }: Known,
  ms: number,
  more: Partial<SessionStateDetail>,
): SenseEvent {
  const known = { assistant, branch, reason: more.state === 'over' ? undefined : reason };
  const detail: SessionStateDetail = { session, state, ...definedOnly(known), ...more };
  return {
    ts: toIso(ms),
    type: 'session-state',
    source: 'agentSession',
    ...(repo === undefined ? {} : { repo }),
    detail: { ...detail },
  };
}

/** Parses the stored states, or returns undefined if they are invalid. */
export function parseStates(value: unknown, nowMs: number): StatesCursor | undefined {
  if (!isObject(value) || !isObject(value['known']) || typeof value['nextDayMs'] !== 'number')
    return undefined;
  const known = Object.entries(value['known']).flatMap(([id, at]) => {
    const parsed = isObject(at) ? parseKnown(at, nowMs) : undefined;
    return parsed === undefined ? [] : [[id, parsed] as const];
  });
  const { nextDayMs, atMs } = value;
  const isPast = typeof atMs === 'number' && atMs <= nowMs;
  return { known: Object.fromEntries(known), nextDayMs, ...(isPast ? { atMs } : {}) };
}

const STATES: readonly unknown[] = ['working', 'waiting', 'ready'];

function parseKnown(value: Record<string, unknown>, nowMs: number): Known | undefined {
  const { state, sinceMs, seenMs, storedMs } = value;
  if (!STATES.includes(state) || ![sinceMs, seenMs, storedMs].every(Number.isFinite)) return undefined;
  const known = { ...value } as unknown as Known;
  known.seenMs = Math.min(known.seenMs, nowMs);
  known.storedMs = Math.min(known.storedMs, nowMs);
  known.requests = parseRequests(value['requests']);
  const process = parseProcess(value['process']);
  if (process === undefined) delete known.process;
  else known.process = process;
  return known;
}
