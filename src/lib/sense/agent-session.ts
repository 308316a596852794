import { exists } from '../platform/files/folder';
import { parseObject, textOf } from '../platform/files/json-object';
import { asLogCursor, LOG_START, readLog, type LogCursor } from '../platform/files/journal';
import { clean } from '../platform/terminal/terminal';
import { parseIso, toIso } from '../platform/time/clock';
import { dayOf } from '../platform/time/time';
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
const MAX_TEXT = 200;

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
      const own = stored.filter(({ type }) => type === 'agent-session');
      const times = own.map(({ ts }) => parseIso(ts) ?? 0);
      return times.length === 0 ? undefined : { ...UNREAD, afterMs: Math.max(...times) };
    },
  };
}

function collect({ path, timezone, machineId }: AgentSessionDeps, input: CollectInput): Collected {
  const before = asCursor(input);
  // The first time, what happened before today is history and no capture of ours.
  const afterMs = before === undefined ? input.dayStartMs - 1 : (before.afterMs ?? -1);
  if (!exists(path)) {
    const reason =
      'no assistant session has been reported on this machine (run "steward hooks install" to have them reported)';
    // A file that comes later is new, and what it says of the time since now is to be taken.
    return { events: [], cursor: before ?? { ...UNREAD, afterMs }, state: 'idle', reason };
  }
  const groups = new Map<string, Group>();
  let bad = 0;
  let lastMs = before?.lastMs ?? 0;
  const cursor = readLog(path, before ?? UNREAD, (text, wasCut) => {
    const event = text === undefined ? undefined : asWorkEvent(text);
    if (event === undefined) bad += 1;
    else if (event.ms > (wasCut ? (before?.lastMs ?? 0) : afterMs)) {
      // A clock that was ahead must not open a day that has not come.
      const ms = Math.min(event.ms, input.nowMs);
      addTo(groups, { ...event, ms }, timezone);
      lastMs = Math.max(lastMs, ms);
    }
  });
  const events = [...groups.values()].map(({ ms, session, repo, count }) => ({
    ts: toIso(ms),
    type: 'agent-session' as const,
    source: 'agentSession',
    ...(repo === undefined ? {} : { repo }),
    detail: { session, events: count, machine: machineId },
  }));
  const taken = { events, cursor: { ...(cursor ?? UNREAD), lastMs } };
  if (bad > 0) return { ...taken, state: 'ok', reason: `${bad} lines of ${path} are no work events` };
  if (events.length > 0) return { ...taken, state: 'ok' };
  return { ...taken, state: 'idle', reason: 'no session was active since the last capture' };
}

interface WorkEvent {
  ms: number;
  session: string;
  repo: string | undefined;
}

/** The events of a session and day; time and repository of the last of them. */
type Group = WorkEvent & { count: number };

function addTo(groups: Map<string, Group>, event: WorkEvent, timezone: string): void {
  const key = JSON.stringify([event.session, dayOf(event.ms, timezone)]);
  const group = groups.get(key) ?? { ...event, count: 0 };
  group.count += 1;
  if (event.ms >= group.ms) Object.assign(group, { ms: event.ms, repo: event.repo ?? group.repo });
  groups.set(key, group);
}

function asWorkEvent(text: string): WorkEvent | undefined {
  const { ts, session, repo } = parseObject(text) ?? {};
  const ms = typeof ts === 'string' ? parseIso(ts) : undefined;
  const id = clean(textOf(session) ?? '').slice(0, MAX_TEXT);
  if (ms === undefined || id === '') return undefined;
  const name = textOf(repo);
  return { ms, session: id, repo: name === undefined ? undefined : clean(name).slice(0, MAX_TEXT) };
}

/** A time ahead of now is of a clock that was set back since: what comes from now on is new. */
function asCursor({ cursor: value, nowMs, dayStartMs }: CollectInput): Cursor | undefined {
  const at = asLogCursor(value);
  const { afterMs, lastMs, headBytes } = (value ?? {}) as Record<string, unknown>;
  if (at === undefined || typeof lastMs !== 'number') return undefined;
  const last = Math.min(lastMs, nowMs);
  // A cursor of the format before, by a hash: the place is lost, also in the rotated log, and what was taken is known
  // by its time.
  if (headBytes !== undefined) {
    return { ...UNREAD, rotated: { offset: 0, head: '' }, lastMs: last, afterMs: last };
  }
  if (typeof afterMs !== 'number') return { ...at, lastMs: last };
  return { ...at, lastMs: last, afterMs: afterMs > nowMs ? dayStartMs - 1 : afterMs };
}
