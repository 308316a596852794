import { lstatOf } from '../platform/files/folder';
import { entriesIn } from '../platform/files/stat';
import { type Artifact, artifactOf, artifactPath } from './artifact';
import type { PhaseId } from './phases';
import { type Session, type SessionsState, isLive } from './session';
import { idOfKey } from './session-key';
import { isSlug } from './slug';

/** A session file that no hook has reported, for example because a shell command created the file. */
export interface UnseenArtifact {
  slug: string;
  phase: PhaseId | null;
}

/** Some file systems store modification times with a resolution of only two seconds. */
const COARSE_MS = 2000;

/**
 * Returns the new session file with this session's id. If there is none, returns the only new file without a
 * session id, unless another session may have written that file.
 * @param isKnown returns whether any session has this slug
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
    else if (session.sessionIds.some((id) => idOfKey(id) === found.session)) return found;
  }
  const [only] = free;
  if (only === undefined || free.length > 1) return undefined;
  const withoutFile = Object.values(state.sessions).filter(
    (other) => other !== session && other.artifact === null,
  );
  return withoutFile.some((other) => wasAtWork(other, only.atMs)) ? undefined : only;
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

/** Returns whether the session may have been working at this time. */
export function wasAtWork(session: Session, atMs: number): boolean {
  if (session.turnAt === null || Date.parse(session.turnAt) - COARSE_MS > atMs) return false;
  const isStill = session.activity === 'working' && isLive(session, atMs);
  return isStill || Date.parse(session.updatedAt) + COARSE_MS >= atMs;
}

/**
 * Returns whether a session file may belong to a restricted session. If the file identifies no session,
 * checks the sessions that were working when it was written.
 * @param found the session file and the time when it was written
 */
export function isRestrictedWork(
  state: Pick<SessionsState, 'sessions'>,
  found: { slug: string; artifact: Pick<Artifact, 'session'>; atMs: number },
): boolean {
  const all = Object.values(state.sessions);
  const { session: id } = found.artifact;
  const own = state.sessions[found.slug];
  const named =
    id === null ? undefined : all.find(({ sessionIds }) => sessionIds.some((key) => idOfKey(key) === id));
  if (own !== undefined || id !== null) return own?.restricted === true || named?.restricted === true;
  return all.some((one) => one.restricted === true && one.artifact === null && wasAtWork(one, found.atMs));
}
