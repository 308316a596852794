import { exists } from '../platform/files/folder';
import { launcherPath } from '../platform/process/launcher';
import type { RunResult, Run } from '../platform/process/process';
import { JOB_IDS, JOBS, type JobId } from './job';
import { LAUNCHER } from './launcher';
import type { JobStatus } from './index';
import { localTimes } from '../platform/time/day-words';
import type { UserArea } from '../config/user-area';
import { failed, off, ok, orFailure, warning, type Check, type Finding } from '../platform/check';
import type { PathHost } from '../platform/files/paths';
import type { Clock } from '../platform/time/clock';

/** What the checks of the jobs are given. */
export interface JobsChecked {
  clock: Clock;
  area: Pick<UserArea, 'bin'>;
  run: Run;
  host: PathHost;
  config: object;
  /** How each job is doing; undefined where no scheduler runs and none holds a job. */
  jobs: () => Promise<readonly JobStatus[] | undefined>;
}

export const JOB_CHECKS: readonly Check<JobsChecked>[] = [
  ...JOB_IDS.map((id): Check<JobsChecked> => ({
    id: `jobs.${id}`,
    title: `the job ${id}`,
    needsConfig: true,
    limitMs: 30_000,
    run: (at) => checkJob(at, id),
  })),
  {
    id: 'jobs.launcher',
    title: 'what the jobs start',
    needsConfig: true,
    limitMs: 30_000,
    run: checkLauncher,
  },
];

const CALL_MS = 10_000;

async function checkJob(at: JobsChecked, id: JobId): Promise<Finding[]> {
  const status = (await at.jobs())?.find(({ job }) => job === id);
  // Containers and some servers have none; `up` has the jobs inside it.
  if (status === undefined) return [off('no scheduler runs on this machine', { mend: 'steward up' })];
  return [judgeJob(status, localTimes(at.clock))];
}

/** @param localTime of an ISO-8601 time, as a person reads it */
export function judgeJob(status: JobStatus, localTime: (iso: string) => string): Finding {
  const { job, scheduler, installed, lastRun, nextRun, warning: said, broken, mend, hint } = status;
  if (!installed) return off(`not in ${scheduler}`, { mend: JOBS[job].command });
  if (said !== undefined) {
    const more = { ...(mend === undefined ? {} : { mend }), ...(hint === undefined ? {} : { hint }) };
    return broken === true ? failed(said, more) : warning(said, more);
  }
  const ran =
    lastRun === null ? 'has not run yet' : `${job === 'daemon' ? 'started' : 'ran'} ${localTime(lastRun)}`;
  return ok([`in ${scheduler}`, ran, ...(nextRun === null ? [] : [`next ${localTime(nextRun)}`])].join(', '));
}

/** Asks what the scheduler starts which steward and which Node.js it finds now. */
async function checkLauncher(at: JobsChecked): Promise<Finding[]> {
  const installed = (await at.jobs())?.find((job) => job.installed);
  // That is said of each job, too.
  if (installed === undefined) return [];
  const mend = JOBS[installed.job].command;
  const { area, run } = at;
  const path = launcherPath(LAUNCHER.name, { bin: area.bin, host: at.host });
  // So is that it is missing.
  if (!exists(path)) return [];
  const [program, before] =
    at.host.platform === 'win32'
      ? [at.host.env['ComSpec'] ?? 'cmd.exe', ['/d', '/c', path]]
      : ['/bin/sh', [path]];
  return orFailure(
    async () => [
      judgeLauncher(await run(program, [...before, '--where'], { timeoutMs: CALL_MS }), mend, exists),
    ],
    { mend },
  );
}

/** @param isThere is there a file at this path? */
export function judgeLauncher(
  { code, stdout }: Pick<RunResult, 'code' | 'stdout'>,
  mend: string,
  isThere: (path: string) => boolean,
): Finding {
  const [node = '', steward = ''] = stdout.split(/\r?\n/).map((line) => line.replace(/^"|"$/g, ''));
  if (code !== 0) return failed('the jobs find no Node.js or no steward: each run fails', { mend });
  const missing = [node, steward].find((path) => !isThere(path));
  return missing === undefined
    ? ok(`${steward} with ${node}`)
    : failed(`${missing === '' ? 'what the jobs start' : missing} is gone: each run fails`, { mend });
}
