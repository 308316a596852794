import { type HookSettings, hookSettings } from '../config/hook-settings';
import type { PhaseDeps } from '../notify/phase';
import { refreshCached, type Cached } from '../platform/files/file-cache';
import { processHost } from '../platform/files/paths';
import { archiveReader } from '../sessions/archive';
import type { GoDeps } from '../sessions/jump';
import { namesFolder } from '../sessions/names';
import type { SessionsState } from '../sessions/session';
import { sessionsDeps } from '../sessions/session-deps';
import { type SessionsDeps, currentSessions, runningSessions, withProcesses } from '../sessions/state';
import { sessionsOnTerminal } from '../sessions/terminals';
import type { Context } from './context';

export async function openSessions(context: Context): Promise<SessionsDeps> {
  return depsOf(context, await hookSettings(context));
}

/**
 * Returns a function that reads all sessions. The function caches the archive, for long-running processes.
 */
export function sessionReader(context: Context): () => Promise<SessionsState> {
  const archived = archiveReader(context.clock);
  return async () => currentSessions(await openSessions(context), archived);
}

const running = new WeakMap<Context, Cached<SessionsState>>();

/** Returns the running sessions. Reads their files again only after a change. */
export function openRunning(context: Context, deps: SessionsDeps): SessionsState {
  const files = [deps.area.sessionsState, deps.area.workEvents, namesFolder(deps.area.machine)];
  const read = refreshCached(deps.clock, running.get(context), files, () => runningSessions(deps));
  running.set(context, read);
  return withProcesses(read.value, deps);
}

export async function openPhase(context: Context): Promise<PhaseDeps> {
  const settings = await hookSettings(context);
  return { sessions: depsOf(context, settings), tab: settings.tab };
}

function depsOf(context: Context, settings: HookSettings): SessionsDeps {
  const { area, clock } = context;
  return sessionsDeps({ area, clock, machineId: () => context.machineId }, settings);
}

export async function sessionsOn(context: Context, tty: string) {
  const deps = await openSessions(context);
  return sessionsOnTerminal(Object.values(runningSessions(deps).sessions), tty, deps.clock.now());
}

/** Returns what finding and showing the terminals of sessions needs. */
export function openJump({ run, machineId }: Context): GoDeps {
  const { env, platform } = processHost();
  return { run, env, platform, machineId };
}
