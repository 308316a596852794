import { join } from 'node:path';

import { sessionOfHook } from '../agents/input';
import { AGENT_TYPES } from '../config/early';
import { StewardError } from '../errors';
import { readRoster, type ParseYaml, type RosterDeps } from '../agents/roster';
import type { AgentSettings } from '../agents/routing';
import type { WatchDeps } from '../agents/watchdog';
import { currentSessions, findSession } from '../sessions/state';
import type { Context } from './context';
import { openSessions } from './sessions';

/**
 * What routing needs of the configuration and the roster. An assistant calls it at each prompt and before each agent: of
 * the configuration only a broken config.yaml, where the types are, stops it; beside another one the usual types hold.
 */
export async function agentSettings(context: Pick<Context, 'area' | 'loadConfig'>): Promise<AgentSettings> {
  const types = await agentTypes(context);
  const { entries, problems } = await readRoster(openRoster(context));
  const broken = new Set(problems.filter(({ level }) => level === 'error').map(({ file }) => file)).size;
  return { types, named: entries, broken };
}

async function agentTypes(context: Pick<Context, 'area' | 'loadConfig'>): Promise<AgentSettings['types']> {
  try {
    return (await context.loadConfig()).config.user.agents.types;
  } catch (error) {
    const isElsewhere =
      error instanceof StewardError && error.kind === 'config' && !names(error, context.area.config);
    if (!isElsewhere) throw error;
    return { ...AGENT_TYPES, researchers: [...AGENT_TYPES.researchers] };
  }
}

function names({ message }: StewardError, path: string): boolean {
  return message.includes(`${path}: `);
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
  return (byId.sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))[0] ?? findSession(state, name)).slug;
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
