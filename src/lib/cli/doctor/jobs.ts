import { JOB_IDS, JOBS, jobOf, type JobId } from '../../schedule/job';
import type { JobStatus } from '../../schedule';
import { StewardError } from '../../errors';
import { schedulerOf } from '../schedule-context';
import { localTimes } from '../local-times';
import { failed, off, ok, warning, type Check, type ConfiguredContext, type Finding } from './finding';

export const JOB_CHECKS: readonly Check[] = JOB_IDS.map((id) => ({
  id: `jobs.${id}`,
  part: 'jobs',
  title: `the job ${id}`,
  needsConfig: true,
  limitMs: 30_000,
  run: (at: ConfiguredContext) => checkJob(at, id),
}));

async function checkJob(at: ConfiguredContext, id: JobId): Promise<Finding[]> {
  try {
    const scheduler = await schedulerOf(at.context);
    const status = await scheduler.status(jobOf(id, at.config.sense));
    return [judgeJob(status, localTimes(at.context.clock))];
  } catch (error) {
    if (!(error instanceof StewardError) || error.kind !== 'unavailable') throw error;
    // Containers and some servers have none; `up` has the jobs inside it.
    return [off(error.message, { mend: 'steward up' })];
  }
}

/** @param localTime of an ISO-8601 time, as a person reads it */
export function judgeJob(status: JobStatus, localTime: (iso: string) => string): Finding {
  const { command } = JOBS[status.job];
  const {
    scheduler,
    installed,
    loaded,
    lastRun,
    nextRun,
    lastExit,
    missedPolls,
    warning: said,
    hint,
  } = status;
  const more = hint === undefined ? {} : { hint };
  if (!installed) return off(`not in ${scheduler}`, { mend: command });
  if (!loaded)
    return failed(said ?? `written for ${scheduler}, which does not know it`, { ...more, mend: command });
  const ran =
    lastRun === null
      ? 'has not run yet'
      : `${status.job === 'daemon' ? 'started' : 'ran'} ${localTime(lastRun)}`;
  const words = [`in ${scheduler}`, ran, ...(nextRun === null ? [] : [`next ${localTime(nextRun)}`])].join(
    ', ',
  );
  if (said !== undefined) return warning(said, more);
  if (lastExit !== null && lastExit !== 0) {
    return warning(`${words}; its last run ended with ${lastExit}`, {
      hint: `What it said is in ${status.log}.`,
    });
  }
  if (missedPolls >= 3) return warning(`${words}; ${missedPolls} runs are missing`, { mend: command });
  return ok(words);
}

/** Those of the jobs that the system's scheduler has, as `systemd (sense)`; none where there is no scheduler. */
export async function installedJobs(at: ConfiguredContext, ids: readonly JobId[]): Promise<string[]> {
  try {
    const scheduler = await schedulerOf(at.context);
    const statuses = await Promise.all(ids.map((id) => scheduler.status(jobOf(id, at.config.sense))));
    return statuses.filter(({ loaded }) => loaded).map((status) => status.scheduler);
  } catch (error) {
    if (error instanceof StewardError && error.kind === 'unavailable') return [];
    throw error;
  }
}
