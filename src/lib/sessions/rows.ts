import { activityOf, goTo, labelOf, namesOf, requestOf } from './describe';
import { isLive, type Session, type SessionStatus, type SessionsState, statusOf } from './session';
import { CLAUDE_CODE, idOfKey } from './session-key';
import type { SpoolStatus } from './spool';

const SHOWN = [
  ...(['slug', 'task', 'project', 'repo', 'mode', 'phase', 'startedAt', 'updatedAt'] as const),
  ...(['sessionIds', 'artifact', 'github_issue', 'github_issue_url'] as const),
] as const;

export type SessionsReport = ReturnType<typeof sessionsReport>;

export interface RowOptions {
  nowMs: number;
  places?: ReadonlyMap<string, string>;
}

/** Where a session of another machine runs. */
export interface Elsewhere {
  machine: string;
  /** When the machine reported the session. */
  asOf: string;
  /** The ssh host that was asked; null if the exchange folder has the row. */
  host: string | null;
}

const OVER = 3;
const RANK: Readonly<Record<SessionStatus, number>> = {
  waiting: 1,
  working: 2,
  'no-signal': 2,
  crashed: OVER,
  ended: OVER,
};

/**
 * Lists the running sessions of all machines, and sessions whose unexpected end has not been reported yet. With
 * `all`, lists every session.
 */
export function sessionsReport(
  state: SessionsState,
  spool: SpoolStatus,
  { elsewhere = [], ...options }: RowOptions & { all: boolean; elsewhere?: readonly SessionRow[] },
) {
  const rows = [...rowsOf(Object.values(state.sessions), options), ...elsewhere].sort(byNeed);
  const lost = new Set(lostSessions(state));
  const count = (status: SessionStatus): number => rows.filter((row) => row.status === status).length;
  const isShown = ({ slug, status }: SessionRow): boolean =>
    options.all || (status !== 'crashed' && status !== 'ended') || lost.has(slug);
  return {
    sessions: rows.filter(isShown),
    working: count('working'),
    waiting: count('waiting'),
    crashed: count('crashed'),
    spool,
  };
}

/**
 * Returns the lost sessions that need not be reported again, because a terminal has shown them or because
 * their last event is more than an hour old.
 */
export function reportedLost(state: SessionsState, nowMs: number, isSeen: boolean): string[] {
  const isOld = (slug: string): boolean =>
    nowMs - Date.parse(state.sessions[slug]?.updatedAt ?? '') > LOST_SHOWN_MS;
  return lostSessions(state).filter((slug) => isSeen || isOld(slug));
}

const LOST_SHOWN_MS = 3_600_000;

/** Returns the slugs of sessions whose unexpected end has not been reported yet. */
export function lostSessions(state: SessionsState): string[] {
  return Object.values(state.sessions)
    .filter(({ isAlive }) => isAlive === false)
    .map(({ slug }) => slug);
}

/** Returns the rows in the order of `steward sessions`. Names are unique among running sessions. */
export function rowsOf(sessions: readonly Session[], options: RowOptions): SessionRow[] {
  const names = namesOf(sessions.filter((session) => isLive(session, options.nowMs)));
  return sessions.map((session) => rowOf(session, options, names.get(session.slug))).sort(byNeed);
}

function rowOf(session: Session, { nowMs, places }: RowOptions, name?: string) {
  const shown = Object.fromEntries(SHOWN.map((key) => [key, session[key]])) as Pick<
    Session,
    (typeof SHOWN)[number]
  >;
  const status = statusOf(session, nowMs);
  return {
    /** The displayed name, which is unique among the listed sessions. */
    name: name ?? labelOf(session) ?? session.slug,
    ...shown,
    sessionIds: session.sessionIds.map(idOfKey),
    givenName: session.givenName ?? null,
    status,
    branch: session.branch ?? null,
    /** Folder name of a linked worktree; null in the main checkout. */
    worktree: session.worktree ?? null,
    assistant: session.assistant ?? CLAUDE_CODE,
    model: session.model ?? null,
    /** What the session is doing, such as `editing` or `running a command`; null if it isn't working. */
    activity: activityOf(session, nowMs),
    waitingFor: requestOf(session, nowMs),
    waitingSince: status === 'waiting' ? (session.waitingSince ?? session.updatedAt) : null,
    /** The first line of the session's first prompt. Set only if `sessions.titles` is on. */
    title: session.title ?? null,
    /**
     * Where the session's terminal is: `work:2` in tmux, the pane in herdr, or the tab in kitty. Null if unknown
     * or not requested.
     */
    place: places?.get(session.slug) ?? null,
    /** Process id of the assistant on this machine; null if it isn't known to be running. */
    pid: session.isAlive === true ? (session.process?.pid ?? null) : null,
    subagents: session.agents.length,
    /** The command that brings the session's terminal to the front; null without a terminal, or if it has ended. */
    go: isLive(session, nowMs) ? goTo(session, name ?? session.slug) : null,
    /** Set if the session runs on another machine. */
    elsewhere: null as Elsewhere | null,
  };
}

/** A session in `steward sessions --json`. Times are ISO 8601 in UTC. */
export type SessionRow = ReturnType<typeof rowOf>;

/**
 * Returns the session's given name. If it has none, returns the first of its task, title, label and slug that
 * is set.
 */
export function titleOf(session: Session): string {
  return session.givenName ?? session.task ?? session.title ?? labelOf(session) ?? session.slug;
}

export function orderOfSessions(nowMs: number): (a: Session, b: Session) => number {
  return (a, b) => byNeed(rowOf(a, { nowMs }), rowOf(b, { nowMs }));
}

/**
 * Orders sessions by what blocks. A request blocks the agent; a finished turn doesn't. The longest wait is
 * first. Working sessions keep their places, oldest first; the latest to end is first.
 */
export function byNeed(a: SessionRow, b: SessionRow): number {
  return rankOf(a) - rankOf(b) || timeOf(a) - timeOf(b);
}

function rankOf({ status, waitingFor, elsewhere }: SessionRow): number {
  const rank = waitingFor === null ? RANK[status] : 0;
  // Those of other machines follow the running ones of this machine, which have numbers.
  return elsewhere === null ? rank : OVER - 1 + (rank + 1) / 4;
}

function timeOf({ status, updatedAt, startedAt, waitingSince }: SessionRow): number {
  return RANK[status] === OVER ? -Date.parse(updatedAt) : Date.parse(waitingSince ?? startedAt);
}

export function sessionDetail(session: Session, options: RowOptions) {
  const { effort, terminal, phaseHistory } = session;
  return { ...rowOf(session, options), effort, terminal, phaseHistory };
}

export type SessionDetail = ReturnType<typeof sessionDetail>;
