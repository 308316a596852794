import { phaseNamed, type PhaseId } from './phases';
import { isSlug } from './slug';
import { LOG_START, parseTerminal, type LogCursor, type SessionTerminal } from './work-events';

/** Who brought a phase: the artifact, a notification (`voice`), or one after the other (`merged`). */
export type PhaseSource = 'artifact' | 'voice' | 'merged' | 'hook';

export interface PhaseEntry {
  phase: PhaseId;
  /** ISO-8601, UTC. */
  at: string;
  source: PhaseSource;
}

/** One session, or several of the assistant's that work on one artifact (decisions.md 4). Times are ISO-8601 UTC. */
export interface Session {
  slug: string;
  /** The assistant's own ids, the newest last. */
  sessionIds: string[];
  mode: 'algorithm' | 'native';
  /** What it is about, in the words of its artifact; null without one. */
  task: string | null;
  project: string | null;
  effort: string | null;
  /** Name of the repository that it works in. */
  repo: string | null;
  phase: PhaseId;
  /** Path of the artifact, once there is one. */
  artifact: string | null;
  startedAt: string;
  updatedAt: string;
  /** What the assistant does now: `waiting` is for a person. */
  activity: 'working' | 'waiting' | 'ended';
  /** Why it waits, a word of the assistant's (`permission_prompt`); null when it is simply the person's turn. */
  waitingFor: string | null;
  /** Ids of the subagents that are active. */
  agents: string[];
  phaseHistory: PhaseEntry[];
  github_issue: number | null;
  github_issue_url: string | null;
  terminal: SessionTerminal | null;
  /** The machine that it runs on. */
  machine: string | null;
}

/** `state/sessions.json`, and the part of it that is live. */
export interface SessionsState {
  version: number;
  /** Up to where the work events are in it. */
  cursor: LogCursor;
  sessions: Record<string, Session>;
}

/** The format of the state. A newer one is read by newer versions only. */
export const SESSIONS_VERSION = 1;

/** A session without a word for so long has crashed, or was left. */
export const CRASHED_AFTER_MS = 12 * 3_600_000;
export const MAX_HISTORY = 200;
const MAX_IDS = 100;
export const MAX_AGENTS = 200;

export function emptySessions(): SessionsState {
  return { version: SESSIONS_VERSION, cursor: { ...LOG_START }, sessions: {} };
}

/** How a session is, as a person wants to know it. */
export type SessionStatus = 'working' | 'waiting' | 'crashed' | 'ended';

/** A session whose last word lies too far back, or in the future of a clock that was put back, has crashed. */
export function statusOf(session: Pick<Session, 'activity' | 'updatedAt'>, nowMs: number): SessionStatus {
  if (session.activity === 'ended') return 'ended';
  return Math.abs(nowMs - Date.parse(session.updatedAt)) > CRASHED_AFTER_MS ? 'crashed' : session.activity;
}

export function isLive(session: Pick<Session, 'activity' | 'updatedAt'>, nowMs: number): boolean {
  const status = statusOf(session, nowMs);
  return status === 'working' || status === 'waiting';
}

/**
 * Sets the phase and notes it (service.md: Session phase). The same phase again from another source merges into
 * the last entry; from the same source it is no news.
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
 * What the artifact says its phase is. A phase that it said before, and that a notification has gone beyond
 * since, is no news: the artifact was not written for it.
 */
export function recordArtifactPhase(session: Session, phase: PhaseId, at: string): void {
  const said = session.phaseHistory.findLastIndex(
    ({ source }) => source === 'artifact' || source === 'merged',
  );
  const isOld = said !== -1 && said < session.phaseHistory.length - 1;
  if (isOld && session.phaseHistory[said]?.phase === phase) return;
  recordPhase(session, phase, 'artifact', at);
}

/** Adds an id of the assistant's as the newest. */
export function addId(session: Session, id: string): void {
  session.sessionIds = [...session.sessionIds.filter((known) => known !== id), id].slice(-MAX_IDS);
}

/** The state in a text, what is no session left out; undefined when the text is no state at all. */
export function parseSessions(text: string): SessionsState | undefined {
  const value = parseObject(text);
  if (value === undefined || typeof value['version'] !== 'number' || !isObject(value['sessions'])) {
    return undefined;
  }
  const cursor = isObject(value['cursor']) ? value['cursor'] : {};
  const { offset, head } = cursor;
  const sessions: Record<string, Session> = {};
  for (const [slug, found] of Object.entries(value['sessions'])) {
    const session = isSlug(slug) && isObject(found) ? parseSession(slug, found) : undefined;
    if (session !== undefined) sessions[slug] = session;
  }
  return {
    version: value['version'],
    cursor:
      typeof offset === 'number' && offset >= 0 && typeof head === 'string'
        ? { offset, head }
        : { ...LOG_START },
    sessions,
  };
}

/** A session as it was stored; other tools write the file too, so what is not as it should be has its default. */
function parseSession(slug: string, value: Record<string, unknown>): Session | undefined {
  const { startedAt, updatedAt, activity } = value;
  if (!isTime(startedAt) || !isTime(updatedAt)) return undefined;
  const issue = value['github_issue'];
  return {
    slug,
    sessionIds: texts(value['sessionIds']),
    mode: value['mode'] === 'algorithm' ? 'algorithm' : 'native',
    task: textOr(value['task']),
    project: textOr(value['project']),
    effort: textOr(value['effort']),
    repo: textOr(value['repo']),
    phase: phaseNamed(textOr(value['phase']) ?? '')?.id ?? 'native',
    artifact: textOr(value['artifact']),
    startedAt,
    updatedAt,
    activity: activity === 'working' || activity === 'ended' ? activity : 'waiting',
    waitingFor: textOr(value['waitingFor']),
    agents: texts(value['agents']),
    phaseHistory: historyOf(value['phaseHistory']),
    github_issue: typeof issue === 'number' && Number.isSafeInteger(issue) && issue > 0 ? issue : null,
    github_issue_url: textOr(value['github_issue_url']),
    terminal: parseTerminal(value['terminal']) ?? null,
    machine: textOr(value['machine']),
  };
}

const SOURCES: readonly string[] = ['artifact', 'voice', 'merged', 'hook'];

function historyOf(value: unknown): PhaseEntry[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isObject).flatMap(({ phase, at, source }): PhaseEntry[] => {
    const id = typeof phase === 'string' ? phaseNamed(phase)?.id : undefined;
    const isSource = typeof source === 'string' && SOURCES.includes(source);
    return id === undefined || !isTime(at) || !isSource
      ? []
      : [{ phase: id, at, source: source as PhaseSource }];
  });
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

function textOr(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function isTime(value: unknown): value is string {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
