import { toIso } from '../platform/time/clock';
import { phaseNamed, type PhaseId } from '../sessions/phases';
import { recordPhase, type Session, type SessionsState } from '../sessions/session';
import { updateSessions, type SessionsDeps } from '../sessions/state';
import { setTab } from './terminal-tab';

export interface PhaseDeps {
  sessions: SessionsDeps;
  /** May the terminal's tab be set? */
  tab: boolean;
}

/** What came of a phase: written, or why not. */
export type PhaseWritten =
  | { written: true; slug: string; phase: PhaseId; tab: boolean }
  | { written: false; why: 'no session' | 'unknown' };

/** Without a slug, the session of the last two hours (service.md: Limits). */
const WINDOW_MS = 2 * 3_600_000;
const LOCK_WAIT_MS = 15_000;

/**
 * The three writes of a phase (service.md: Session phase; decisions.md 5): an entry of `phaseHistory` with the
 * source `voice`, or `merged` where another source has said the same; the session's phase; and the tab of its
 * terminal. For the session of `slug`, else for the one that was updated last, is not complete and is younger
 * than two hours. A state that is busy for long is `locked`.
 */
export async function writePhase(
  deps: PhaseDeps,
  name: string,
  slug: string | undefined,
): Promise<PhaseWritten> {
  const found = phaseNamed(name);
  if (found === undefined) return { written: false, why: 'unknown' };
  const { clock, machineId } = deps.sessions;
  const names = slug === undefined ? [] : [slug];
  const session = await updateSessions(deps.sessions, LOCK_WAIT_MS, names, (state) => {
    const nowMs = clock.now();
    const target = sessionFor(state, slug, nowMs);
    if (target === undefined) return undefined;
    const at = toIso(nowMs);
    recordPhase(target, found.id, 'voice', at);
    if (target.updatedAt < at) target.updatedAt = at;
    return target;
  });
  if (session === undefined) return { written: false, why: 'no session' };
  const tab = deps.tab && session.machine === machineId && setTab(session.terminal, found.id);
  return { written: true, slug: session.slug, phase: found.id, tab };
}

/** Times ahead of the clock were written before it was put back. */
function sessionFor(state: SessionsState, slug: string | undefined, nowMs: number): Session | undefined {
  if (slug !== undefined) return Object.hasOwn(state.sessions, slug) ? state.sessions[slug] : undefined;
  return Object.values(state.sessions)
    .filter(({ phase, updatedAt }) => phase !== 'complete' && nowMs - Date.parse(updatedAt) < WINDOW_MS)
    .sort((a, b) => Date.parse(b.updatedAt) - Date.parse(a.updatedAt))[0];
}
