import { StewardError } from '../errors';
import { writeToTerminal } from '../platform/process/own-terminal';
import { toIso } from '../platform/time/clock';
import { PHASES, phase, phaseNamed, tabTitle, type PhaseId } from '../sessions/phases';
import { recordPhase, type Session, type SessionsState } from '../sessions/session';
import { updateSessions, type SessionsDeps } from '../sessions/state';
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

/** Without a slug, the session of the last two hours. */
const WINDOW_MS = 2 * 3_600_000;
const LOCK_WAIT_MS = 15_000;

/**
 * The three writes of a phase: an entry of `phaseHistory` with the source `voice`, or `merged` where another source has
 * said the same; the session's phase; and the tab of its terminal. For the session of `slug`, else for the one that was
 * updated last, is not complete and is younger than two hours. A state that is busy for long is `locked`.
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

/** Times ahead of the clock were written before it moved back. */
function sessionFor(state: SessionsState, slug: string | undefined, nowMs: number): Session | undefined {
  if (slug !== undefined) return Object.hasOwn(state.sessions, slug) ? state.sessions[slug] : undefined;
  return Object.values(state.sessions)
    .filter(({ phase, updatedAt }) => phase !== 'complete' && nowMs - Date.parse(updatedAt) < WINDOW_MS)
    .sort((a, b) => Date.parse(b.updatedAt) - Date.parse(a.updatedAt))[0];
}

/**
 * The effect of a notification's phase: one after the other in this process, so that the last one asked for is the last
 * one written. Says in a word what did not happen, and tells `report` of unexpected errors.
 */
export function phaseEffect(
  open: () => Promise<PhaseDeps>,
  report: (error: unknown) => void,
): (name: string, slug: string | undefined) => Promise<string | undefined> {
  let before: Promise<unknown> = Promise.resolve();
  const effect = async (name: string, slug: string | undefined): Promise<string | undefined> => {
    try {
      const result = await writePhase(await open(), name, slug);
      return result.written ? undefined : result.why;
    } catch (error) {
      report(error);
      return 'not written';
    }
  };
  return (name, slug) => {
    const mine = before.then(() => effect(name, slug));
    before = mine;
    return mine;
  };
}

/** `steward notify phase`: an unknown phase is `usage`, no session to write it to `not_found`. */
export async function setPhase(
  deps: PhaseDeps,
  name: string,
  slug: string | undefined,
): Promise<Extract<PhaseWritten, { written: true }>> {
  const result = await writePhase(deps, name, slug);
  if (result.written) return result;
  if (result.why === 'unknown') {
    const hint = `The phases are ${PHASES.map(({ id }) => id).join(', ')}.`;
    throw new StewardError('usage', `"${name}" is no phase.`, { hint });
  }
  const none =
    slug === undefined ? 'No session was active in the last two hours.' : `There is no session ${slug}.`;
  throw new StewardError('not_found', none, { hint: 'See "steward sessions --all"; name one with --slug.' });
}

/** Sets title and colour of the tab, only on a terminal that still is the one the session began on. */
function setTab(terminal: SessionTerminal | null, id: PhaseId): boolean {
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
  const rgb = Number.parseInt(phase(id).color.slice(1), 16);
  if (program === 'iTerm.app') return title + iTermColor(rgb);
  // kitty gives itself no name; within another terminal of those its socket is inherited, and the tab is not its own.
  return program === null && kittySocket !== null ? title + kittyColor(rgb) : title;
}

/**
 * A command of kitty's remote control, said on the terminal itself: so it is that window's tab, and no other. A kitty
 * that takes no commands there ignores it.
 */
function kittyColor(rgb: number): string {
  const payload = { self: true, colors: { active_bg: rgb, inactive_bg: rgb } };
  const command = { cmd: 'set-tab-color', version: [0, 20, 0], no_response: true, payload };
  return `\u001bP@kitty-cmd${JSON.stringify(command)}\u001b\\`;
}

function iTermColor(rgb: number): string {
  const parts = { red: rgb >> 16, green: (rgb >> 8) & 255, blue: rgb & 255 };
  return Object.entries(parts)
    .map(([name, value]) => `\u001b]6;1;bg;${name};brightness;${value}\u0007`)
    .join('');
}
