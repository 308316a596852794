import { dirname, join } from 'node:path';

import { StewardError } from '../errors';
import { readText, replaceFile, sweepTemps } from '../platform/files/atomic-file';
import { ensureFolder } from '../platform/files/folder';
import { rotateRead, type LogCursor } from '../platform/files/journal';
import { isObject, parseObject } from '../platform/files/json-object';
import { withLock } from '../platform/files/lock';
import { stateOf } from '../platform/process/ancestor';
import { toIso, type Clock } from '../platform/time/clock';
import { archivedSessions, archiveSessions, pruneArchive, recall } from './archive';
import { addNames, namesFolder, pruneNames } from './names';
import { artifactOf, artifactPath } from './artifact';
import { folder, type FoldDeps } from './fold';
import {
  emptySessions,
  isLive,
  parseSessions,
  recordArtifactPhase,
  recordPhase,
  SESSIONS_VERSION,
  type Session,
  type SessionsState,
} from './session';
import { readWorkEvents, WORK_EVENTS_ROTATE_BYTES, type WorkEvent } from './work-events';

/** The places and the means of the state. */
export interface SessionsDeps extends FoldDeps {
  clock: Clock;
  machineId: string;
  /** `state/sessions.json` */
  path: string;
  /** `state/sessions-live.json` */
  livePath: string;
  workEvents: string;
  /** The folder of the artifacts. */
  sessions: string;
  /** Machine-local folder of the lock. */
  locks: string;
}

export type ReadDeps = Pick<
  SessionsDeps,
  'path' | 'workEvents' | 'sessions' | 'dayOf' | 'locks' | 'machineId'
>;

const DAY_MS = 86_400_000;
const LOST_WAIT_MS = 400;
const TEMPS_STALE_MS = 3_600_000;
/** A session without an event for so long leaves the state for the archive. */
const ARCHIVE_AFTER_MS = DAY_MS;
/** Finished sessions leave the archive after this; their artifacts stay for ever. */
const PRUNE_AFTER_MS = 30 * DAY_MS;
/** Sessions that were left unfinished, the oldest first, leave it beyond this number. */
const MAX_ARCHIVED = 5000;
/** More than that is no state. */
const MAX_STATE_BYTES = 64 * 1024 * 1024;

/** The archive beside the state. */
export function archiveOf(path: string): string {
  return join(dirname(path), 'sessions-archive');
}

/**
 * The stored state, without the archive. A missing or broken file is empty: the log tells it again; `onBroken` gets a
 * broken text, to keep it for a person. A newer format is `config`.
 */
function readSessions(path: string, onBroken?: (text: string) => void): SessionsState {
  const text = readText(path, { maxBytes: MAX_STATE_BYTES });
  const state = text === undefined ? undefined : parseSessions(text);
  if (state === undefined) {
    if (text !== undefined) onBroken?.(text);
    return emptySessions();
  }
  refuseNewer(state.version, path);
  return state;
}

function refuseNewer(version: number, path: string): void {
  if (version <= SESSIONS_VERSION) return;
  throw new StewardError('config', `${path} was written by a newer steward (format ${version}).`, {
    hint: 'Upgrade steward; this version leaves the file alone.',
  });
}

/** The stored session with this id of the assistant's. */
export function storedSession(path: string, id: string): Session | undefined {
  return Object.values(readSessions(path).sessions).find(({ sessionIds }) => sessionIds.includes(id));
}

/**
 * The slug of the stored session with this id of the assistant's: what each hook needs, from a small file of its own.
 * A newer format is `config`.
 */
export function storedSlug(deps: Pick<SessionsDeps, 'path' | 'livePath'>, id: string): string | undefined {
  const live = parseObject(readText(deps.livePath, { maxBytes: MAX_STATE_BYTES }) ?? '');
  if (typeof live?.['version'] === 'number') refuseNewer(live['version'], deps.livePath);
  const slugs = live?.['slugs'];
  // An earlier version wrote something else there.
  if (!isObject(slugs)) return storedSession(deps.path, id)?.slug;
  return Object.hasOwn(slugs, id) && typeof slugs[id] === 'string' ? slugs[id] : undefined;
}

/** All sessions as they are now, archived ones included: what is stored and what the log adds. Writes nothing. */
export function currentSessions(deps: ReadDeps): SessionsState {
  // The archive after the state: a session that moves meanwhile is in one of them.
  const state = readSessions(deps.path);
  state.sessions = { ...archivedSessions(archiveOf(deps.path)), ...state.sessions };
  fold(state, deps, unreadEvents(deps.workEvents, state.cursor));
  return observed(state, deps);
}

/** Adds what is not in the log: given names, titles, and whether each assistant's process still runs. */
export function observed(
  state: SessionsState,
  deps: Pick<SessionsDeps, 'locks' | 'machineId'>,
): SessionsState {
  const sessions = Object.values(state.sessions);
  addNames(namesFolder(deps.locks), sessions);
  for (const session of sessions) {
    delete session.isAlive;
    if (session.activity === 'ended' || !session.process || session.machine !== deps.machineId) continue;
    const found = stateOf(session.process);
    if (found !== 'unknown') session.isAlive = found === 'runs';
  }
  return state;
}

/** Notes that a person was shown that these sessions ended unexpectedly. */
export async function noteLost(deps: SessionsDeps, slugs: readonly string[]): Promise<void> {
  await updateSessions(deps, LOST_WAIT_MS, slugs, (state) => {
    for (const slug of slugs) {
      const session = state.sessions[slug];
      if (!session?.process || stateOf(session.process) !== 'gone') continue;
      session.activity = 'ended';
      session.lost = true;
    }
  });
}

/** The same of the last day, without what artifacts say since the last turn: for a reader in a hurry. */
export function runningSessions(
  deps: Pick<SessionsDeps, 'path' | 'workEvents' | 'dayOf' | 'locks' | 'machineId'>,
): SessionsState {
  const state = readSessions(deps.path);
  const { take } = folder(state, deps);
  state.cursor = readWorkEvents(deps.workEvents, state.cursor, take);
  return observed(state, deps);
}

/**
 * Brings the log into the state, lets `change` do more, and stores it, one writer at a time. Busy for longer than
 * `waitMs` is `locked`; the log still has what was not stored. `change` sees the sessions of the last day, those that
 * the log speaks of, and those with one of the `names` (slugs or ids of the assistant's); `isKnown` says of any slug
 * whether a session has it.
 */
export async function updateSessions<T>(
  deps: SessionsDeps,
  waitMs: number,
  names: readonly string[],
  change: (state: SessionsState, isKnown: (slug: string) => boolean) => T,
): Promise<T> {
  const { clock, machineId, path } = deps;
  const lock = join(deps.locks, 'sessions.lock');
  return withLock(lock, { clock, machineId, waitMs }, () => {
    ensureFolder(dirname(path));
    const archive = archiveOf(path);
    const state = readSessions(path, (broken) => replaceFile(`${path}.broken`, broken));
    const unread = unreadEvents(deps.workEvents, state.cursor);
    const said = unread.events.flatMap(({ session, slug }) => (slug === null ? [session] : [session, slug]));
    const unknown = unknownOf(state, [...names, ...said]);
    if (unknown.length > 0) state.sessions = { ...recall(archive, unknown), ...state.sessions };
    fold(state, deps, unread);
    const isKnown = (slug: string): boolean =>
      Object.hasOwn(state.sessions, slug) || Object.hasOwn(recall(archive, [slug]), slug);
    const result = change(state, isKnown);
    archiveOld(state, archive, clock.now());
    if (state.pruned !== utcDay(clock.now())) tidy(state, deps);
    // The log tells again what a crash of the machine takes: no name need be durable, and the index not at all.
    replaceFile(path, `${JSON.stringify(state)}\n`, { sync: 'content' });
    replaceFile(deps.livePath, indexOf(state), { sync: false });
    // Only here, where all of the log is read and no other process reads it.
    rotateRead({ path: deps.workEvents }, WORK_EVENTS_ROTATE_BYTES);
    return Promise.resolve(result);
  });
}

function unknownOf(state: SessionsState, names: readonly string[]): string[] {
  const known = new Set(
    Object.values(state.sessions).flatMap(({ slug, sessionIds }) => [slug, ...sessionIds]),
  );
  return [...new Set(names)].filter((name) => !known.has(name));
}

/** After a kill in between a session is in both: the state's counts, and is archived again. */
function archiveOld(state: SessionsState, archive: string, nowMs: number): void {
  const old = Object.values(state.sessions).filter(
    ({ updatedAt }) => nowMs - Date.parse(updatedAt) > ARCHIVE_AFTER_MS,
  );
  if (old.length === 0) return;
  archiveSessions(archive, old);
  for (const { slug } of old) delete state.sessions[slug];
}

/** Once a day. */
function tidy(state: SessionsState, { path, clock, locks }: SessionsDeps): void {
  const nowMs = clock.now();
  const isOver = (session: Session): boolean =>
    (session.phase === 'complete' || (session.artifact === null && !isLive(session, nowMs))) &&
    nowMs - Date.parse(session.updatedAt) > PRUNE_AFTER_MS;
  sweepTemps(dirname(path), TEMPS_STALE_MS, nowMs);
  pruneArchive(archiveOf(path), isOver, MAX_ARCHIVED);
  pruneNames(namesFolder(locks), nowMs);
  state.pruned = utcDay(nowMs);
}

function utcDay(nowMs: number): string {
  return toIso(nowMs).slice(0, 10);
}

/** The slug of each id, for hooks. */
function indexOf({ version, sessions }: SessionsState): string {
  const slugs = Object.values(sessions).flatMap(({ slug, sessionIds }) => sessionIds.map((id) => [id, slug]));
  return `${JSON.stringify({ version, slugs: Object.fromEntries(slugs) as object })}\n`;
}

interface Unread {
  events: readonly WorkEvent[];
  cursor: LogCursor;
}

function unreadEvents(workEvents: string, before: LogCursor): Unread {
  const events: WorkEvent[] = [];
  const cursor = readWorkEvents(workEvents, before, (event) => events.push(event));
  return { events, cursor };
}

/** Brings events into the state, and what the artifacts of their sessions say, the phase with the source `artifact`. */
function fold(state: SessionsState, deps: ReadDeps, { events, cursor }: Unread): void {
  const { take, touched } = folder(state, deps);
  for (const event of events) take(event);
  state.cursor = cursor;
  for (const slug of touched) {
    const session = state.sessions[slug];
    if (session !== undefined) syncArtifact(session, deps.sessions);
  }
}

function syncArtifact(session: Session, sessions: string): void {
  const artifact = artifactOf(sessions, session.slug);
  if (artifact === undefined) return;
  session.artifact = artifactPath(sessions, session.slug);
  session.mode = artifact.mode;
  for (const key of ['task', 'project', 'effort', 'github_issue_url'] as const) {
    session[key] = artifact[key] ?? session[key];
  }
  session.github_issue = artifact.github_issue ?? session.github_issue;
  if (artifact.phase !== null) recordArtifactPhase(session, artifact.phase, session.updatedAt);
  else if (session.phase === 'native' && artifact.mode === 'algorithm') {
    recordPhase(session, 'starting', 'artifact', session.updatedAt);
  }
}
