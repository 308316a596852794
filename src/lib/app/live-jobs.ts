import { dirname } from 'node:path';

import { periodicJob, type DaemonJob } from '../daemon/jobs';
import { acceptRequest } from '../notify/accept';
import { ATTENTION } from '../notify/triggers';
import { exists } from '../platform/files/folder';
import { knownMachineId } from '../platform/files/machine';
import { liveFile, livePublisher } from '../sync/live';
import type { Context } from './context';
import { openKnown, openOwnRows } from './elsewhere';
import type { NotifyContext } from './notify';
import { machineName } from './sync-settings';
import { presenceOf } from './triggers';

const LIVE_SEC = 2;
const PRESENCE_MS = 10_000;
const AT_DESK = ['desk', 'front'];
const RECENT_MS = 10 * 60_000;

/** The job that publishes this machine's running sessions to the exchange folder. */
export function liveJob(context: Context): DaemonJob {
  const publish = livePublisher(context.clock);
  let [isHere, askedMs] = [false, -Infinity];
  return {
    id: 'live',
    everySec: () => LIVE_SEC,
    async run() {
      const { folder, details } = (await context.loadConfig()).config.user.sync;
      const machine = knownMachineId();
      if (folder === undefined || machine === undefined) return 'no exchange folder is set';
      const path = liveFile(folder, machine);
      if (!exists(dirname(path))) return 'this machine has not published yet';
      if (context.clock.monotonic() - askedMs >= PRESENCE_MS) {
        askedMs = context.clock.monotonic();
        isHere = AT_DESK.includes(await presenceOf(context, undefined));
      }
      publish(path, machineName(context.area), await openOwnRows(context, details), isHere);
      return undefined;
    },
  };
}

/** The job that tells you what sessions of other machines ask, while you are at this one. */
export function alertJob(context: Context, { deps }: Pick<NotifyContext, 'deps'>): DaemonJob {
  const told = new Set<string>();
  return periodicJob('elsewhere', 'notify', LIVE_SEC, async () => {
    for (const { slug, name, waitingFor, waitingSince } of (await openKnown(context)).rows) {
      const dedupe = `attention:${slug}:${waitingSince}`;
      const isRecent = context.clock.now() - Date.parse(waitingSince ?? '') < RECENT_MS;
      if (waitingFor === null || !isRecent || told.has(dedupe)) continue;
      if (!AT_DESK.includes(await presenceOf(context, undefined))) return;
      await acceptRequest(deps, { ...ATTENTION, message: `${name} ${waitingFor}.`, dedupe, reach: 'desk' });
      told.add(dedupe);
    }
  });
}
