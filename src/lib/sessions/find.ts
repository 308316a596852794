import { StewardError } from '../errors';
import { clean } from '../platform/terminal/terminal';
import { labelOf } from './describe';
import { isLive, type Session, type SessionsState } from './session';

/**
 * Returns the sessions with this slug or name. If there are none, returns the sessions in which each word
 * occurs in the repository, branch, worktree, name or slug: `shop login` finds `shop·login`.
 */
export function matchingSessions(sessions: readonly Session[], text: string): Session[] {
  const exact = sessions.filter((session) => session.slug === text || labelOf(session) === text);
  if (exact.length > 0) return exact;
  const words = wordsOf(text);
  if (words.length === 0) return [];
  return sessions.filter((session) => {
    const { slug, repo, branch, worktree, givenName } = session;
    const all = [slug, repo, branch, worktree, givenName]
      .map((part) => part ?? '')
      .join('\n')
      .toLowerCase();
    return words.every((word) => all.includes(word));
  });
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().split(/[\s·]+/).filter((word) => word !== ''); // prettier-ignore
}

/**
 * Returns the matching session, preferring running ones. Throws `not_found` if none matches, `usage` if
 * several match.
 */
export function findSession(state: SessionsState, text: string, nowMs: number): Session {
  const found = matchingSessions(Object.values(state.sessions), text);
  const running = found.filter((session) => isLive(session, nowMs));
  const [session, ...more] = found.length > 1 && running.length > 0 ? running : found;
  if (session !== undefined && more.length === 0) return session;
  if (session === undefined) {
    throw new StewardError('not_found', `Session "${clean(text)}" not found.`, {
      hint: 'Run "steward sessions --all" to list them.',
    });
  }
  const several = [session, ...more];
  throw new StewardError('usage', `"${clean(text)}" matches ${several.length} sessions.`, {
    hint: several.slice(0, MAX_LISTED).map((match) => `${match.slug}  ${labelOf(match) ?? ''}`.trimEnd()).join('\n'), // prettier-ignore
  });
}

/** Maximum number of matches in an error message. */
export const MAX_LISTED = 10;
