import type { Artifact } from './artifact';
import type { SessionsState } from './session';
import { wasAtWork } from './unseen-artifact';

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
