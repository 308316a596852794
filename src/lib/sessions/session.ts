import { isObject, objectsIn, parseObject, textOf, type Defined } from '../platform/files/json-object';
import { asLogCursor, LOG_START, type LogCursor } from '../platform/files/journal';
import { isIso } from '../platform/time/clock';
import { phaseNamed, type PhaseId } from './phases';
import { parseRequests } from './requests';
import { isSlug } from './slug';
import { parseProcess, parseTerminal } from './work-events';

/** The format version of the state file. Newer versions are rejected. */
export const SESSIONS_VERSION = 1;

/**
 * The contents of `state/sessions.json`: sessions with an event in the last day. Older sessions are in the
 * archive.
 */
export interface SessionsState {
  version: number;
  /** The position in the event log after the last applied event. */
  cursor: LogCursor;
  /** UTC date of the last daily cleanup. */
  pruned?: string;
  sessions: Record<string, Session>;
}

/** A session with an unknown process counts as crashed after this long without an event. */
const CRASHED_AFTER_MS = 12 * 3_600_000;
/** A working session without an event for this long has the status `no-signal`. */
const SILENT_AFTER_MS = 30 * 60_000;
const MAX_HISTORY = 200;
const MAX_IDS = 100;
export const MAX_AGENTS = 200;

export function emptySessions(): SessionsState {
  return { version: SESSIONS_VERSION, cursor: { ...LOG_START }, sessions: {} };
}

/** `no-signal`: was last seen working, but has sent no recent event. `crashed`: ended unexpectedly. */
export type SessionStatus = 'working' | 'waiting' | 'no-signal' | 'crashed' | 'ended';

type Current = Pick<Session, 'activity' | 'requests' | 'updatedAt' | 'lost' | 'isAlive'>;

/**
 * Returns the session's status. If the process is unknown, the status depends on the time of the last event.
 * A subagent's pending request counts as waiting.
 */
export function statusOf(session: Current, nowMs: number): SessionStatus {
  if (session.activity === 'ended') return session.lost === true ? 'crashed' : 'ended';
  if (session.isAlive === false) return 'crashed';
  const silentMs = session.isAlive === true ? 0 : Math.abs(nowMs - Date.parse(session.updatedAt));
  if (silentMs > CRASHED_AFTER_MS) return 'crashed';
  if (session.requests.length > 0 || session.activity === 'waiting') return 'waiting';
  return silentMs > SILENT_AFTER_MS ? 'no-signal' : 'working';
}

/** Returns whether the session may still be running. */
export function isLive(session: Current, nowMs: number): boolean {
  const status = statusOf(session, nowMs);
  return status !== 'crashed' && status !== 'ended';
}

/**
 * Sets the phase and updates the history. If the last history entry has the same phase, merges the source
 * into that entry.
 */
export function recordPhase(session: Session, phase: PhaseId, source: PhaseSource, at: string): void {
  session.phase = phase;
  const last = session.phaseHistory[session.phaseHistory.length - 1];
  if (last?.phase !== phase) {
    session.phaseHistory.push({ phase, at, source });
    session.phaseHistory.splice(0, session.phaseHistory.length - MAX_HISTORY);
  } else if (last.source !== source) {
    last.source = 'merged';
  }
}

/**
 * Sets the phase from the session file. If a notification has since set another phase, an unchanged phase in
 * the file is ignored.
 */
export function recordArtifactPhase(session: Session, phase: PhaseId, at: string): void {
  const reported = session.phaseHistory.findLastIndex(
    ({ source }) => source === 'artifact' || source === 'merged',
  );
  const isOld = reported !== -1 && reported < session.phaseHistory.length - 1;
  if (isOld && session.phaseHistory[reported]?.phase === phase) return;
  recordPhase(session, phase, 'artifact', at);
}

/** Returns the sessions by each of the assistants' ids. */
export function sessionsById<T extends Pick<Session, 'sessionIds'>>(sessions: readonly T[]): Map<string, T> {
  return new Map(sessions.flatMap((session) => session.sessionIds.map((id) => [id, session] as const)));
}

export function addId(session: Session, id: string): void {
  session.sessionIds = [...session.sessionIds.filter((known) => known !== id), id].slice(-MAX_IDS);
}

/** Parses the state file, skipping invalid sessions. Returns undefined if the whole file is invalid. */
export function parseSessions(text: string): SessionsState | undefined {
  const { version, sessions, cursor, pruned } = parseObject(text) ?? {};
  if (typeof version !== 'number' || !isObject(sessions)) return undefined;
  for (const slug of Object.keys(sessions))
    if (parseSession(slug, sessions[slug]) === undefined) delete sessions[slug];
  return {
    version,
    cursor: asLogCursor(cursor) ?? { ...LOG_START },
    ...(typeof pruned === 'string' ? { pruned } : {}),
    // Parsed in place.
    sessions: sessions as Record<string, Session>,
  };
}

/**
 * Parses a stored session. Returns undefined if the slug or a time is missing. Replaces other invalid values
 * with defaults, because other tools also write the file. Changes `value`, because copying many sessions takes
 * longer than parsing them.
 */
export function parseSession(slug: unknown, value: unknown) {
  if (typeof slug !== 'string' || !isSlug(slug) || !isObject(value)) return undefined;
  const { startedAt, updatedAt } = value;
  if (!isTime(startedAt) || !isTime(updatedAt)) return undefined;
  const text = (key: string): string | null => textOf(value[key]) ?? null;
  const issue = value['github_issue'];
  const known = {
    slug,
    /** The assistant's ids for the session, newest last. */
    sessionIds: texts(value['sessionIds']),
    mode: value['mode'] === 'algorithm' ? ('algorithm' as const) : ('native' as const),
    task: text('task'),
    project: text('project'),
    effort: text('effort'),
    repo: text('repo'),
    phase: phaseNamed(text('phase') ?? '')?.id ?? 'native',
    /** Path of the session file, or null. */
    artifact: text('artifact'),
    startedAt,
    updatedAt,
    /** The main agent's activity. `waiting` means waiting for you. */
    activity: ACTIVITIES.find((activity) => activity === value['activity']) ?? 'waiting',
    /** The requests that wait for your answer, oldest first. */
    requests: parseRequests(value['requests']),
    /** When the current or last turn started; null before the first turn. */
    turnAt: text('turnAt'),
    agents: texts(value['agents']),
    phaseHistory: historyOf(value['phaseHistory']),
    github_issue: typeof issue === 'number' && Number.isSafeInteger(issue) && issue > 0 ? issue : null,
    github_issue_url: text('github_issue_url'),
    terminal: parseTerminal(value['terminal']) ?? null,
    machine: text('machine'),
  };
  const optional: Record<string, unknown> = Object.assign(optionalOf(value), NEVER_STORED);
  for (const key in optional)
    if (optional[key] === undefined) delete value[key];
    else value[key] = optional[key];
  return Object.assign(value, known) as typeof known & Defined<ReturnType<typeof optionalOf>>;
}

const NEVER_STORED = { givenName: undefined, title: undefined, isAlive: undefined };

function optionalOf(value: Record<string, unknown>) {
  const word = (key: string): string | undefined => textOf(value[key]);
  const wordOrNull = (key: string): string | null | undefined => (value[key] === null ? null : word(key));
  return {
    /** The branch; null if HEAD is detached. */
    branch: wordOrNull('branch'),
    /** Folder name of a linked worktree; null in the main checkout. */
    worktree: wordOrNull('worktree'),
    /** The assistant that runs the session. Default: Claude Code. */
    assistant: word('assistant'),
    model: word('model'),
    tool: word('tool'),
    waitingSince: word('waitingSince'),
    /** The error that ended the last turn. */
    failure: failureOf(value['failure']),
    /** When the last of the agents that ran longer than the turn ended. */
    agentsDoneAt: word('agentsDoneAt'),
    /** Path of the assistant's log of the session. */
    transcript: word('transcript'),
    /** The assistant's process; null if hooks report different processes. */
    process: value['process'] === null ? null : parseProcess(value['process']),
    /** Set once `steward sessions` has reported that the session ended unexpectedly. */
    lost: value['lost'] === true ? (true as const) : undefined,
  };
}

/** A session, or several sessions that share a session file. Times are ISO 8601 in UTC. */
export type Session = NonNullable<ReturnType<typeof parseSession>> & {
  /**
   * `givenName` is the user's name for the session. `title` is the first line of the first prompt. The state
   * file contains neither, because `names.ts` stores them.
   */
  givenName?: string;
  title?: string;
  /** Whether the assistant's process is running. Set by state.ts if the process is known. */
  isAlive?: boolean;
};

const ACTIVITIES = ['working', 'waiting', 'ended'] as const;

function failureOf(value: unknown) {
  const { reason, until } = isObject(value) ? value : {};
  return typeof reason === 'string' && reason !== ''
    ? {
        /** The assistant's keyword for the error, such as `rate_limit`. */
        reason,
        /** When the limit is reset, in ISO 8601 in UTC; null if it isn't known. */
        until: isIso(until) ? until : null,
      }
    : undefined;
}

/** The source of a phase: the session file (`artifact`), a notification (`voice`), or both (`merged`). */
export type PhaseSource = (typeof SOURCES)[number];
const SOURCES = ['artifact', 'voice', 'merged', 'hook'] as const;

function historyOf(value: unknown) {
  return objectsIn(value).filter((entry): entry is { phase: PhaseId; at: string; source: PhaseSource } => {
    entry['phase'] = phaseNamed(textOf(entry['phase']) ?? '')?.id;
    const isKnown = entry['phase'] !== undefined && SOURCES.includes(entry['source'] as PhaseSource);
    return isKnown && isTime(entry['at']);
  });
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

function isTime(value: unknown): value is string {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value));
}
