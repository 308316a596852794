import type { UserArea } from '../config/user-area';
import { processHost } from '../platform/files/paths';
import type { Clock } from '../platform/time/clock';
import { dayOf, isZone, systemZone } from '../platform/time/time';
import { type Went, goToSession } from '../sessions/go';
import { statusOf } from '../sessions/session';
import { type SessionsDeps, currentSessions, runningSessions } from '../sessions/state';
import type { Context } from './context';
import { type HookSettings, hookSettings } from './hook-settings';

/** Joins the sessions with the machine. Day and machine id are asked for where they are needed only. */
export function sessionsDeps(
  parts: { area: UserArea; clock: Clock; machineId: () => string },
  settings: HookSettings,
): SessionsDeps {
  const { area, clock } = parts;
  return {
    clock,
    path: area.sessionsState,
    livePath: area.sessionsLive,
    workEvents: settings.workEvents,
    sessions: settings.sessions,
    dayOf: (ms) => dayOf(ms, zoneOf(settings)),
    get machineId() {
      return parts.machineId();
    },
    get locks() {
      return area.machine;
    },
  };
}

/** Environment before file before the system, as everywhere. */
function zoneOf(settings: HookSettings): string {
  const set = processHost().env['STEWARD_TIMEZONE'] ?? '';
  return set !== '' && isZone(set) ? set : (settings.timezone ?? systemZone());
}

/** How many sessions wait for the person now. */
export async function waitingSessions(context: Context): Promise<number> {
  const deps = await openSessions(context);
  const nowMs = deps.clock.now();
  const sessions = Object.values(runningSessions(deps).sessions);
  return sessions.filter((session) => statusOf(session, nowMs) === 'waiting').length;
}

/** What the sessions commands call the library with. */
export async function openSessions(context: Context): Promise<SessionsDeps> {
  const settings = await hookSettings(context);
  const { area, clock } = context;
  return sessionsDeps({ area, clock, machineId: () => context.machineId }, settings);
}

/** `go`: joins the sessions with the terminals of this machine. */
export async function goNow(context: Context, wanted: string | undefined): Promise<Went> {
  const deps = await openSessions(context);
  const { run, machineId } = context;
  const { env } = processHost();
  return goToSession({ run, env, machineId, nowMs: deps.clock.now() }, currentSessions(deps), wanted);
}
