import { writeToTerminal } from '../platform/process/own-terminal';
import { toIso } from '../platform/time/clock';
import { type PhaseId, phase, phaseNamed, tabTitle } from '../sessions/phases';
import { type Session, type SessionsState, recordPhase } from '../sessions/session';
import { type SessionsDeps, updateSessions } from '../sessions/state';
import type { SessionTerminal } from '../sessions/work-events';

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

/**
 * Sets title and colour of the tab that a session runs in (service.md: Session phase): only strings of the phase
 * table, and only on a terminal that still is the one the session began on (decisions.md 9). False when it was
 * not written.
 */
export function setTab(terminal: SessionTerminal | null, id: PhaseId): boolean {
  const { tty, pid, started } = terminal ?? {};
  if (typeof tty !== 'string' || typeof pid !== 'number' || typeof started !== 'string') return false;
  return writeToTerminal({ tty, pid, started }, tabSequence(id, terminal));
}

/** OSC 0 is understood everywhere; the colour of a tab has a sequence where the terminal is known to take it. */
export function tabSequence(
  id: PhaseId,
  terminal: Pick<SessionTerminal, 'program' | 'kittySocket'> | null,
): string {
  const title = `\u001b]0;${tabTitle(id)}\u0007`;
  const { program, kittySocket } = terminal ?? { program: null, kittySocket: null };
  if (program === 'iTerm.app') return title + iTermColor(phase(id).color);
  // kitty gives itself no name; within another terminal of those its socket is inherited, and the tab is not its own.
  const isKitty = program === null && kittySocket !== null;
  return isKitty ? title + kittyColor(phase(id).color) : title;
}

/**
 * A command of kitty's remote control, said on the terminal itself: so it is that window's tab, and no other. A kitty
 * that takes no commands there passes it over without a word.
 */
function kittyColor(color: string): string {
  const background = Number.parseInt(color.slice(1), 16);
  const command = {
    cmd: 'set-tab-color',
    version: [0, 20, 0],
    no_response: true,
    payload: { self: true, colors: { active_bg: background, inactive_bg: background } },
  };
  return `\u001bP@kitty-cmd${JSON.stringify(command)}\u001b\\`;
}

function iTermColor(color: string): string {
  return ['red', 'green', 'blue']
    .map((name, index) => [name, Number.parseInt(color.slice(1 + index * 2, 3 + index * 2), 16)] as const)
    .map(([name, value]) => `\u001b]6;1;bg;${name};brightness;${value}\u0007`)
    .join('');
}
