import type { UserArea } from '../config/user-area';
import { StewardError } from '../errors';
import type { Clock } from '../platform/clock';
import type { PathHost } from '../platform/paths';
import type { Run } from '../platform/process';
import type { Scheduler, SchedulerKind } from './scheduler';

export type { InstallResult, JobStatus, Scheduler, SchedulerKind, UninstallResult } from './scheduler';
export { SCHEDULER_KINDS } from './scheduler';

export interface ScheduleDeps {
  area: Pick<UserArea, 'root' | 'bin' | 'installManifest' | 'machine' | 'sense' | 'work' | 'daemonLog'>;
  clock: Clock;
  machineId: string;
  host: PathHost;
  run: Run;
  /** The folder of steward's package.json, and the node that runs it. */
  product: { root: string; node: string };
}

/** The scheduler of this machine, chosen by probing, or the given one. */
export async function createScheduler(deps: ScheduleDeps, kind?: SchedulerKind): Promise<Scheduler> {
  return Promise.reject(
    new StewardError(
      'unavailable',
      `No scheduler${kind === undefined ? '' : ` ${kind}`} on ${deps.host.platform}.`,
    ),
  );
}
