import { StewardError } from '../errors';
import { clean } from '../platform/terminal/terminal';
import { distinctNameOf, labelOf, namesOf } from './describe';
import { isLive, type Session, type SessionsState } from './session';
import { orderOfSessions } from './rows';

/**
 * Returns the session at a 1-based position, or undefined if `text` isn't a whole number. Throws `not_found`
 * if there are fewer sessions.
 */
export function nthSession(sessions: readonly Session[], text: string): Session | undefined {
  if (!/^\d+$/.test(text)) return undefined;
  const session = sessions[Number(text) - 1];
  if (session !== undefined) return session;
  throw new StewardError('not_found', `Session ${text.slice(0, 20)} not found.`, {
    hint: 'Run "steward sessions" to list the sessions.',
  });
}

/**
 * Finds sessions by slug or name. If none match, finds sessions whose repository, branch, worktree, name and
 * slug together contain every word. For example, `shop login` finds `shop·login`.
 */
export function matchingSessions(sessions: readonly Session[], text: string): Session[] {
  const exact = sessions.filter((session) =>
    [session.slug, labelOf(session), distinctNameOf(session)].includes(text),
  );
  if (exact.length > 0) return exact;
  return sessions.filter(({ slug, repo, branch, worktree, givenName }) =>
    hasWords([slug, repo, branch, worktree, givenName], text),
  );
}

/** Returns the running sessions in the order of `steward sessions`. */
export function liveSessions({ sessions }: Pick<SessionsState, 'sessions'>, nowMs: number): Session[] {
  return Object.values(sessions).filter((session) => isLive(session, nowMs)).sort(orderOfSessions(nowMs)); // prettier-ignore
}

/** Returns whether there are words in a text, and the parts together contain each of them. */
export function hasWords(parts: readonly (string | null | undefined)[], text: string): boolean {
  const all = parts.join('\n').toLowerCase();
  const words = text.toLowerCase().split(/[\s·]+/).filter((word) => word !== ''); // prettier-ignore
  return words.length > 0 && words.every((word) => all.includes(word));
}

/**
 * Finds a session by its number in `steward sessions`, or by text, preferring running sessions. Throws
 * `not_found` if none matches, or `usage` if several match.
 */
export function findSession(state: Pick<SessionsState, 'sessions'>, text: string, nowMs: number): Session {
  const all = Object.values(state.sessions);
  const live = liveSessions(state, nowMs);
  const nth = nthSession(live, text);
  if (nth !== undefined) return nth;
  const found = matchingSessions(all, text);
  const running = found.filter((session) => live.includes(session));
  const several = found.length > 1 && running.length > 0 ? running : found;
  const [session, ...more] = several;
  if (session !== undefined && more.length === 0) return session;
  if (session === undefined) {
    throw new StewardError('not_found', `Session "${clean(text)}" not found.`, {
      hint: 'Run "steward sessions --all" to list the sessions.',
    });
  }
  const names = namesOf(running.length > 0 ? live : all);
  const lines = several.map(({ slug }) => `${slug}  ${clean(names.get(slug) ?? '')}`);
  throw new StewardError('usage', `"${clean(text)}" matches ${several.length} sessions.`, {
    hint: firstOf(lines, 'steward sessions --all'),
  });
}

const MAX_LISTED = 10;

/** Truncates a long list, and appends the number of omitted lines and the command that lists them all. */
export function firstOf(lines: readonly string[], command: string): string {
  const rest = lines.length - MAX_LISTED;
  return [...lines.slice(0, MAX_LISTED), ...(rest > 0 ? [`${rest} more: ${command}`] : [])].join('\n');
}
