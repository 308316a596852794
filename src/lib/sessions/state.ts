import { dirname, join } from 'node:path';

import type { Machine } from '../config/user-area';
import { throwIfBug } from '../errors';
import { readText, replaceFile, sweepTemps } from '../platform/files/atomic-file';
import { ensureFolder } from '../platform/files/folder';
import { rotateRead, type LogCursor } from '../platform/files/journal';
import { isObject } from '../platform/files/json-object';
import { withMachineLock } from '../platform/files/lock';
import { readObject, refuseNewer } from '../platform/files/object-file';
import { stateOf } from '../platform/process/ancestor';
import { toIso } from '../platform/time/clock';
import { archivedSessions, archiveSessions, pruneArchive, recall } from './archive';
import { addNames, namesFolder, pruneNames } from './names';
import { artifactOf, artifactPath } from './artifact';
import { folder, withSlugs, type FoldDeps } from './fold';
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
import { isNameless } from './slug';
import { readWorkEvents, WORK_EVENTS_ROTATE_BYTES, type WorkEvent } from './work-events';

export interface SessionsDeps extends FoldDeps, Machine {}

const DAY_MS = 86_400_000;
const LOST_WAIT_MS = 400;
const TEMPS_STALE_MS = 3_600_000;
/** A session without an event for this long moves to the archive, unless it is running. */
const ARCHIVE_AFTER_MS = DAY_MS;
/** A finished session older than this is removed from the archive. Its session file stays. */
const PRUNE_AFTER_MS = 30 * DAY_MS;
const MAX_ARCHIVED = 5000;
const MAX_STATE_BYTES = 64 * 1024 * 1024;

export function archiveOf(path: string): string {
  return join(dirname(path), 'sessions-archive');
}

/**
 * Reads the stored state without the archive. If the file is missing or damaged, returns an empty state,
 * because the log can restore it. Passes damaged text to `onBroken`. Throws `config` for a newer format.
 */
function readSessions(path: string, onBroken?: (text: string) => void): SessionsState {
  const text = readText(path, { maxBytes: MAX_STATE_BYTES });
  const state = text === undefined ? undefined : parseSessions(text);
  if (state === undefined) {
    if (text !== undefined) onBroken?.(text);
    return emptySessions();
  }
  refuseNewer(path, state.version, SESSIONS_VERSION);
  return state;
}

export function storedSession(path: string, id: string): Session | undefined {
  return Object.values(readSessions(path).sessions).find(({ sessionIds }) => sessionIds.includes(id));
}

/**
 * Returns the slug of the session with this id. Reads only a small index, because every hook calls this
 * function. Throws `config` for a newer format.
 */
export function storedSlug(deps: Pick<Machine, 'area'>, id: string): string | undefined {
  const live = readObject(deps.area.sessionsLive);
  refuseNewer(deps.area.sessionsLive, live?.['version'], SESSIONS_VERSION);
  const slugs = live?.['slugs'];
  // Indexes from earlier versions have a different format.
  if (!isObject(slugs)) return storedSession(deps.area.sessionsState, id)?.slug;
  return Object.hasOwn(slugs, id) && typeof slugs[id] === 'string' ? slugs[id] : undefined;
}

/**
 * Returns all sessions, including archived sessions, with new log events applied. Writes nothing.
 * @param archived Reads the archived sessions. The default reads the archive file on every call.
 */
export function currentSessions(deps: SessionsDeps, archived = archivedSessions): SessionsState {
  // Read the archive last. Otherwise, a session could be missed while another process archives it.
  const state = readSessions(deps.area.sessionsState);
  state.sessions = { ...archived(archiveOf(deps.area.sessionsState)), ...state.sessions };
  fold(state, deps, unreadEvents(deps.area.workEvents, state.cursor));
  return observed(state, deps);
}

/** Adds data that isn't in the log: names, titles, and whether each process is running. */
function observed(state: SessionsState, deps: SessionsDeps): SessionsState {
  addNames(namesFolder(deps.area.machine), Object.values(state.sessions));
  return withProcesses(state, deps);
}

/** Adds whether each process is running. */
export function withProcesses(state: SessionsState, deps: Pick<Machine, 'machineId'>): SessionsState {
  for (const session of Object.values(state.sessions)) {
    delete session.isAlive;
    if (session.activity === 'ended' || !session.process || session.machine !== deps.machineId) continue;
    const found = stateOf(session.process);
    if (found === 'gone' && session.process.isClient === true) session.activity = 'ended';
    else if (found !== 'unknown') session.isAlive = found === 'runs';
  }
  return state;
}

/**
 * Marks the unexpected end of these sessions as reported. If that fails, returns the reason. The next list
 * then reports the sessions again.
 */
export async function noteLost(deps: SessionsDeps, slugs: readonly string[]): Promise<string | undefined> {
  if (slugs.length === 0) return undefined;
  try {
    await updateSessions(deps, LOST_WAIT_MS, slugs, (state) => {
      for (const slug of slugs) {
        const session = state.sessions[slug];
        if (!session?.process || stateOf(session.process) !== 'gone') continue;
        session.activity = 'ended';
        session.lost = true;
      }
    });
  } catch (error) {
    const { message } = throwIfBug(error);
    return message;
  }
  return undefined;
}

/**
 * A faster version of `currentSessions` that covers only the last day and ignores changes to session files
 * since the last turn.
 */
export function runningSessions(deps: SessionsDeps): SessionsState {
  const state = readSessions(deps.area.sessionsState);
  const { take } = folder(state, deps);
  state.cursor = readWorkEvents(deps.area.workEvents, state.cursor, take);
  return observed(state, deps);
}

/**
 * Applies new log events and `change`, then stores the state. Also loads archived sessions if the log or
 * `names` (slugs or ids) mentions them. Throws `locked` if another writer takes longer than `waitMs`.
 */
export async function updateSessions<T>(
  deps: SessionsDeps,
  waitMs: number,
  names: readonly string[],
  change: (state: SessionsState, isKnown: (slug: string) => boolean) => T,
): Promise<T> {
  const path = deps.area.sessionsState;
  return withMachineLock(deps, 'sessions', waitMs, () => {
    ensureFolder(dirname(path));
    const archive = archiveOf(path);
    const state = readSessions(path, (broken) => replaceFile(`${path}.broken`, broken));
    const unread = unreadEvents(deps.area.workEvents, state.cursor);
    const mentioned = unread.events.flatMap(({ session, slug }) =>
      slug === null ? [session] : [session, slug],
    );
    const unknown = unknownOf(state, [...names, ...mentioned]);
    if (unknown.length > 0) state.sessions = { ...recall(archive, unknown), ...state.sessions };
    fold(state, deps, unread);
    const isKnown = (slug: string): boolean =>
      Object.hasOwn(state.sessions, slug) || Object.hasOwn(recall(archive, [slug]), slug);
    const result = change(state, isKnown);
    archiveOld(state, deps);
    if (state.pruned !== utcDay(deps.clock.now())) tidy(state, deps);
    // The log can restore both files after a crash, so neither needs a full fsync.
    replaceFile(path, `${JSON.stringify(state)}\n`, { sync: 'content' });
    replaceFile(deps.area.sessionsLive, indexOf(state), { sync: false });
    // Rotate the log only here, where it has been read to the end and the lock excludes other readers.
    rotateRead(deps.area.workEvents, WORK_EVENTS_ROTATE_BYTES);
    return result;
  });
}

function unknownOf(state: SessionsState, names: readonly string[]): string[] {
  const known = new Set(
    Object.values(state.sessions).flatMap(({ slug, sessionIds }) => [slug, ...sessionIds]),
  );
  return [...new Set(names)].filter((name) => !known.has(name));
}

/**
 * Moves old sessions to the archive, unless their process is running. If a crash leaves a session in both
 * places, the copy in the state is current.
 */
function archiveOld(state: SessionsState, { area, clock, machineId }: SessionsDeps): void {
  const isRunning = ({ process, machine }: Session): boolean =>
    machine === machineId && process !== undefined && process !== null && stateOf(process) === 'runs';
  const old = Object.values(state.sessions)
    .filter(({ updatedAt }) => clock.now() - Date.parse(updatedAt) > ARCHIVE_AFTER_MS)
    .filter((session) => !isRunning(session));
  if (old.length === 0) return;
  archiveSessions(archiveOf(area.sessionsState), old);
  for (const { slug } of old) delete state.sessions[slug];
}

function tidy(state: SessionsState, { area, clock }: SessionsDeps): void {
  const nowMs = clock.now();
  const isOver = (session: Session): boolean =>
    (session.phase === 'complete' || (session.artifact === null && !isLive(session, nowMs))) &&
    nowMs - Date.parse(session.updatedAt) > PRUNE_AFTER_MS;
  sweepTemps(dirname(area.sessionsState), TEMPS_STALE_MS, nowMs);
  pruneArchive(archiveOf(area.sessionsState), isOver, MAX_ARCHIVED);
  pruneNames(namesFolder(area.machine), nowMs);
  state.pruned = utcDay(nowMs);
}

function utcDay(nowMs: number): string {
  return toIso(nowMs).slice(0, 10);
}

/** The first line lists the restricted sessions, because the shim reads only that line. */
function indexOf({ version, sessions }: SessionsState): string {
  const all = Object.values(sessions);
  const slugs = all.flatMap(({ slug, sessionIds }) => sessionIds.map((id) => [id, slug]));
  const restricted = all.filter(({ slug }) => isNameless(slug)).flatMap(({ sessionIds }) => sessionIds);
  const rest = JSON.stringify({ version, slugs: Object.fromEntries(slugs) as object });
  return `{"restricted":${JSON.stringify(restricted)},\n${rest.slice(1)}\n`;
}

type Unread = ReturnType<typeof unreadEvents>;

function unreadEvents(workEvents: string, before: LogCursor) {
  const events: WorkEvent[] = [];
  const cursor = readWorkEvents(workEvents, before, (event) => events.push(event));
  return { events, cursor };
}

function fold(state: SessionsState, deps: SessionsDeps, { events, cursor }: Unread): void {
  const { take, touched } = folder(state, deps);
  for (const event of withSlugs(events)) take(event);
  state.cursor = cursor;
  for (const slug of touched) {
    const session = state.sessions[slug];
    if (session !== undefined) syncArtifact(session, deps.area.sessions);
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
