import { basename } from 'node:path';

import type { SenseConfig } from '../config/schema';
import { exists } from '../platform/files/folder';
import { repositoryOf } from '../platform/files/git-folder';
import { asLogCursor, LOG_START, readLog, type LogCursor } from '../platform/files/journal';
import { parseIso, toIso } from '../platform/time/clock';
import { dayOf } from '../platform/time/time';
import { parseWorkEvent, type WorkEvent } from '../sessions/work-events';
import type { SenseEvent } from '../time/event';
import { parseStates, statesFold, type StatesCursor } from './session-states';
import type { CollectInput, Collected, SenseSource } from './source';

export interface AgentSessionDeps {
  /** Path of `state/work-events.jsonl`, the log that the assistant's hooks append to. */
  path: string;
  timezone: string;
  machineId: string;
  config: Pick<SenseConfig, 'repos'>;
}

interface Cursor extends LogCursor {
  /** Work events up to this time are skipped. Set only while the log position is unknown. */
  afterMs?: number;
  /**
   * Time of the newest work event that was read, or 0. Older work events are ignored if the log was
   * truncated.
   */
  lastMs: number;
  states?: StatesCursor | undefined;
}

const UNREAD: Cursor = { ...LOG_START, lastMs: 0 };

/** Creates the agentSession source, which reports active sessions and changes to a session's state. */
export function agentSessionSource(deps: AgentSessionDeps): SenseSource {
  return {
    id: 'agentSession',
    label: 'Assistant sessions',
    description: 'The ids and repositories of active assistant sessions, but never their content.',
    collect: (input) => Promise.resolve(collect(deps, input)),
    recover(stored): Cursor | undefined {
      const times = stored.filter(({ type }) => type === 'agent-session').map(({ ts }) => parseIso(ts) ?? 0);
      return times.length === 0 ? undefined : { ...UNREAD, afterMs: Math.max(...times) };
    },
  };
}

function collect({ path, timezone, machineId, config }: AgentSessionDeps, input: CollectInput): Collected {
  const before = parseCursor(input);
  // The first capture skips events from earlier days.
  const afterMs = before === undefined ? input.dayStartMs - 1 : (before.afterMs ?? -1);
  if (!exists(path)) {
    const reason = 'no assistant session has been reported on this machine (see "steward hooks status")';
    return { events: [], cursor: before ?? { ...UNREAD, afterMs }, state: 'idle', reason };
  }
  const groups = new Map<string, Group>();
  const states = statesFold(
    { ...input, timezone, machineId, isWatched: watchedNames(config.repos) },
    before?.states,
  );
  let invalid = 0;
  let lastMs = before?.lastMs ?? 0;
  const cursor = readLog(path, before ?? UNREAD, (text, wasCut) => {
    const event = text === undefined ? undefined : parseWorkEvent(text);
    if (event === undefined) {
      invalid += 1;
      return;
    }
    const loggedMs = Date.parse(event.ts);
    // An event that was logged while the clock was ahead has a future time, so use the current time.
    const ms = Math.min(loggedMs, input.nowMs);
    const isNew = loggedMs > (wasCut ? (before?.lastMs ?? 0) : afterMs);
    if (isNew || !wasCut) states.take(event, ms, isNew);
    if (!isNew) return;
    addToGroup(groups, event, ms, timezone);
    lastMs = Math.max(lastMs, ms);
  });
  const changes = states.result();
  const events = [...[...groups.values()].map((group) => activityEvent(group, machineId)), ...changes.events];
  const result = { events, cursor: { ...cursor, lastMs, states: changes.cursor } };
  if (invalid > 0) return { ...result, state: 'ok', reason: `${invalid} invalid lines in ${path}` };
  if (events.length > 0) return { ...result, state: 'ok' };
  return { ...result, state: 'idle', reason: 'no session has been active since the last capture' };
}

function watchedNames(paths: readonly string[]): (name: string) => boolean {
  let names: Set<string> | undefined;
  return (name) =>
    (names ??= new Set(paths.map((path) => repositoryOf(path)?.name ?? basename(path)))).has(name);
}

function activityEvent({ ms, session, repo, count }: Group, machineId: string): SenseEvent {
  return {
    ts: toIso(ms),
    type: 'agent-session',
    source: 'agentSession',
    ...(repo !== null && { repo }),
    detail: { session, events: count, machine: machineId },
  };
}

/** A session's work events on one day. `ms` and `repo` come from the newest work event. */
type Group = Pick<WorkEvent, 'session' | 'repo'> & { ms: number; count: number };

function addToGroup(groups: Map<string, Group>, { session, repo }: WorkEvent, ms: number, timezone: string) {
  const key = JSON.stringify([session, dayOf(ms, timezone)]);
  const group = groups.get(key) ?? { session, repo, ms, count: 0 };
  group.count += 1;
  if (ms >= group.ms) Object.assign(group, { ms, repo: repo ?? group.repo });
  groups.set(key, group);
}

/**
 * Parses the cursor, or returns undefined if it is invalid. Replaces times that are in the future because
 * the clock was set back.
 */
function parseCursor({ cursor: value, nowMs, dayStartMs }: CollectInput): Cursor | undefined {
  const at = asLogCursor(value);
  const { afterMs, lastMs, states } = (value ?? {}) as Record<string, unknown>;
  if (at === undefined || typeof lastMs !== 'number') return undefined;
  const cursor: Cursor = { ...at, lastMs: Math.min(lastMs, nowMs), states: parseStates(states, nowMs) };
  if (typeof afterMs === 'number') cursor.afterMs = afterMs > nowMs ? dayStartMs - 1 : afterMs;
  return cursor;
}
