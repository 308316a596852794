import { dirname } from 'node:path';

import type { UserArea } from '../config/user-area';
import { lstatOf } from '../platform/files/folder';
import { entriesIn } from '../platform/files/stat';
import { artifactOf, artifactPath } from './artifact';
import type { PhaseId } from './phases';
import { markRestricted } from './restricted';
import { type Session, type SessionsState, isLive } from './session';
import { idOfKey } from './session-key';
import { isNameless, isSlug } from './slug';

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
  area: Pick<UserArea, 'sessions'>,
  state: SessionsState,
  session: Session,
  isKnown: (slug: string) => boolean,
): UnseenArtifact | undefined {
  if (session.artifact !== null || lstatOf(artifactPath(area.sessions, session.slug))?.isFile === true)
    return undefined;
  const found = newFiles(area, turnStart(session)).filter(({ slug }) => !isKnown(slug));
  const own = found.find((file) => names(file, session));
  if (own !== undefined) return own;
  const [only, ...more] = found.filter((file) => file.session === null);
  if (only === undefined || more.length > 0) return undefined;
  const withoutFile = Object.values(state.sessions).filter(
    (other) => other !== session && other.artifact === null,
  );
  return withoutFile.some((other) => wasAtWork(other, only.atMs)) ? undefined : only;
}

/**
 * Restricts the session files since `sinceMs` that name a restricted session, or that name none and may be from
 * a restricted session.
 */
export function restrictUnseen(
  area: Pick<UserArea, 'sessions'>,
  sessions: Readonly<Record<string, Session>>,
  sinceMs: number,
): void {
  const nameless = Object.values(sessions).filter(({ slug }) => isNameless(slug));
  if (nameless.length === 0) return;
  for (const file of newFiles(area, sinceMs)) {
    const isFree = file.session === null && !Object.hasOwn(sessions, file.slug);
    if (nameless.some((one) => names(file, one) || (isFree && wasAtWork(one, file.atMs))))
      markRestricted(dirname(artifactPath(area.sessions, file.slug)));
  }
}

function newFiles({ sessions }: Pick<UserArea, 'sessions'>, sinceMs: number): Written[] {
  return entriesIn(sessions)
    .filter(({ name, isFolder }) => isFolder && isSlug(name))
    .flatMap(({ name }) => written(sessions, name, sinceMs) ?? []);
}

/** Returns the earliest modification time of what the session wrote in its turn. */
export function turnStart({ turnAt, startedAt }: Session): number {
  return Date.parse(turnAt ?? startedAt) - COARSE_MS;
}

function names(file: Written, { sessionIds }: Session): boolean {
  return sessionIds.some((id) => idOfKey(id) === file.session);
}

interface Written extends UnseenArtifact {
  session: string | null;
  atMs: number;
}

function written(sessions: string, slug: string, sinceMs: number): Written | undefined {
  const facts = lstatOf(artifactPath(sessions, slug));
  if (facts?.isFile !== true || facts.mtimeMs < sinceMs) return undefined;
  const artifact = artifactOf(sessions, slug);
  if (artifact === undefined) return undefined;
  return { slug, phase: artifact.phase, session: artifact.session, atMs: facts.mtimeMs };
}

/** Returns whether the session may have been working at this time. */
function wasAtWork(session: Session, atMs: number): boolean {
  if (session.turnAt === null || Date.parse(session.turnAt) - COARSE_MS > atMs) return false;
  const isStill = session.activity === 'working' && isLive(session, atMs);
  return isStill || Date.parse(session.updatedAt) + COARSE_MS >= atMs;
}
