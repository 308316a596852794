import { activityOf, labelOf, namesOf, requestOf } from './describe';
import {
  isLive,
  type PhaseEntry,
  type Session,
  type SessionStatus,
  type SessionsState,
  statusOf,
} from './session';
import { CLAUDE_CODE, idOfKey } from './session-key';
import type { SpoolStatus } from './spool';

/** A session in `steward sessions --json`. Times are ISO 8601 in UTC. */
export interface SessionRow extends Pick<Session, (typeof SHOWN)[number]> {
  /** The displayed name, which is unique among the listed sessions. */
  name: string;
  givenName: string | null;
  status: SessionStatus;
  branch: string | null;
  /** Folder name of a linked worktree; null in the main checkout. */
  worktree: string | null;
  assistant: string;
  model: string | null;
  /** What the session is doing, such as `editing` or `running a command`; null if it isn't working. */
  activity: string | null;
  waitingFor: string | null;
  waitingSince: string | null;
  /** The first line of the session's first prompt. Set only if `sessions.titles` is on. */
  title: string | null;
  /**
   * Where the session's terminal is: `work:2` in tmux, or the tab in kitty. Null if unknown or not requested.
   */
  place: string | null;
  /** Process id of the assistant on this machine; null if it isn't known to be running. */
  pid: number | null;
  subagents: number;
  /**
   * The command that brings the session's terminal to the front. Null if there is no terminal or the session
   * has ended.
   */
  go: string | null;
}

const SHOWN = [
  ...(['slug', 'task', 'project', 'repo', 'mode', 'phase', 'startedAt', 'updatedAt'] as const),
  ...(['sessionIds', 'artifact', 'github_issue', 'github_issue_url'] as const),
] as const;

export interface SessionsReport {
  sessions: SessionRow[];
  working: number;
  waiting: number;
  crashed: number;
  spool: SpoolStatus;
}

export interface RowOptions {
  nowMs: number;
  places?: ReadonlyMap<string, string>;
}

const ORDER: readonly SessionStatus[] = ['waiting', 'working', 'no-signal', 'crashed', 'ended'];

/**
 * Lists the running sessions, and sessions whose unexpected end has not been reported yet. With `all`, lists
 * every session. Lists sessions that ask for something first, then those whose turn is finished, the longest
 * wait first; then the most recent ones.
 */
export function sessionsReport(
  state: SessionsState,
  spool: SpoolStatus,
  options: RowOptions & { all: boolean },
): SessionsReport {
  const rows = rowsOf(Object.values(state.sessions), options);
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

/** Returns the slugs of sessions whose unexpected end has not been reported yet. */
export function lostSessions(state: SessionsState): string[] {
  return Object.values(state.sessions)
    .filter(({ isAlive }) => isAlive === false)
    .map(({ slug }) => slug);
}

/** Returns the rows in the order of `steward sessions`. Names are unique among running sessions. */
export function rowsOf(sessions: readonly Session[], options: RowOptions): SessionRow[] {
  const names = namesOf(sessions.filter((session) => isLive(session, options.nowMs)));
  return sessions.map((session) => rowOf(session, options, names.get(session.slug))).sort(byStatusAndAge);
}

function rowOf(session: Session, { nowMs, places }: RowOptions, name?: string): SessionRow {
  const shown = Object.fromEntries(SHOWN.map((key) => [key, session[key]])) as Pick<
    Session,
    (typeof SHOWN)[number]
  >;
  const status = statusOf(session, nowMs);
  return {
    name: name ?? labelOf(session) ?? session.slug,
    ...shown,
    sessionIds: session.sessionIds.map(idOfKey),
    givenName: session.givenName ?? null,
    status,
    branch: session.branch ?? null,
    worktree: session.worktree ?? null,
    assistant: session.assistant ?? CLAUDE_CODE,
    model: session.model ?? null,
    activity: activityOf(session, nowMs),
    waitingFor: requestOf(session, nowMs),
    waitingSince: status === 'waiting' ? (session.waitingSince ?? session.updatedAt) : null,
    title: session.title ?? null,
    place: places?.get(session.slug) ?? null,
    pid: session.isAlive === true ? (session.process?.pid ?? null) : null,
    subagents: session.agents.length,
    go: isLive(session, nowMs) && session.terminal !== null ? `steward go ${session.slug}` : null,
  };
}

/**
 * Returns the session's given name. If it has none, returns the first of its task, title, label and slug that
 * is set.
 */
export function titleOf(session: Session): string {
  return session.givenName ?? session.task ?? session.title ?? labelOf(session) ?? session.slug;
}

export function orderOfSessions(nowMs: number): (a: Session, b: Session) => number {
  return (a, b) => byStatusAndAge(rowOf(a, { nowMs }), rowOf(b, { nowMs }));
}

function byStatusAndAge(a: SessionRow, b: SessionRow): number {
  const order = ORDER.indexOf(a.status) - ORDER.indexOf(b.status);
  if (order !== 0) return order;
  if (a.waitingSince === null || b.waitingSince === null)
    return Date.parse(b.updatedAt) - Date.parse(a.updatedAt);
  // A request blocks the agent; a finished turn doesn't.
  const turns = Number(a.waitingFor === null) - Number(b.waitingFor === null);
  return turns !== 0 ? turns : Date.parse(a.waitingSince) - Date.parse(b.waitingSince);
}

export interface SessionDetail extends SessionRow {
  effort: string | null;
  terminal: Session['terminal'];
  phaseHistory: PhaseEntry[];
}

export function sessionDetail(session: Session, options: RowOptions): SessionDetail {
  const { effort, terminal, phaseHistory } = session;
  return { ...rowOf(session, options), effort, terminal, phaseHistory };
}
