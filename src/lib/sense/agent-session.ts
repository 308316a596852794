import { parseIso, toIso } from '../platform/time/clock';
import { parseObject } from '../platform/files/json-object';
import { exists } from '../platform/files/folder';
import { asLogCursor, LOG_START, readLog, type LogCursor } from '../platform/files/journal';
import { clean } from '../platform/terminal/terminal';
import { dayOf } from '../platform/time/time';
import type { SenseEvent } from './event';
import type { CollectInput, Collected, SenseSource } from './source';

export interface AgentSessionDeps {
  /** `state/work-events.jsonl`, which the assistant's hooks append to. */
  path: string;
  timezone: string;
  machineId: string;
}

interface Cursor extends LogCursor {
  /** Set when the position was lost: what happened up to then (ms) is stored already. */
  afterMs?: number;
  /** Of the newest event that was taken; 0 when none was. A file that was cut is read again from there. */
  lastMs: number;
}

const UNREAD: Cursor = { ...LOG_START, lastMs: 0 };

/**
 * The agentSession source: reads the work events as `readLog` does and gives one event for each session a poll and
 * day, `detail` {session, events}. Of a file that was cut it takes what is newer than all that was taken.
 */
export function agentSessionSource(deps: AgentSessionDeps): SenseSource {
  return {
    id: 'agentSession',
    label: 'Assistant sessions',
    description: 'Which assistant sessions were active, by id and repository; nothing of what was said.',
    collect: (input) => Promise.resolve(collect(deps, input)),
    recover(stored): Cursor | undefined {
      const times = stored
        .filter((event) => event.type === 'agent-session')
        .map((event) => parseIso(event.ts) ?? 0);
      if (times.length === 0) return undefined;
      return { ...UNREAD, afterMs: Math.max(...times) };
    },
  };
}

function collect(deps: AgentSessionDeps, input: CollectInput): Collected {
  const before = asCursor(input);
  // The first time, what happened before today is history and no capture of ours.
  const afterMs = before === undefined ? input.dayStartMs - 1 : (before.afterMs ?? -1);
  const groups = new Map<string, Group>();
  let bad = 0;
  let lastMs = before?.lastMs ?? 0;
  const take = (text: string | undefined, wasCut: boolean): void => {
    const newerThanMs = wasCut ? (before?.lastMs ?? 0) : afterMs;
    const event = text === undefined ? undefined : asWorkEvent(text);
    if (event === undefined) bad += 1;
    else if (event.ms > newerThanMs) {
      addTo(groups, event, deps.timezone, input.nowMs);
      lastMs = Math.max(lastMs, Math.min(event.ms, input.nowMs));
    }
  };
  if (!exists(deps.path)) {
    const reason =
      'no assistant session has been reported on this machine (run "steward hooks install" to have them reported)';
    // A file that comes later is new, and what it says of the time since now is to be taken.
    return { events: [], cursor: before ?? { ...UNREAD, afterMs }, state: 'idle', reason };
  }
  const cursor = readLog(deps.path, before ?? UNREAD, take);
  const events = [...groups.values()].map((group) => asEvent(group, deps.machineId));
  const unread = bad === 0 ? {} : { reason: `${bad} lines of ${deps.path} are no work events` };
  return {
    events,
    cursor: { ...cursor, lastMs },
    state: events.length > 0 || bad > 0 ? 'ok' : 'idle',
    ...idleReason(events, bad),
    ...unread,
  };
}

function idleReason(events: readonly SenseEvent[], bad: number): { reason?: string } {
  return events.length > 0 || bad > 0 ? {} : { reason: 'no session was active since the last capture' };
}

interface WorkEvent {
  ms: number;
  session: string;
  repo: string | undefined;
}

interface Group {
  session: string;
  repo: string | undefined;
  lastMs: number;
  count: number;
}

function addTo(groups: Map<string, Group>, event: WorkEvent, timezone: string, nowMs: number): void {
  // A clock that was ahead must not open a day that has not come.
  const ms = Math.min(event.ms, nowMs);
  const key = JSON.stringify([event.session, dayOf(ms, timezone)]);
  const group = groups.get(key);
  if (group === undefined) {
    groups.set(key, { session: event.session, repo: event.repo, lastMs: ms, count: 1 });
    return;
  }
  group.count += 1;
  if (ms >= group.lastMs) {
    group.lastMs = ms;
    group.repo = event.repo ?? group.repo;
  }
}

function asEvent(group: Group, machine: string): SenseEvent {
  return {
    ts: toIso(group.lastMs),
    type: 'agent-session',
    source: 'agentSession',
    ...(group.repo === undefined ? {} : { repo: group.repo }),
    detail: { session: group.session, events: group.count, machine },
  };
}

function asWorkEvent(text: string): WorkEvent | undefined {
  const value = parseObject(text);
  if (value === undefined) return undefined;
  const { ts, session, repo } = value;
  const ms = typeof ts === 'string' ? parseIso(ts) : undefined;
  if (ms === undefined || typeof session !== 'string') return undefined;
  const id = clean(session).slice(0, 200);
  if (id === '') return undefined;
  return {
    ms,
    session: id,
    repo: typeof repo === 'string' && repo !== '' ? clean(repo).slice(0, 200) : undefined,
  };
}

/** A time ahead of now is of a clock that was set back since: what comes from now on is new. */
function asCursor({ cursor: value, nowMs, dayStartMs }: CollectInput): Cursor | undefined {
  const at = asLogCursor(value);
  const { afterMs, lastMs, headBytes } = (value ?? {}) as { [key: string]: unknown };
  if (at === undefined || typeof lastMs !== 'number') return undefined;
  const last = Math.min(lastMs, nowMs);
  // A cursor of the format before, by a hash: the place is lost, and what was taken is known by its time.
  if (headBytes !== undefined) return { ...UNREAD, lastMs: last, afterMs: last };
  return {
    ...at,
    lastMs: last,
    ...(typeof afterMs === 'number' ? { afterMs: afterMs > nowMs ? dayStartMs - 1 : afterMs } : {}),
  };
}
