import { join } from 'node:path';

import { offerOf } from '../inbox/answer';
import { waitingAsks } from '../inbox/asks';
import type { PushDeps } from '../notify/pushes';
import { isLive } from '../sessions/session';
import type { Context } from './context';
import { openRunning, openSessions } from './sessions';

/** Returns the dependencies of pushes. They have buttons only if a daemon reads the answers. */
export function openPushes(context: Context, hasButtons: boolean): PushDeps {
  const { area, clock, machineId } = context;
  return {
    clock,
    machineId,
    pushes: join(area.machine, 'pushes.json'),
    async waitOf(thread) {
      const { sessions } = openRunning(context, await openSessions(context));
      const ask = waitingAsks(context).find(({ id, slug }) => id === thread || slug === thread);
      const session = sessions[thread];
      const since = session && isLive(session, clock.now()) ? session.waitingSince : undefined;
      const ids = [ask?.id ?? [], since ?? []].flat();
      const { text = '', choices = [] } = ask === undefined || !hasButtons ? {} : offerOf(ask);
      return ids.length === 0 ? undefined : { ids, text, choices };
    },
  };
}
