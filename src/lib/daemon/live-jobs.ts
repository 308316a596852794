import { dirname } from 'node:path';

import { acceptRequest, type AcceptDeps } from '../notify/accept';
import { ATTENTION, isAtDesk } from '../notify/triggers';
import { exists } from '../platform/files/folder';
import { knownMachineId } from '../platform/files/machine';
import type { SessionRow } from '../sessions/rows';
import { liveFile, livePublisher } from '../sync/live';
import { machineName } from '../sync/name';
import { periodicJob, type DaemonJob } from './jobs';
import type { Surroundings } from './surroundings';

const LIVE_SEC = 2;
const PRESENCE_MS = 10_000;
const RECENT_MS = 10 * 60_000;

/** The job that publishes this machine's running sessions, as `rows` returns them, to the exchange folder. */
export function liveJob(
  { machine: { area, clock }, presence }: Surroundings,
  settings: () => Promise<{ folder?: string | undefined; details: boolean }>,
  rows: (details: boolean) => Promise<readonly object[]>,
): DaemonJob {
  const publish = livePublisher(clock);
  let [isHere, askedMs] = [false, -Infinity];
  return {
    id: 'live',
    everySec: () => LIVE_SEC,
    async run() {
      const { folder, details } = await settings();
      const machine = knownMachineId();
      if (folder === undefined || machine === undefined) return 'no exchange folder is set';
      const path = liveFile(folder, machine);
      if (!exists(dirname(path))) return 'this machine has not published yet';
      if (clock.monotonic() - askedMs >= PRESENCE_MS) {
        askedMs = clock.monotonic();
        isHere = isAtDesk(await presence(undefined));
      }
      publish(path, machineName(area), await rows(details), isHere);
      return undefined;
    },
  };
}

/** The job that tells you what the known sessions of other machines ask, while you are at this one. */
export function alertJob(
  { presence }: Surroundings,
  notify: AcceptDeps,
  elsewhere: () => Promise<readonly SessionRow[]>,
): DaemonJob {
  const told = new Set<string>();
  return periodicJob('elsewhere', 'notify', LIVE_SEC, async () => {
    for (const { slug, name, waitingFor, waitingSince } of await elsewhere()) {
      const dedupe = `attention:${slug}:${waitingSince}`;
      const isRecent = notify.clock.now() - Date.parse(waitingSince ?? '') < RECENT_MS;
      if (waitingFor === null || !isRecent || told.has(dedupe)) continue;
      if (!isAtDesk(await presence(undefined))) return;
      await acceptRequest(notify, { ...ATTENTION, message: `${name} ${waitingFor}.`, dedupe, reach: 'desk' });
      told.add(dedupe);
    }
  });
}
