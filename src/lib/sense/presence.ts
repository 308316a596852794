import { parentsOf } from '../platform/process/own-terminal';
import type { SessionTerminal } from '../sessions/work-events';
import { readFrontApp } from './front-app';
import type { Desktop, FrontApp } from './front-app/adapter';
import { readIdle } from './idle';

/** Without input for so long nobody sits there, ms. */
const AWAY_MS = 60_000;

/** Terminals that call themselves otherwise than their application is called; tmux and screen run in any. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  Apple_Terminal: ['terminal'],
  'iTerm.app': ['iterm', 'iterm2'],
  vscode: ['code', 'vscode', 'visualstudiocode'],
  tmux: [],
  screen: [],
};

/**
 * Where the person is: away, at the desk, or at the front of this terminal. A terminal is told by its process, else by
 * its name; which of its windows or tabs is in front is not looked at, for that would take titles.
 */
export async function seePerson(
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
  const names = program === null ? [] : (NAMES[program] ?? [plain(program)]);
  return [app.app, app.bundleId?.split('.').pop() ?? ''].some((name) => names.includes(plain(name)));
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}
