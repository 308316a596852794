import { titleAmong } from '../assistant';
import { readTurnEnd } from '../assistant/transcripts';
import type { Config } from '../config/schema';
import { waitingAsks } from '../inbox/asks';
import { acceptRequest } from '../notify/accept';
import { deliverWaiting } from '../notify/deliver';
import { type TriggerDeps, runTriggers } from '../notify/triggers';
import type { Session } from '../sessions/session';
import { runningSessions } from '../sessions/state';
import type { Context } from './context';
import { type NotifyContext, openNotify } from './notify';
import { openSessions } from './sessions';
import { presenceOf } from './surroundings';

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
