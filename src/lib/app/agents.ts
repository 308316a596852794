import { join } from 'node:path';

import { sessionOfHook } from '../agents/input';
import { readRoster, type ParseYaml, type RosterDeps } from '../agents/roster';
import type { AgentSettings } from '../agents/routing';
import type { WatchDeps } from '../agents/watchdog';
import { findSession } from '../sessions/find';
import { currentSessions } from '../sessions/state';
import type { Context } from './context';
import { openSessions } from './sessions';

/**
 * What routing needs of the configuration and the roster. An assistant asks for it at each prompt: a mistake in a file
 * other than config.yaml, which has the types, does not stop it.
 */
export async function agentSettings(context: Pick<Context, 'area'>): Promise<AgentSettings> {
  const { loadConfig } = await import('../config/load');
  const { config } = await loadConfig({ area: context.area, only: 'user' });
  const { entries, problems } = await readRoster(openRoster(context));
  const broken = new Set(problems.filter(({ level }) => level === 'error').map(({ file }) => file)).size;
  return { types: config.user.agents.types, named: entries, broken };
}

/** The configuration's parser, so that all files of a person are read alike. */
export const parseYaml: ParseYaml = async (text) => (await import('../config/text')).parseYaml(text);

export function openRoster({ area }: Pick<Context, 'area'>): RosterDeps {
  return { folder: area.agents, parseYaml };
}

/** The slug of the session to watch: named by slug, by the assistant's id, or (`-`) by hook JSON on stdin. */
export async function sessionToWatch(deps: WatchDeps, wanted: string): Promise<string> {
  const name = wanted === '-' ? await sessionOfHook() : wanted;
  const state = currentSessions(deps.sessions);
  const byId = Object.values(state.sessions).filter(({ sessionIds }) => sessionIds.includes(name));
  return (
    byId.sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))[0] ?? findSession(state, name, deps.clock.now())
  ).slug;
}

/** What the watchdog is called with. */
export async function openWatchdog(context: Context): Promise<WatchDeps> {
  return {
    clock: context.clock,
    sessions: await openSessions(context),
    machineId: context.machineId,
    locks: context.area.machine,
    alerts: join(context.area.state, 'watchdog.json'),
  };
}
