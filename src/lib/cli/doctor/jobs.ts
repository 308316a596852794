import { JOB_IDS, JOBS, type JobId } from '../../schedule/job';
import type { JobStatus } from '../../schedule';
import type { Context } from '../context';
import { jobsHere, type JobsHere } from '../schedule-context';
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
  const status = (await jobsOf(at))?.jobs.find(({ job }) => job === id);
  // Containers and some servers have none; `up` has the jobs inside it.
  if (status === undefined) return [off('no scheduler runs on this machine', { mend: 'steward up' })];
  return [judgeJob(status, localTimes(at.context.clock))];
}

const asked = new WeakMap<Context, Promise<JobsHere | undefined>>();

/** The scheduler is asked once for all checks of a run. */
function jobsOf(at: ConfiguredContext): Promise<JobsHere | undefined> {
  const answer = asked.get(at.context) ?? jobsHere(at.context, at.config.sense);
  asked.set(at.context, answer);
  return answer;
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
  const jobs = (await jobsOf(at))?.jobs ?? [];
  return jobs.filter(({ job, loaded }) => loaded && ids.includes(job)).map(({ scheduler }) => scheduler);
}
