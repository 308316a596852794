import { createHash } from 'node:crypto';

import { parseIso, toIso } from '../platform/clock';
import { parseObject } from '../platform/json-object';
import { readHead, readLines } from '../platform/jsonl';
import { clean } from '../platform/terminal';
import { dayOf } from '../platform/time';
import type { SenseEvent } from './event';
import type { CollectInput, Collected, SenseSource } from './source';

export interface AgentSessionDeps {
  /** `state/work-events.jsonl`, which the assistant's hooks append to. */
  path: string;
  timezone: string;
  machineId: string;
}

interface Cursor {
  /** Bytes read so far. */
  offset: number;
  /** Hash of the file's first bytes, up to `offset`: another file under the same name is told apart. */
  head: string;
  headBytes: number;
  /** Set when the position was lost: what happened up to then (ms) is stored already. */
  afterMs?: number;
  /** Of the newest event that was taken; 0 when none was. A file that was cut is read again from there. */
  lastMs: number;
}

/** No file has this hash of its first bytes, so that any is read from its start. */
const UNREAD: Cursor = { offset: 0, head: '', headBytes: 0, lastMs: 0 };

/** Enough of a log's beginning to tell it from another: its first line has a time and a session id. */
const HEAD_BYTES = 256;

/**
 * The agentSession source (decisions.md 3): reads the work events by byte offset and gives one event for
 * each session a poll and day, `detail` {session, events}. A file that was replaced is read from its start,
 * and so is one that was cut, for what is newer than all that was taken; of one that was rotated to
 * `<name>.1.jsonl` the unread rest is read first.
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
  const take: Take = (text, newerThanMs = afterMs) => {
    const event = text === undefined ? undefined : asWorkEvent(text);
    if (event === undefined) bad += 1;
    else if (event.ms > newerThanMs) {
      addTo(groups, event, deps.timezone, input.nowMs);
      lastMs = Math.max(lastMs, Math.min(event.ms, input.nowMs));
    }
  };
  const cursor = readNew(deps.path, before, take);
  if (cursor === undefined) {
    const reason =
      'no assistant session has been reported on this machine (run "steward hooks install" to have them reported)';
    // A file that comes later is new, and what it says of the time since now is to be taken.
    return { events: [], cursor: before ?? { ...UNREAD, afterMs }, state: 'idle', reason };
  }
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

/** Takes the text of a line; of another time than the capture's where events up to `newerThanMs` are known. */
type Take = (text: string | undefined, newerThanMs?: number) => void;

/** Reads whole lines that are new; the cursor behind them, or undefined when there is no file. */
function readNew(
  path: string,
  before: Cursor | undefined,
  take: Take,
): Pick<Cursor, 'offset' | 'head' | 'headBytes'> | undefined {
  const same = before !== undefined && headOf(path, before.headBytes) === before.head;
  const from = same ? before.offset : 0;
  if (before !== undefined && !same) {
    const rotated = path.replace(/\.jsonl$/, '.1.jsonl');
    if (headOf(rotated, before.headBytes) === before.head) {
      readLines(rotated, { from: before.offset }, (line) => take(line.text));
    }
  }
  let end = readLines(path, { from }, (line) => take(line.text));
  if (before !== undefined && end !== undefined && end.size < from) {
    end = readLines(path, {}, (line) => take(line.text, before.lastMs));
  }
  if (end === undefined) return undefined;
  const headBytes = Math.min(end.end, HEAD_BYTES);
  return { offset: end.end, head: headOf(path, headBytes) ?? '', headBytes };
}

function headOf(path: string, bytes: number): string | undefined {
  const head = readHead(path, bytes);
  if (head === undefined || head.length < bytes) return undefined;
  return createHash('sha256').update(head).digest('hex').slice(0, 16);
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
  if (typeof value !== 'object' || value === null) return undefined;
  const { offset, head, headBytes, afterMs, lastMs } = value as Partial<Cursor>;
  const sound =
    typeof offset === 'number' && Number.isSafeInteger(offset) && offset >= 0 && typeof head === 'string';
  if (!sound || typeof headBytes !== 'number' || !(headBytes >= 0 && headBytes <= HEAD_BYTES))
    return undefined;
  return {
    offset,
    head,
    headBytes,
    lastMs: typeof lastMs === 'number' ? Math.min(lastMs, nowMs) : 0,
    ...(typeof afterMs === 'number' ? { afterMs: afterMs > nowMs ? dayStartMs - 1 : afterMs } : {}),
  };
}
