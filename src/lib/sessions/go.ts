import { StewardError } from '../errors';
import { clean } from '../platform/terminal/terminal';
import { namesOf } from './describe';
import { firstOf, matchingSessions, nthSession } from './find';
import { orderOfSessions } from './rows';
import { isLive, type Session, type SessionsState } from './session';

export interface Destinations {
  sessions: readonly Session[];
  names: ReadonlyMap<string, string>;
}

export function destinationsOf(state: SessionsState, nowMs: number): Destinations {
  const sessions = Object.values(state.sessions).filter((session) => isLive(session, nowMs));
  if (sessions.length > 0)
    return { sessions: sessions.sort(orderOfSessions(nowMs)), names: namesOf(sessions) };
  throw new StewardError('not_found', 'No sessions are running.', {
    hint: 'If sessions are missing, run "steward install hooks".',
  });
}

/** Returns the sessions that `wanted` selects by number or text. Throws `not_found` if there is none. */
export function chosenSessions({ sessions, names }: Destinations, wanted: string | undefined): Session[] {
  if (wanted === undefined) {
    throw new StewardError('not_found', 'No session is waiting for you.', {
      hint: listOf(sessions, sessions, names),
    });
  }
  const nth = nthSession(sessions, wanted);
  const found = nth === undefined ? matchingSessions(sessions, wanted) : [nth];
  if (found.length > 0) return found;
  throw new StewardError('not_found', `No running session matches "${clean(wanted)}".`, {
    hint: listOf(sessions, sessions, names),
  });
}

/** Returns an error with the list of sessions that match the text. */
export function severalMatch(
  { sessions, names }: Destinations,
  found: readonly Session[],
  wanted: string,
): StewardError {
  return new StewardError('usage', `"${clean(wanted)}" matches ${found.length} sessions.`, {
    hint: listOf(found, sessions, names),
  });
}

function listOf(
  found: readonly Session[],
  all: readonly Session[],
  names: ReadonlyMap<string, string>,
): string {
  const lines = found.map(
    (session) => `steward go ${all.indexOf(session) + 1}    ${names.get(session.slug) ?? session.slug}`,
  );
  return firstOf(lines, 'steward sessions');
}
