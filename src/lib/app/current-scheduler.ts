import type { SenseStatus } from '../sense/source';
import type { Context } from './context';
import { isDaemonThere } from './daemon-client';
import { schedulerWith } from './schedule';

/** What captures while the daemon runs. */
export const DAEMON_SCHEDULER: SenseStatus['scheduler'] = { kind: 'the daemon', installed: true };

/**
 * What captures by itself now: the scheduler that the job is in, else the daemon, be it too busy to answer, or
 * nothing that is known here. A job that is installed and does not run is told of only where no daemon captures.
 */
export async function currentScheduler(context: Context): Promise<SenseStatus['scheduler']> {
  const found = await schedulerWith(context, 'sense');
  const job = found && { kind: found.kind, installed: found.installed && found.loaded };
  if (job?.installed === true) return job;
  return (await isDaemonThere(context)) ? DAEMON_SCHEDULER : (job ?? null);
}
