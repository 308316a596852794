import { lstatOf } from '../platform/files/folder';
import { entriesIn } from '../platform/files/stat';
import { type Artifact, artifactOf, artifactPath } from './artifact';
import type { PhaseId } from './phases';
import { type Session, type SessionsState, isLive } from './session';
import { isSlug } from './slug';

/** An artifact that a session has made without a tool that names its file, such as a shell. */
export interface UnseenArtifact {
  slug: string;
  phase: PhaseId | null;
}

/** File systems keep times to two seconds at worst. */
const COARSE_MS = 2000;

/**
 * The artifact that this session, which has none, made in its last turn: of the folders that no session is known by,
 * one whose artifact was written since the turn began. One that names this session is its own, one that names another
 * never; one that names nobody, when it is the only one, and no other session without an artifact was at work when
 * it was written. Undefined when there is none, or nothing tells whose it is.
 *
 * @param isKnown has any session this slug?
 */
export function unseenArtifact(
  deps: { sessions: string },
  state: SessionsState,
  session: Session,
  isKnown: (slug: string) => boolean,
): UnseenArtifact | undefined {
  if (session.artifact !== null || hasArtifact(deps.sessions, session.slug)) return undefined;
  const sinceMs = Date.parse(session.turnAt ?? session.startedAt) - COARSE_MS;
  const free: Written[] = [];
  for (const { name, isFolder } of entriesIn(deps.sessions)) {
    if (!isFolder || !isSlug(name)) continue;
    const found = written(deps.sessions, name, sinceMs);
    if (found === undefined || isKnown(name)) continue;
    if (found.session === null) free.push(found);
    else if (session.sessionIds.includes(found.session)) return found;
  }
  const [only] = free;
  if (only === undefined || free.length > 1) return undefined;
  const others = Object.values(state.sessions).filter(
    (other) => other !== session && other.artifact === null,
  );
  return others.some((other) => wasAtWork(other, only.atMs)) ? undefined : only;
}

interface Written extends UnseenArtifact {
  session: string | null;
  atMs: number;
}

function hasArtifact(sessions: string, slug: string): boolean {
  return lstatOf(artifactPath(sessions, slug))?.isFile === true;
}

function written(sessions: string, slug: string, sinceMs: number): Written | undefined {
  const facts = lstatOf(artifactPath(sessions, slug));
  if (facts?.isFile !== true || facts.mtimeMs < sinceMs) return undefined;
  const artifact = artifactOf(sessions, slug);
  if (artifact === undefined) return undefined;
  return { slug, phase: artifact.phase, session: artifact.session, atMs: facts.mtimeMs };
}

/** Did a turn of the session run at this time, wall-clock ms, or may it have? */
export function wasAtWork(session: Session, atMs: number): boolean {
  if (session.turnAt === null || Date.parse(session.turnAt) - COARSE_MS > atMs) return false;
  const isStill = session.activity === 'working' && isLive(session, atMs);
  return isStill || Date.parse(session.updatedAt) + COARSE_MS >= atMs;
}

/**
 * Is an artifact the work of a session that worked in a restricted folder, or may it be? It is known by its slug, or by
 * the session that it names. One that nobody is known by was made without a tool that names its file, such as a shell,
 * in a turn without an end: then it may be of every such session that was at work when it was written.
 *
 * @param found the artifact, and when it was written, wall-clock ms
 */
export function isRestrictedWork(
  state: Pick<SessionsState, 'sessions'>,
  found: { slug: string; artifact: Pick<Artifact, 'session'>; atMs: number },
): boolean {
  const all = Object.values(state.sessions);
  const { session: id } = found.artifact;
  const own = state.sessions[found.slug];
  const named = id === null ? undefined : all.find(({ sessionIds }) => sessionIds.includes(id));
  if (own !== undefined || id !== null) return own?.restricted === true || named?.restricted === true;
  return all.some((one) => one.restricted === true && one.artifact === null && wasAtWork(one, found.atMs));
}
