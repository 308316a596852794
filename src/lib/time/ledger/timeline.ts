import { textOf } from '../../platform/files/json-object';
import { byCodeUnits } from '../../platform/files/short-hash';
import { parseIso } from '../../platform/time/clock';
import { assistantOfKey, CLAUDE_CODE } from '../../sessions/session-key';
import type { SenseEvent, SessionState } from '../event';
import { firstIndex, listIn, merged, type Span } from './spans';

/** A session's state from `ms` until `untilMs`. */
export type Stay = Change & { untilMs: number; next: SessionState | undefined };

export interface Timeline {
  /** The states of each session id, in chronological order. */
  stays: ReadonlyMap<string, readonly Stay[]>;
  /**
   * Short spans before your prompts, in chronological order. A prompt proves that its session was in the
   * foreground.
   */
  proofs: readonly { session: string; span: Span }[];
}

/** How long before each prompt its session counts as being in the foreground. */
const PROOF_MS = 6_000;

const RANK: Record<SessionState, number> = { working: 0, waiting: 1, ready: 2, over: 3 };

/** Collects session-state and agent-session events, in any order. */
export function timelineTally(pollIntervalSec: number) {
  const changes = new Map<string, Change[]>();
  const activity = new Map<string, { span: Span; repo: string | null }[]>();
  return {
    add(ms: number, event: Readonly<SenseEvent>): void {
      const { detail = {}, repo = null } = event;
      const session = textOf(detail['session']);
      if (session === undefined) return;
      if (event.type === 'session-state') {
        const change = changeOf(ms, event);
        if (change !== undefined) listIn(changes, session).push(change);
      } else {
        listIn(activity, session).push({ span: [ms - pollIntervalSec * 1000, ms], repo });
      }
    },
    result(): Timeline {
      const stays = new Map<string, Stay[]>();
      for (const [session, list] of changes) stays.set(session, staysOf(list.sort(byTime)));
      for (const [session, list] of activity) {
        const known = stays.get(session) ?? [];
        stays.set(session, [...staysBefore(session, list, known[0]?.ms ?? Infinity), ...known]);
      }
      const sorted = new Map([...stays].sort(([a], [b]) => byCodeUnits(a, b)));
      return { stays: sorted, proofs: proofsOf(sorted) };
    },
  };
}

function changeOf(ms: number, { detail = {}, repo }: Readonly<SenseEvent>) {
  const { state, since, prompt } = detail;
  if (typeof state !== 'string' || !Object.hasOwn(RANK, state)) return undefined;
  const sinceMs = typeof since === 'string' ? parseIso(since) : undefined;
  return {
    ms,
    state: state as SessionState,
    sinceMs: Math.min(ms, sinceMs ?? ms),
    prompt: prompt === true,
    repo: repo ?? null,
    otherFolder: detail['otherFolder'] === true,
    branch: textOf(detail['branch']) ?? null,
    assistant: textOf(detail['assistant']) ?? null,
  };
}

type Change = NonNullable<ReturnType<typeof changeOf>>;

/**
 * Sorts changes by time, then by their usual order in a turn. At the same time, states from the previous day
 * come first.
 */
function byTime(a: Change, b: Change): number {
  const order = a.ms - b.ms || a.sinceMs - b.sinceMs || RANK[a.state] - RANK[b.state];
  return order || byCodeUnits(JSON.stringify(a), JSON.stringify(b));
}

function staysOf(changes: readonly Change[]): Stay[] {
  return changes.map((change, i) => {
    const before = changes[i - 1];
    // Neither a prompt during work nor a repeated event begins a new state.
    const isSame = before?.state === change.state && change.sinceMs === change.ms;
    if (isSame) change.sinceMs = before.sinceMs;
    return { ...change, untilMs: changes[i + 1]?.ms ?? Infinity, next: changes[i + 1]?.state };
  });
}

/**
 * Counts activity before the first known state as work, because backfilled days contain no session states.
 */
function staysBefore(
  session: string,
  activity: readonly { span: Span; repo: string | null }[],
  beforeMs: number,
): Stay[] {
  const by = assistantOfKey(session);
  const assistant = by === CLAUDE_CODE ? null : by;
  const repos = new Map<string | null, Span[]>();
  for (const { span, repo } of activity) {
    if (span[1] < beforeMs) listIn(repos, repo).push(span);
  }
  const stays = [...repos].flatMap(([repo, spans]) =>
    merged(spans).map(([ms, untilMs]): Stay => ({
      ms,
      untilMs,
      sinceMs: ms,
      state: 'working',
      next: 'over',
      prompt: false,
      repo,
      otherFolder: false,
      branch: null,
      assistant,
    })),
  );
  stays.sort((a, b) => a.ms - b.ms || byCodeUnits(a.repo ?? '', b.repo ?? ''));
  return stays.map((stay, i) => ({ ...stay, untilMs: Math.min(stay.untilMs, stays[i + 1]?.ms ?? Infinity) }));
}

function proofsOf(stays: Timeline['stays']): Timeline['proofs'] {
  const prompts = [...stays].flatMap(([session, list]) =>
    list.filter(({ prompt }) => prompt).map(({ ms }) => ({ session, ms })),
  );
  prompts.sort((a, b) => a.ms - b.ms);
  return prompts.map(({ session, ms }, i) => ({
    session,
    span: [Math.max(ms - PROOF_MS, prompts[i - 1]?.ms ?? -Infinity), ms],
  }));
}

/**
 * Returns a session's state at the given time. For a time before the first state, returns the first state.
 */
export function stayAt(timeline: Timeline, session: string, ms: number): Stay | undefined {
  const list = timeline.stays.get(session) ?? [];
  return list[Math.max(0, countUntil(list, ms) - 1)];
}

function countUntil(stays: readonly Stay[], ms: number): number {
  return firstIndex(stays.length, (i) => (stays[i]?.ms ?? Infinity) > ms);
}

/**
 * Returns the session most likely in the foreground: the one with the latest prompt, or else the latest
 * state change.
 */
export function frontOf(timeline: Timeline, sessions: readonly string[], ms: number): string | undefined {
  if (sessions.length < 2) return sessions[0];
  const ranked = sessions.map((session) => {
    const stays = timeline.stays.get(session) ?? [];
    const before = stays.slice(0, countUntil(stays, ms));
    const last = before.at(-1);
    const isOver = last === undefined || last.state === 'over' || last.untilMs <= ms;
    const promptMs = before.findLast(({ prompt }) => prompt)?.ms ?? -Infinity;
    return { session, key: [isOver ? 0 : 1, promptMs, last?.ms ?? -Infinity] as const };
  });
  ranked.sort(
    ({ session: a, key: x }, { session: b, key: y }) =>
      y[0] - x[0] || compare(y[1], x[1]) || compare(y[2], x[2]) || byCodeUnits(a, b),
  );
  return ranked[0]?.session;
}

function compare(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** Returns when a session was in a state. */
export function timeIn(stays: readonly Stay[], wanted: SessionState): Span[] {
  const own = stays.filter(({ state }) => state === wanted);
  return merged(own.map(({ ms, untilMs }): Span => [ms, untilMs]));
}
