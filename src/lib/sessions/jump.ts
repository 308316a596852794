import { StewardError, throwIfBug } from '../errors';
import { DEMO_VARIABLE } from '../platform/files/durable';
import { processView, type ProcessView } from '../platform/process/process-view';
import { isCodexDaemon } from '../platform/process/programs';
import { onceEach } from '../platform/process/process';
import { clean } from '../platform/terminal/terminal';
import type { Session } from './session';
import type { HeldTerminal, TabDeps, TabProgram } from './tab';
import { LABELED, TAB_PROGRAMS } from './tab-programs';
import type { TerminalDeps } from './terminals';

const LIST_SESSIONS = 'Run "steward sessions" to list the running sessions.';

export interface GoDeps extends TerminalDeps {
  platform: NodeJS.Platform;
  machineId: string;
}

/**
 * Shows the pane or tab in which a session runs. Throws `unavailable`, with the reason, unless exactly one has the
 * terminal that the session's process holds.
 */
export async function goToSession(deps: GoDeps, session: Session, name: string) {
  const { platform, run, env } = deps;
  const view = (): Promise<ProcessView> => processView(platform, run, env);
  const asking = { run, env, processes: await view() };
  const held = heldOrThrow(asking.processes, deps, session, name);
  const { tty } = held;
  const { via, tab } = onlyMatch(await matchesOf(asking, held), `${name} is running on ${tty}`);
  // The device may have passed to another program while the tabs were listed.
  const isHeld = heldOrThrow(await view(), deps, session, name).tty === tty;
  const outer = isHeld && (await tab.focus());
  if (outer === false) throw unavailable(`${name} has left the tab ${tab.target} of ${via}.`, LIST_SESSIONS);
  if (outer !== true) await showOuter(asking, outer);
  return { slug: session.slug, name, via, tty, target: tab.target };
}

export type Went = Awaited<ReturnType<typeof goToSession>>;

/** Shows the terminal in which tmux or herdr runs, if exactly one tab has it. */
async function showOuter(deps: TabDeps, held: HeldTerminal): Promise<void> {
  const [match, ...others] = (await matchesOf(deps, held)).found;
  if (match !== undefined && others.length === 0) await match.tab.focus();
}

/** Finds the tabs that have the held terminal, and why a program that is running doesn't tell. */
async function matchesOf(deps: TabDeps, held: HeldTerminal, programs = TAB_PROGRAMS) {
  const refused: StewardError[] = [];
  const tabsOf = async (program: TabProgram) => {
    try {
      const tabs = await program.list(deps, held);
      return tabs.filter(({ tty }) => tty === held.tty).map((tab) => ({ via: program.id, tab }));
    } catch (error) {
      refused.push(throwIfBug(error));
      return [];
    }
  };
  return { found: (await Promise.all(programs.map(tabsOf))).flat(), refused };
}

function onlyMatch({ found, refused }: Awaited<ReturnType<typeof matchesOf>>, where: string) {
  const [match, ...others] = found;
  if (match === undefined) {
    const [first] = refused;
    const hint =
      first === undefined
        ? 'Start sessions in tmux or herdr, or see docs/sessions.md for the settings of your terminal.'
        : `${first.message} ${first.hint ?? ''}`.trimEnd();
    throw unavailable(`${where}, outside of the programs that steward can ask.`, hint);
  }
  if (others.length === 0) return match;
  const tabs = found.map(({ via, tab }) => `${via} ${clean(tab.target)}`).join(', ');
  throw unavailable(`${where}, which ${found.length} tabs claim to show.`, `Choose one yourself: ${tabs}.`);
}

function unavailable(message: string, hint: string): StewardError {
  return new StewardError('unavailable', message, { hint });
}

/** Returns the terminal that the session's process holds. Throws `unavailable`, with the reason, if it holds none. */
function heldOrThrow(
  processes: ProcessView,
  { platform, machineId, env }: GoDeps,
  session: Session,
  name: string,
): HeldTerminal {
  if (env[DEMO_VARIABLE] !== undefined) {
    const hint = 'Outside the demo, steward go and the button Go show its terminal.';
    throw unavailable(`The demo has no terminal for ${name}.`, hint);
  }
  if (session.machine !== null && session.machine !== machineId) {
    throw unavailable(`${name} is running on another machine.`, 'Run "steward go" there.');
  }
  const held = heldBy(processes, session);
  if (held !== undefined) return held;
  const tty = session.terminal?.tty ?? undefined;
  if (tty !== undefined) throw unavailable(`${name} is no longer running on ${tty}.`, LIST_SESSIONS);
  throw unavailable(`The terminal for ${name} is unknown.`, whyUnknown(platform, session));
}

/** Returns why the terminal of a session is unknown, and what to do. */
function whyUnknown(platform: NodeJS.Platform, { terminal, process: mark }: Session): string {
  if (platform === 'darwin') return 'Its process has ended, or runs outside of a terminal.';
  if (platform !== 'linux') return 'steward finds terminals only on Linux and macOS.';
  if (terminal === null)
    return 'steward was not told when the session started. The next session will have one.';
  if (isCodexDaemon(mark?.pid)) {
    return 'Codex runs the session in the background, and steward cannot tell which of its windows shows it. Open it with "codex resume" and its id.';
  }
  return 'The session was started outside of a terminal, for example by an editor.';
}

/** Returns the terminal, if the session's process still runs on it. On macOS, only the process is recorded. */
function heldBy(processes: ProcessView, { terminal, process: caller }: Session): HeldTerminal | undefined {
  const mark = typeof terminal?.pid === 'number' ? terminal : caller;
  const pid = mark?.pid ?? undefined;
  const now = pid === undefined ? undefined : processes.of(pid);
  if (pid === undefined || now?.tty === undefined || now.started !== mark?.started) return undefined;
  if (now.tty !== (terminal?.tty ?? now.tty)) return undefined;
  return { tty: now.tty, pid, kittySocket: terminal?.kittySocket ?? null };
}

/**
 * Maps each session's slug to its place: `work:2` in tmux, the pane in herdr, or the tab's title in kitty. Omits
 * sessions without a terminal, and those that no program or several programs show.
 */
export async function placesOf(deps: GoDeps, sessions: readonly Session[]): Promise<Map<string, string>> {
  const { platform, run, env, machineId } = deps;
  const asking = { run: onceEach(run), env, processes: await processView(platform, run, env) };
  const places = new Map<string, string>();
  for (const session of sessions) {
    const held = heldBy(asking.processes, session);
    if (session.machine !== machineId || held === undefined) continue;
    const [match, ...others] = (await matchesOf(asking, held, LABELED)).found;
    const label = match?.tab.label;
    if (label !== undefined && others.length === 0) places.set(session.slug, clean(label));
  }
  return places;
}
