import { isObject, parseObject } from '../platform/files/json-object';
import { asLogCursor, LOG_START, type LogCursor } from '../platform/files/journal';
import type { ProcessMark } from '../platform/process/ancestor';
import { phaseNamed, type PhaseId } from './phases';
import { isSlug } from './slug';
import { parseProcess, parseTerminal, type SessionTerminal } from './work-events';

/** The format of the state. A newer one is read by newer versions only. */
export const SESSIONS_VERSION = 1;

/** Who brought a phase: the artifact, a notification (`voice`), or one after the other (`merged`). */
export type PhaseSource = 'artifact' | 'voice' | 'merged' | 'hook';

export interface PhaseEntry {
  phase: PhaseId;
  /** ISO-8601, UTC. */
  at: string;
  source: PhaseSource;
}

/** One session, or several of the assistant's that work on one artifact. Times are ISO-8601 UTC. */
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
  /** The branch there; null where HEAD is detached. */
  branch?: string | null;
  /** The folder name of a linked worktree; null in the main checkout. */
  worktree?: string | null;
  /** The assistant that runs it; absent means Claude Code. */
  assistant?: string;
  model?: string;
  /** The tool that its main turn used last. */
  tool?: string;
  /** The tool that a person is asked to allow. */
  askedTool?: string;
  /** The name that a person gave it, and the first line of its first prompt. Read from `names.ts`, never stored here. */
  givenName?: string;
  title?: string;
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
  /** The assistant's process; null when its hooks each come from another one, so that none of them tells anything. */
  process?: ProcessMark | null;
  /** Its process ended without a word, and a person was shown that. */
  lost?: true;
  /** Does its process run? Only of sessions as they were read (state.ts), and where the process is known. */
  isAlive?: boolean;
  /** The machine that it runs on. */
  machine: string | null;
  /** It has worked in a folder whose work stays on the machine: nothing of it is ever sent. */
  restricted?: true;
}

/** `state/sessions.json`: the sessions of the last day. Older ones are archived. */
export interface SessionsState {
  version: number;
  /** Up to where the work events are in it. */
  cursor: LogCursor;
  /** The UTC day on which old sessions were looked for last. */
  pruned?: string;
  sessions: Record<string, Session>;
}

/** A session whose process is unknown has ended after so long without a word. */
const CRASHED_AFTER_MS = 12 * 3_600_000;
/** And after so long it is unknown whether it still works. */
const SILENT_AFTER_MS = 30 * 60_000;
const MAX_HISTORY = 200;
const MAX_IDS = 100;
export const MAX_AGENTS = 200;

export function emptySessions(): SessionsState {
  return { version: SESSIONS_VERSION, cursor: { ...LOG_START }, sessions: {} };
}

/** The state of a session for a person. `no-signal`: it worked when last heard of; `crashed`: it ended unexpectedly. */
export type SessionStatus = 'working' | 'waiting' | 'no-signal' | 'crashed' | 'ended';

type Current = Pick<Session, 'activity' | 'waitingFor' | 'updatedAt' | 'lost' | 'isAlive'>;

/**
 * Returns the status by the session's process, and by the time since its last event where the process is unknown (a
 * time in the future means that the clock moved back). While a subagent asks for something, the session waits.
 */
export function statusOf(session: Current, nowMs: number): SessionStatus {
  if (session.activity === 'ended') return session.lost === true ? 'crashed' : 'ended';
  if (session.isAlive === false) return 'crashed';
  const silentMs = session.isAlive === true ? 0 : Math.abs(nowMs - Date.parse(session.updatedAt));
  if (silentMs > CRASHED_AFTER_MS) return 'crashed';
  if (session.waitingFor !== null || session.activity === 'waiting') return 'waiting';
  return silentMs > SILENT_AFTER_MS ? 'no-signal' : 'working';
}

/** Is the session not known to have ended? */
export function isLive(session: Current, nowMs: number): boolean {
  const status = statusOf(session, nowMs);
  return status !== 'crashed' && status !== 'ended';
}

/**
 * Sets the phase and notes it. The same phase again from another source merges into
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
  const { version, sessions, cursor, pruned } = parseObject(text) ?? {};
  if (typeof version !== 'number' || !isObject(sessions)) return undefined;
  const found = Object.entries(sessions).flatMap(([slug, value]) => parseSession(slug, value) ?? []);
  return {
    version,
    cursor: asLogCursor(cursor) ?? { ...LOG_START },
    ...(typeof pruned === 'string' ? { pruned } : {}),
    sessions: Object.fromEntries(found.map((session) => [session.slug, session])),
  };
}

/**
 * A session as it was stored; other tools write the file too, so what is not as it should be gets its default.
 * Undefined without a slug and its times.
 */
export function parseSession(slug: unknown, value: unknown): Session | undefined {
  if (typeof slug !== 'string' || !isSlug(slug) || !isObject(value)) return undefined;
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
  for (const key of WORDS) if (typeof value[key] !== 'string') delete session[key];
  for (const key of ['branch', 'worktree'] as const) {
    if (value[key] !== null && typeof value[key] !== 'string') delete session[key];
  }
  for (const key of ['givenName', 'title', 'isAlive'] as const) delete session[key];
  if (value['process'] !== null) {
    const process = parseProcess(value['process']);
    if (process === undefined) delete session.process;
    else session.process = process;
  }
  if (value['lost'] !== true) delete session.lost;
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

const WORDS = ['assistant', 'model', 'tool', 'askedTool'] as const;

const SOURCES: readonly string[] = ['artifact', 'voice', 'merged', 'hook'];

function historyOf(value: unknown): PhaseEntry[] {
  return objectsIn(value).flatMap(({ phase, at, source }) => {
    const id = phaseNamed(textOr(phase) ?? '')?.id;
    const isKnown = id !== undefined && isTime(at) && SOURCES.includes(String(source));
    return isKnown ? [{ phase: id, at, source: source as PhaseSource }] : [];
  });
}

function objectsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
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
