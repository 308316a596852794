import { readTurnEnd } from '../assistant/claude-code';
import type { Config } from '../config/schema';
import { acceptRequest } from '../notify/accept';
import { deliverWaiting } from '../notify/deliver';
import { runTriggers, type TriggerDeps } from '../notify/triggers';
import { runningSessions } from '../sessions/state';
import type { Context } from './context';
import { openNotify, type NotifyContext } from './notify';
import { openSessions } from './sessions';
import { sightOf } from './sight';

/** Joins what hooks have left with the sessions, the assistant's record, the desktop and the notifications. */
export async function openTriggers(
  context: Context,
  notify: Pick<NotifyContext, 'deps'>,
  config: () => Config,
): Promise<TriggerDeps> {
  const { area, clock, machineId } = context;
  const sessions = await openSessions(context);
  return {
    clock,
    spool: { clock, machineId, path: area.spool, locks: area.machine },
    sessionOf: ({ session }) =>
      Object.values(runningSessions(sessions).sessions).find(({ sessionIds }) =>
        sessionIds.includes(session),
      ),
    turnEnd: readTurnEnd,
    sight: (session) => sightOf(context, session),
    accept: (request) => acceptRequest(notify.deps, request),
    daName: () => config().user.da.name,
    longTaskMinutes: () => config().settings.notifications.thresholds.longTaskMinutes,
  };
}

/** What a hook starts where no daemon runs: does what waits in the spool, delivers it, and ends. */
export async function triggersOnce(context: Context): Promise<{ left: boolean }> {
  const notify = await openNotify(context);
  const { config } = await context.loadConfig();
  const deps = await openTriggers(context, notify, () => config);
  return runTriggers(deps, (options) => deliverWaiting(notify.deps, options));
}
