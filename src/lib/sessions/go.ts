import { StewardError } from '../errors';
import { namesOf } from './describe';
import { findSession, liveSessions, hasWords, matchingSessions, nthSession } from './find';
import { type GoDeps, goToSession, placesOf, type Went } from './jump';
import { rowsOf, type SessionRow } from './rows';
import type { SessionsDeps } from './state';
import { sessionsNow } from './turn-signs';

/**
 * Brings a session's terminal to the front. `choose` asks the user to pick one of several matching sessions,
 * and returns undefined in non-interactive mode.
 */
export async function goNow(
  deps: SessionsDeps,
  jump: GoDeps,
  wanted: string | undefined,
  choose: (rows: readonly SessionRow[]) => Promise<number | undefined>,
): Promise<Went> {
  const nowMs = deps.clock.now();
  const state = sessionsNow(deps);
  const live = liveSessions(state, nowMs);
  if (wanted === undefined) throw nowhere(live.length);
  const nth = nthSession(live, wanted);
  const found = nth === undefined ? matchingSessions(live, wanted) : [nth];
  const rowsNow = async (): Promise<SessionRow[]> => {
    const rows = rowsOf(live, { nowMs, places: await placesOf(jump, found) });
    return found.flatMap(({ slug }) => rows.filter((row) => row.slug === slug));
  };
  const index = found.length > 1 ? await choose(await rowsNow()) : 0;
  const session = found[index ?? -1] ?? findSession(state, wanted, nowMs);
  return goToSession(
    jump,
    session,
    namesOf([...new Set([...live, session])]).get(session.slug) ?? session.slug,
  );
}

/** Returns another machine's session by its number, which follows this machine's, or by words that none here has. */
export function elsewhereNamed(deps: SessionsDeps, rows: readonly SessionRow[], wanted = '') {
  const live = liveSessions(sessionsNow(deps), deps.clock.now());
  if (/^\d+$/.test(wanted)) return rows[Number(wanted) - live.length - 1];
  const exact = rows.find(({ slug, name }) => [slug, name].includes(wanted));
  if (exact !== undefined || matchingSessions(live, wanted).length > 0) return exact;
  return rows.find(({ name }) => hasWords([name], wanted));
}

function nowhere(live: number): StewardError {
  const message = live === 0 ? 'No sessions are running.' : 'No session is waiting for you.';
  const hint = 'If sessions are missing, run "steward install hooks".';
  return new StewardError('not_found', message, { hint });
}
