import { isObject, parseObject } from '../platform/files/json-object';
import { asLogCursor, LOG_START, type LogCursor } from '../platform/files/journal';
import { phaseNamed, type PhaseId } from './phases';
import { isSlug } from './slug';
import { SESSIONS_VERSION } from './state-lines';
import { parseTerminal, type SessionTerminal } from './work-events';

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
  /** What the assistant's main turn does now: `waiting` is for a person. */
  activity: 'working' | 'waiting' | 'ended';
  /** What a person is asked for, a word of the assistant's (`permission_prompt`); null when nothing is. */
  waitingFor: string | null;
  /** Id of the subagent that asks for it; null: the main turn. */
  askedBy: string | null;
  /** Since when a person is waited for, where one is. */
  waitingSince?: string;
  /** When the turn began that runs, or ran last; null before the first. */
  turnAt: string | null;
  /** Ids of the subagents that are active. */
  agents: string[];
  phaseHistory: PhaseEntry[];
  github_issue: number | null;
  github_issue_url: string | null;
  terminal: SessionTerminal | null;
  /** The machine that it runs on. */
  machine: string | null;
  /** It has worked in a folder whose work stays on the machine: nothing of it is ever sent. */
  restricted?: true;
}

/** `state/sessions.json`, and the part of it that is live. */
export interface SessionsState {
  version: number;
  /** Up to where the work events are in it. */
  cursor: LogCursor;
  /** The UTC day on which old sessions were looked for last. */
  pruned?: string;
  sessions: Record<string, Session>;
}

/** A session without a word for so long has crashed, or was left. */
const CRASHED_AFTER_MS = 12 * 3_600_000;
const MAX_HISTORY = 200;
const MAX_IDS = 100;
export const MAX_AGENTS = 200;

export function emptySessions(): SessionsState {
  return { version: SESSIONS_VERSION, cursor: { ...LOG_START }, sessions: {} };
}

/** How a session is, as a person wants to know it. */
export type SessionStatus = 'working' | 'waiting' | 'crashed' | 'ended';

type Current = Pick<Session, 'activity' | 'waitingFor' | 'updatedAt'>;

/**
 * A session whose last word lies too far back, or in the future of a clock that was put back, has crashed. One whose
 * subagent asks a person for something waits, whatever its main turn does.
 */
export function statusOf(session: Current, nowMs: number): SessionStatus {
  if (session.activity === 'ended') return 'ended';
  if (Math.abs(nowMs - Date.parse(session.updatedAt)) > CRASHED_AFTER_MS) return 'crashed';
  return session.waitingFor === null ? session.activity : 'waiting';
}

export function isLive(session: Current, nowMs: number): boolean {
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
  const sessions: Record<string, Session> = {};
  for (const [slug, found] of Object.entries(value['sessions'])) {
    const session = isSlug(slug) && isObject(found) ? parseSession(slug, found) : undefined;
    if (session !== undefined) sessions[slug] = session;
  }
  return {
    version: value['version'],
    cursor: asLogCursor(value['cursor']) ?? { ...LOG_START },
    ...(typeof value['pruned'] === 'string' ? { pruned: value['pruned'] } : {}),
    sessions,
  };
}

/**
 * A session as it was stored; other tools write the file too, so what is not as it should be gets its default.
 * The object itself is kept: there may be thousands, and a hook waits.
 */
function parseSession(slug: string, value: Record<string, unknown>): Session | undefined {
  const { startedAt, updatedAt, activity } = value;
  if (!isTime(startedAt) || !isTime(updatedAt)) return undefined;
  const issue = value['github_issue'];
  const session = value as unknown as Session;
  session.slug = slug;
  session.sessionIds = texts(value['sessionIds']);
  session.mode = value['mode'] === 'algorithm' ? 'algorithm' : 'native';
  for (const key of TEXTS) session[key] = textOr(value[key]);
  session.phase = phaseNamed(textOr(value['phase']) ?? '')?.id ?? 'native';
  session.activity = activity === 'working' || activity === 'ended' ? activity : 'waiting';
  session.agents = texts(value['agents']);
  session.phaseHistory = historyOf(value['phaseHistory']);
  session.github_issue = typeof issue === 'number' && Number.isSafeInteger(issue) && issue > 0 ? issue : null;
  session.terminal = parseTerminal(value['terminal']) ?? null;
  if (value['restricted'] !== true) delete session.restricted;
  return session;
}

const TEXTS = [
  'task',
  'project',
  'effort',
  'repo',
  'artifact',
  'waitingFor',
  'askedBy',
  'turnAt',
  'github_issue_url',
  'machine',
] as const;

const SOURCES: readonly string[] = ['artifact', 'voice', 'merged', 'hook'];

function historyOf(value: unknown): PhaseEntry[] {
  if (!Array.isArray(value)) return [];
  if (value.every(isEntry)) return value;
  return value.filter(isObject).flatMap((entry): PhaseEntry[] => {
    const named = { ...entry, phase: phaseNamed(textOr(entry['phase']) ?? '')?.id };
    return isEntry(named) ? [{ phase: named.phase, at: named.at, source: named.source }] : [];
  });
}

function isEntry(value: unknown): value is PhaseEntry {
  if (!isObject(value)) return false;
  const { phase, at, source } = value;
  const isPhase = typeof phase === 'string' && phaseNamed(phase)?.id === phase;
  return isPhase && isTime(at) && typeof source === 'string' && SOURCES.includes(source);
}

function texts(value: unknown): string[] {
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

function textOr(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Times of our own are told by their form, which costs a tenth. */
function isTime(value: unknown): value is string {
  return typeof value === 'string' && (OWN_TIME.test(value) || !Number.isNaN(Date.parse(value)));
}

const OWN_TIME =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;
