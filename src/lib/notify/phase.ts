import { StewardError } from '../errors';
import { writeToTerminal } from '../platform/process/own-terminal';
import { toIso } from '../platform/time/clock';
import { PHASES, phase, phaseNamed, tabTitle, type PhaseId } from '../sessions/phases';
import { recordPhase, type Session, type SessionsState } from '../sessions/session';
import { updateSessions, type SessionsDeps } from '../sessions/state';
import type { SessionTerminal } from '../sessions/work-events';

export interface PhaseDeps {
  sessions: SessionsDeps;
  /** Whether to set the terminal tab's title. */
  tab: boolean;
}

export type PhaseWritten =
  | { written: true; slug: string; phase: PhaseId; tab: boolean }
  | { written: false; why: 'no session' | 'unknown' };

const WINDOW_MS = 2 * 3_600_000;
const LOCK_WAIT_MS = 15_000;

/**
 * Writes a phase to a session's history and terminal tab. The default session is the latest incomplete session
 * of the last two hours. Throws `locked` if another process holds the lock.
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

function sessionFor(state: SessionsState, slug: string | undefined, nowMs: number): Session | undefined {
  if (slug !== undefined) return Object.hasOwn(state.sessions, slug) ? state.sessions[slug] : undefined;
  return Object.values(state.sessions)
    .filter(({ phase, updatedAt }) => phase !== 'complete' && nowMs - Date.parse(updatedAt) < WINDOW_MS)
    .sort((a, b) => Date.parse(b.updatedAt) - Date.parse(a.updatedAt))[0];
}

/**
 * Returns a function that writes phases one at a time, in order, and returns the reason if a write fails.
 * Unexpected errors go to `report`.
 */
export function phaseEffect(
  open: () => Promise<PhaseDeps>,
  report: (error: unknown) => void,
): (name: string, slug: string | undefined) => Promise<string | undefined> {
  let last: Promise<unknown> = Promise.resolve();
  const write = async (name: string, slug: string | undefined): Promise<string | undefined> => {
    try {
      const result = await writePhase(await open(), name, slug);
      return result.written ? undefined : result.why;
    } catch (error) {
      report(error);
      return 'not written';
    }
  };
  return (name, slug) => {
    const written = last.then(() => write(name, slug));
    last = written;
    return written;
  };
}

/**
 * Runs `steward notify phase`. Throws `usage` for an unknown phase, and `not_found` for a missing session.
 */
export async function setPhase(
  deps: PhaseDeps,
  name: string,
  slug: string | undefined,
): Promise<Extract<PhaseWritten, { written: true }>> {
  const result = await writePhase(deps, name, slug);
  if (result.written) return result;
  if (result.why === 'unknown') {
    const hint = `Use ${PHASES.map(({ id }) => id).join(', ')}.`;
    throw new StewardError('usage', `Unknown phase "${name}".`, { hint });
  }
  const message =
    slug === undefined ? 'No session was active in the last two hours.' : `Session ${slug} not found.`;
  throw new StewardError('not_found', message, {
    hint: 'List the sessions with `steward sessions --all`, and choose one with --slug.',
  });
}

/** Sets the tab's title and color if the session's process still owns the terminal. */
function setTab(terminal: SessionTerminal | null, id: PhaseId): boolean {
  const { tty, pid, started } = terminal ?? {};
  if (typeof tty !== 'string' || typeof pid !== 'number' || typeof started !== 'string') return false;
  return writeToTerminal({ tty, pid, started }, tabSequence(id, terminal));
}

/** Returns the escape sequence that sets the title (OSC 0) and, if the terminal supports it, the color. */
export function tabSequence(id: PhaseId, terminal: Pick<SessionTerminal, 'program' | 'kittySocket'> | null) {
  const title = `\u001b]0;${tabTitle(id)}\u0007`;
  const { program, kittySocket } = terminal ?? { program: null, kittySocket: null };
  const rgb = Number.parseInt(phase(id).color.slice(1), 16);
  if (program === 'iTerm.app') return title + iTermColor(rgb);
  // kitty doesn't set TERM_PROGRAM. If the variable is set, another terminal inherited kitty's environment.
  return program === null && kittySocket !== null ? title + kittyColor(rgb) : title;
}

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
