import { parentsOf } from '../platform/process/own-terminal';
import type { SessionTerminal } from '../sessions/work-events';
import { readFrontApp } from './front-app';
import type { Desktop, FrontApp } from './front-app/adapter';
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

/** Returns your presence at the computer. `front` means that the terminal application has the focus. */
export async function readPresence(
  desktop: Desktop,
  terminal: SessionTerminal | null,
): Promise<'unknown' | 'away' | 'desk' | 'front'> {
  const [idle, front] = await Promise.all([readIdle(desktop), readFrontApp(desktop)]);
  const isIdleKnown = !('unknown' in idle);
  if (isIdleKnown && (idle.locked === true || (idle.idleMs ?? 0) >= AWAY_MS)) return 'away';
  if (front.state !== 'seen') return isIdleKnown ? 'desk' : 'unknown';
  return terminal !== null && isTerminal(front.app, terminal) ? 'front' : 'desk';
}

function isTerminal(app: FrontApp, { pid, program }: SessionTerminal): boolean {
  if (pid !== null && app.pid !== undefined && [pid, ...parentsOf(pid)].includes(app.pid)) return true;
  const names = program === null ? [] : (APP_NAMES[program] ?? [normalize(program)]);
  return [app.app, app.bundleId?.split('.').pop() ?? ''].some((name) => names.includes(normalize(name)));
}

function normalize(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}
