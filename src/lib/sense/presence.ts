import { throwIfBug } from '../errors';
import { parentsOf } from '../platform/process/own-terminal';
import { lastTerminalInput } from '../sessions/terminal-input';
import type { SessionTerminal } from '../sessions/work-events';
import { readFrontApp } from './front-app';
import { isWayland, x11Display, type Desktop, type FrontApp } from './front-app/adapter';
import { readIdle } from './idle';

/** Time without input after which you count as away. */
const AWAY_MS = 60_000;

/**
 * Application names by the value of TERM_PROGRAM. The lists for tmux and screen are empty, because both run
 * in any terminal.
 */
const APP_NAMES: Readonly<Record<string, readonly string[]>> = {
  Apple_Terminal: ['terminal'],
  'iTerm.app': ['iterm', 'iterm2'],
  vscode: ['code', 'vscode', 'visualstudiocode'],
  tmux: [],
  screen: [],
};

/**
 * Returns your presence at the computer, by the desktop and by your input at terminals, also over ssh. `front`
 * means that you see the terminal: it has the focus, and you typed in no other one.
 */
export async function readPresence(desktop: Desktop, terminal: SessionTerminal | null, nowMs: number) {
  const [idle, front, input] = await Promise.all([
    readIdle(desktop),
    readFrontApp(desktop),
    // A program that doesn't answer must not cost you an alert.
    lastTerminalInput(desktop).catch((error: unknown) => void throwIfBug(error)),
  ]);
  const { idleMs, locked } = 'unknown' in idle ? {} : idle;
  const isSeen = front.state === 'seen';
  const isInFront = isSeen && terminal !== null && isTerminal(front.app, terminal);
  if (locked === true) return 'away';
  if (input !== undefined && nowMs - input.atMs < AWAY_MS) {
    const isThere = input.pane === terminal?.tty;
    return (isThere && !isSeen) || (isInFront && (isThere || terminal.tty === null)) ? 'front' : 'desk';
  }
  if (idleMs !== undefined && idleMs >= AWAY_MS) return 'away';
  if (isSeen) return isInFront ? 'front' : 'desk';
  if (idleMs !== undefined) return 'desk';
  // Without a desktop, you are away if you typed at no terminal.
  const hasDesktop = x11Display(desktop) !== undefined || isWayland(desktop);
  return input === undefined || hasDesktop ? 'unknown' : 'away';
}

function isTerminal(app: FrontApp, { pid, program }: SessionTerminal): boolean {
  if (pid !== null && app.pid !== undefined && [pid, ...parentsOf(pid)].includes(app.pid)) return true;
  const names = program === null ? [] : (APP_NAMES[program] ?? [normalize(program)]);
  return [app.app, app.bundleId?.split('.').pop() ?? ''].some((name) => names.includes(normalize(name)));
}

function normalize(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}
