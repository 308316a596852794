import type { UserArea } from '../config/user-area';
import type { CheckedHost } from '../platform/check';
import { failed, off, ok, orFailure, warning, type Check, type Finding } from '../platform/check';
import { exists } from '../platform/files/folder';
import { launcherPath } from '../platform/process/launcher';
import type { RunResult } from '../platform/process/process';
import { localTimes } from '../platform/time/day-words';
import { INSTALLERS, JOB_IDS, type JobId, type JobStatus } from './job';
import { LAUNCHER } from './launcher';

export interface JobsChecked extends Pick<CheckedHost, 'clock' | 'host' | 'run'> {
  area: Pick<UserArea, 'bin'>;
  /** Returns each job's status, or undefined if no scheduler is running and no job is installed. */
  jobs: () => Promise<readonly JobStatus[] | undefined>;
}

export const JOB_CHECKS: readonly Check<JobsChecked>[] = [
  ...JOB_IDS.map((id): Check<JobsChecked> => ({
    id: `jobs.${id}`,
    title: `${id} job`,
    needsConfig: true,
    run: (at) => checkJob(at, id),
  })),
  { id: 'jobs.launcher', title: 'job launcher', needsConfig: true, run: checkLauncher },
];

const CALL_MS = 10_000;

async function checkJob(at: JobsChecked, id: JobId): Promise<Finding[]> {
  const jobs = await at.jobs();
  const status = jobs?.find(({ job }) => job === id);
  if (status === undefined) return [off('no scheduler on this machine', { fix: 'steward up' })];
  const isDaemon = jobs?.some(({ job, installed }) => job === 'daemon' && installed) === true;
  return [
    !status.installed && isDaemon
      ? off('not needed: the daemon does its work')
      : judgeJob(status, localTimes(at.clock)),
  ];
}

export function judgeJob(status: JobStatus, localTime: (iso: string) => string): Finding {
  const { job, scheduler, installed, lastRun, nextRun, warning: problem, broken, fix, hint } = status;
  if (!installed) return off(`not installed in ${scheduler}`, { fix: INSTALLERS[job] });
  if (problem !== undefined) {
    const more = { ...(fix === undefined ? {} : { fix }), ...(hint === undefined ? {} : { hint }) };
    return broken === true ? failed(problem, more) : warning(problem, more);
  }
  const ran =
    lastRun === null ? 'no run yet' : `${job === 'daemon' ? 'started' : 'ran'} ${localTime(lastRun)}`;
  const next = nextRun === null ? [] : [`next ${localTime(nextRun)}`];
  return ok([`installed in ${scheduler}`, ran, ...next].join(', '));
}

/**
 * Checks that the launcher finds Node.js and steward. Doesn't report a missing launcher, because the job
 * checks do.
 */
async function checkLauncher(at: JobsChecked): Promise<Finding[]> {
  const installed = (await at.jobs())?.find((job) => job.installed);
  if (installed === undefined) return [];
  const fix = INSTALLERS[installed.job];
  const { area, run, host } = at;
  const path = launcherPath(LAUNCHER.name, { bin: area.bin, host });
  if (!exists(path)) return [];
  const [program, before] =
    host.platform === 'win32' ? [host.env['ComSpec'] ?? 'cmd.exe', ['/d', '/c', path]] : ['/bin/sh', [path]];
  return orFailure(
    async () => [
      judgeLauncher(await run(program, [...before, '--where'], { timeoutMs: CALL_MS }), fix, exists),
    ],
    { fix },
  );
}

export function judgeLauncher(
  { code, stdout }: Pick<RunResult, 'code' | 'stdout'>,
  fix: string,
  isThere: (path: string) => boolean,
): Finding {
  const [node = '', steward = ''] = stdout.split(/\r?\n/).map((line) => line.replace(/^"|"$/g, ''));
  if (code !== 0) return failed('the launcher cannot find Node.js or steward, so each run fails', { fix });
  const missing = [node, steward].find((path) => !isThere(path));
  return missing === undefined
    ? ok(`${steward} with ${node}`)
    : failed(`${missing === '' ? 'steward' : missing} is missing, so each run fails`, { fix });
}
