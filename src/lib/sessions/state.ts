import { dirname, join } from 'node:path';

import { StewardError } from '../errors';
import { readBytes, readText, replaceFile, sweepTemps } from '../platform/files/atomic-file';
import { toIso, type Clock } from '../platform/time/clock';
import { ensureFolder } from '../platform/files/folder';
import { withLock } from '../platform/files/lock';
import { rotateRead, type LogCursor } from '../platform/files/journal';
import { artifactOf, artifactPath } from './artifact';
import { folder, type FoldDeps } from './fold';
import { emptySessions, isLive, parseSessions, recordArtifactPhase, recordPhase } from './session';
import type { Session, SessionsState } from './session';
import { MAX_STATE_BYTES, refuseNewer, SESSIONS_VERSION, textNaming } from './state-lines';
import { NOBODY, openText, stateText, type Awake } from './state-text';
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

const DAY_MS = 86_400_000;
const TEMPS_STALE_MS = 3_600_000;
/** Finished sessions leave the state after this; their artifacts stay for ever. */
const PRUNE_AFTER_MS = 30 * DAY_MS;
/** Sessions that were left unfinished, the oldest first, leave it beyond this number. */
const MAX_SESSIONS = 5000;

/**
 * The stored state. A missing or broken file is empty: the log tells it again; `onBroken` gets what no state can
 * be read from, to keep it for a person to look at. A newer format is `config`.
 */
export function readSessions(path: string, onBroken?: (text: string) => void): SessionsState {
  const text = readText(path, { maxBytes: MAX_STATE_BYTES });
  const state = text === undefined ? undefined : parseSessions(text);
  if (state === undefined) {
    if (text !== undefined) onBroken?.(text);
    return emptySessions();
  }
  refuseNewer(state.version, path);
  return state;
}

/** The stored session with this id of the assistant's, or this slug; the others are not parsed. As `readSessions`. */
export function storedSession(path: string, name: string): Session | undefined {
  const text = readText(path, { maxBytes: MAX_STATE_BYTES });
  if (text === undefined) return undefined;
  const state = parseSessions(textNaming(text, name) ?? text);
  if (state === undefined) return undefined;
  refuseNewer(state.version, path);
  return Object.values(state.sessions).find(
    ({ slug, sessionIds }) => slug === name || sessionIds.includes(name),
  );
}

/** The sessions as they are at this moment: the stored state and what the log has beyond it. Writes nothing. */
export function currentSessions(
  deps: Pick<SessionsDeps, 'path' | 'workEvents' | 'sessions' | 'dayOf'>,
): SessionsState {
  const state = readSessions(deps.path);
  fold(state, deps, unreadEvents(deps.workEvents, state.cursor));
  return state;
}

/** The session of a slug, or of the beginning of just one; none is `not_found`, several `usage`. */
export function findSession(state: SessionsState, slug: string): Session {
  const exact = Object.hasOwn(state.sessions, slug) ? state.sessions[slug] : undefined;
  if (exact !== undefined) return exact;
  const alike = Object.values(state.sessions).filter((session) => session.slug.startsWith(slug));
  const [only] = alike;
  if (only !== undefined && alike.length === 1) return only;
  if (only === undefined) {
    throw new StewardError('not_found', `There is no session ${slug}.`, {
      hint: 'See "steward sessions --all" for those there are.',
    });
  }
  throw new StewardError('usage', `${alike.length} sessions begin with ${slug}.`, {
    hint: `Write more of it, such as ${only.slug}.`,
  });
}

/**
 * Brings the log into the state, lets `change` do more, and stores it, one writer at a time. Busy for longer
 * than `waitMs` is `locked`. What is not stored is in the log still: nothing is lost, and nothing counts twice,
 * because the state holds how far into the log it goes. `change` sees the sessions that run or ended since
 * yesterday, those that the log speaks of, and those with one of the `names` (slugs or ids of the assistant's);
 * `isKnown` tells of any slug whether a session has it.
 */
export async function updateSessions<T>(
  deps: SessionsDeps,
  waitMs: number,
  names: readonly string[],
  change: (state: SessionsState, isKnown: (slug: string) => boolean) => T,
): Promise<T> {
  const { clock, machineId } = deps;
  const lock = join(deps.locks, 'sessions.lock');
  return withLock(lock, { clock, machineId, waitMs }, () => {
    ensureFolder(dirname(deps.path));
    const nowMs = clock.now();
    const { state, asleep } = brought(deps, names, nowMs);
    const result = change(state, (slug) => asleep.has(slug) || Object.hasOwn(state.sessions, slug));
    if (asleep.isEmpty) {
      if (state.pruned !== utcDay(nowMs)) sweepTemps(dirname(deps.path), TEMPS_STALE_MS, nowMs);
      prune(state, nowMs);
      state.pruned = utcDay(nowMs);
    }
    // The log tells again what a crash of the machine takes: no name need be durable, and the live part not at all.
    replaceFile(deps.path, stateText(state, asleep), { sync: 'content' });
    replaceFile(deps.livePath, stateText(livePart(state, nowMs)), { sync: false });
    rotateRead({ path: deps.workEvents }, WORK_EVENTS_ROTATE_BYTES);
    return Promise.resolve(result);
  });
}

/** The state with the log in it; once a day with every session, to look for those that are to be forgotten. */
function brought(deps: SessionsDeps, names: readonly string[], nowMs: number): Awake {
  const bytes = readBytes(deps.path, { maxBytes: MAX_STATE_BYTES });
  const open = bytes === undefined ? undefined : openText(bytes);
  if (open?.head.pruned === utcDay(nowMs) && open.head.version === SESSIONS_VERSION) {
    const unread = unreadEvents(deps.workEvents, open.head.cursor);
    const said = unread.events.flatMap(({ session, slug }) => (slug === null ? [session] : [session, slug]));
    const awake = open.wake([...names, ...said], nowMs);
    if (awake !== undefined) {
      const touched = fold(awake.state, deps, unread);
      // A new session with the name of an old one has to meet it.
      if (![...touched].some((slug) => awake.asleep.has(slug))) return awake;
    }
  }
  const state = readSessions(deps.path, (broken) => replaceFile(`${deps.path}.broken`, broken));
  fold(state, deps, unreadEvents(deps.workEvents, state.cursor));
  return { state, asleep: NOBODY };
}

interface Unread {
  events: readonly WorkEvent[];
  cursor: LogCursor;
}

function unreadEvents(workEvents: string, cursor: LogCursor): Unread {
  const events: WorkEvent[] = [];
  const next = readWorkEvents(workEvents, cursor, (event) => events.push(event));
  return { events, cursor: next ?? cursor };
}

/**
 * Brings events into the state, and reads the artifacts of the sessions that something happened in: what they
 * say stands in the state, the phase with the source `artifact` (service.md: the artifact-sync hook). Gives their
 * slugs.
 */
function fold(
  state: SessionsState,
  deps: Pick<SessionsDeps, 'sessions' | 'dayOf'>,
  { events, cursor }: Unread,
): ReadonlySet<string> {
  const { take, touched } = folder(state, deps);
  for (const event of events) take(event);
  state.cursor = cursor;
  for (const slug of touched) {
    const session = state.sessions[slug];
    if (session !== undefined) syncArtifact(session, deps.sessions);
  }
  return touched;
}

function utcDay(nowMs: number): string {
  return toIso(nowMs).slice(0, 10);
}

function syncArtifact(session: Session, sessions: string): void {
  const artifact = artifactOf(sessions, session.slug);
  if (artifact === undefined) return;
  session.artifact = artifactPath(sessions, session.slug);
  session.mode = artifact.mode;
  session.task = artifact.task ?? session.task;
  session.project = artifact.project ?? session.project;
  session.effort = artifact.effort ?? session.effort;
  session.github_issue = artifact.github_issue ?? session.github_issue;
  session.github_issue_url = artifact.github_issue_url ?? session.github_issue_url;
  if (artifact.phase !== null) recordArtifactPhase(session, artifact.phase, session.updatedAt);
  else if (session.phase === 'native' && artifact.mode === 'algorithm') {
    recordPhase(session, 'starting', 'artifact', session.updatedAt);
  }
}

function prune(state: SessionsState, nowMs: number): void {
  const age = (session: Session): number => nowMs - Date.parse(session.updatedAt);
  const isOver = (session: Session): boolean =>
    session.phase === 'complete' || (session.artifact === null && !isLive(session, nowMs));
  for (const session of Object.values(state.sessions)) {
    if (isOver(session) && age(session) > PRUNE_AFTER_MS) delete state.sessions[session.slug];
  }
  const left = Object.values(state.sessions);
  if (left.length <= MAX_SESSIONS) return;
  const oldest = left.filter((session) => !isLive(session, nowMs)).sort((a, b) => age(b) - age(a));
  for (const { slug } of oldest.slice(0, left.length - MAX_SESSIONS)) delete state.sessions[slug];
}

/** Of each session that runs, what a line of status needs; of the history the last entry. */
function livePart(state: SessionsState, nowMs: number): SessionsState {
  const live = Object.values(state.sessions).filter((session) => isLive(session, nowMs));
  return {
    ...state,
    sessions: Object.fromEntries(
      live.map((session) => [session.slug, { ...session, phaseHistory: session.phaseHistory.slice(-1) }]),
    ),
  };
}
