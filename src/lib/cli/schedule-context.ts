import { dirname } from 'node:path';

import { processHost } from '../platform/paths';
import { createScheduler, type JobStatus, type Scheduler, type SchedulerKind } from '../schedule';
import { JOB_IDS, jobOf, type Job, type JobId } from '../schedule/job';
import type { Context } from './context';

/** The scheduler of this machine, chosen by probing, or the given one (`--scheduler`). */
export async function schedulerOf(context: Context, kind?: SchedulerKind): Promise<Scheduler> {
  const deps = {
    area: context.area,
    clock: context.clock,
    host: processHost(),
    product: { root: dirname(context.templates), node: process.execPath },
    run: context.run,
    // A getter: what writes nothing never makes an id.
    get machineId() {
      return context.machineId;
    },
  };
  return createScheduler(deps, kind);
}

/** A job as it is configured. */
export async function scheduledJob(context: Context, id: JobId): Promise<Job> {
  const { config } = await context.loadConfig();
  return jobOf(id, config.sense);
}

/** How all jobs are doing, for `status` and `doctor`. */
export async function jobStatuses(context: Context): Promise<JobStatus[]> {
  const scheduler = await schedulerOf(context);
  const { config } = await context.loadConfig();
  return Promise.all(JOB_IDS.map((id) => scheduler.status(jobOf(id, config.sense))));
}
