import { titleAmong } from '../assistant';
import { readTurnEnd } from '../assistant/transcripts';
import type { Config } from '../config/schema';
import type { Surroundings } from '../daemon/surroundings';
import { waitingAsks } from '../inbox/asks';
import { acceptRequest } from '../notify/accept';
import { deliverWaiting } from '../notify/deliver';
import { isAtDesk, type Presence, type TriggerDeps, runTriggers } from '../notify/triggers';
import { readPresence } from '../sense/presence';
import type { Session } from '../sessions/session';
import { isNameless } from '../sessions/slug';
import { runningSessions } from '../sessions/state';
import { isAtAnother } from '../sync/live';
import { isAtOther } from '../sync/turn';
import type { Context } from './context';
import { type NotifyContext, openNotify } from './notify';
import { openSessions } from './sessions';
import { openTurns } from './sync-turns';

/** Returns the dependencies for turning queued hook events into notifications. */
export async function openTriggers(
  context: Context,
  notify: Pick<NotifyContext, 'deps'>,
  config: () => Config,
): Promise<TriggerDeps> {
  const { clock } = context;
  const sessions = await openSessions(context);
  const running = (): Session[] => Object.values(runningSessions(sessions).sessions);
  return {
    clock,
    spool: context,
    sessions: running,
    assistantOf: (session) => titleAmong(session, running()),
    turnEnd: readTurnEnd,
    presence: (session) => presenceOf(context, session),
    isHolding: (session) =>
      [undefined, 'codex'].includes(session?.assistant) &&
      config().settings.notifications.answers.enabled &&
      !waitingAsks(context).some(({ slug }) => slug === session?.slug),
    accept: (request) => acceptRequest(notify.deps, request),
    daName: () => config().user.da.name,
    notifiedTurns: () => config().user.notify.turnEnd,
    longTaskMinutes: () => config().settings.notifications.thresholds.longTaskMinutes,
  };
}

/** Handles the hook events that are currently queued, and delivers the resulting notifications. */
export async function triggersOnce(context: Context): Promise<{ left: boolean }> {
  const notify = await openNotify(context);
  const { config } = await context.loadConfig();
  const deps = await openTriggers(context, notify, () => config);
  return runTriggers(deps, (options) => deliverWaiting(notify.deps, options));
}

/** Returns your presence, or `unknown` if sense or its `appFocus` source is off. Stores nothing. */
export async function presenceOf(context: Context, session: Session | undefined): Promise<Presence> {
  const { sense } = (await context.loadConfig()).config;
  if (!context.area.sense.isSetUp || !sense.enabled || !sense.sources.appFocus) return 'unknown';
  const isHere = session !== undefined && session.machine === context.machineId;
  const presence = await readPresence(context.desktop, isHere ? session.terminal : null, context.clock.now());
  if (isAtDesk(presence)) return presence;
  const { folder } = (await context.loadConfig()).config.user.sync;
  // Another machine can't tell what is restricted, because it is not published.
  const isTold = session !== undefined && !isNameless(session.slug) && folder !== undefined;
  if (isTold && isAtAnother(folder, context.machineId, context.clock.now())) return 'elsewhere';
  return presence === 'unknown' && isAtOther(await openTurns(context)) ? 'away' : presence;
}

/** Returns what jobs about you and your sessions need. */
export function openSurroundings(context: Context): Surroundings {
  return {
    machine: context,
    open: () => openSessions(context),
    presence: (session) => presenceOf(context, session),
  };
}
