import { exists } from '../platform/files/folder';
import { parentsOf } from '../platform/process/own-terminal';
import type { Sight } from '../notify/triggers';
import { readFrontApp } from '../sense/front-app';
import type { FrontApp } from '../sense/front-app/adapter';
import { readIdle } from '../sense/idle';
import type { Session } from '../sessions/session';
import type { SessionTerminal } from '../sessions/work-events';
import type { Context } from './context';

/** Without input for so long nobody sits there, ms. */
const AWAY_MS = 60_000;

/**
 * Where the person is, by what sense may look at: where it is not set up, is switched off, or does not see
 * applications, nobody knows. Nothing of it is stored. A terminal is told by its process, else by the name that
 * it gives itself; which of its windows or tabs is in front is not looked at, for that would take titles.
 */
export async function sightOf(context: Context, session: Session | undefined): Promise<Sight> {
  const { sense } = (await context.loadConfig()).config;
  if (!exists(context.area.sense.config) || !sense.enabled || !sense.sources.appFocus) return 'unknown';
  const [idle, front] = await Promise.all([readIdle(context.desktop), readFrontApp(context.desktop)]);
  const isIdleKnown = !('unknown' in idle);
  if (isIdleKnown && (idle.locked === true || (idle.idleMs ?? 0) >= AWAY_MS)) return 'away';
  if (front.state === 'seen') {
    const terminal = session?.machine === context.machineId ? session.terminal : null;
    return terminal !== null && isTerminal(front.app, terminal) ? 'front' : 'desk';
  }
  return isIdleKnown ? 'desk' : 'unknown';
}

function isTerminal(app: FrontApp, { pid, program }: SessionTerminal): boolean {
  if (pid !== null && app.pid !== undefined && [pid, ...parentsOf(pid)].includes(app.pid)) return true;
  const names = program === null ? [] : (NAMES[program] ?? [plain(program)]);
  return [app.app, app.bundleId?.split('.').pop() ?? ''].some((name) => names.includes(plain(name)));
}

/** Terminals that call themselves otherwise than their application is called. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  Apple_Terminal: ['terminal'],
  'iTerm.app': ['iterm', 'iterm2'],
  vscode: ['code', 'vscode', 'visualstudiocode'],
  // Whatever terminal they run in is not known by their name.
  tmux: [],
  screen: [],
};

function plain(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}
