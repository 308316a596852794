import { StewardError } from '../errors';
import { removeAtExit } from '../platform/files/disk-use';
import { JOB_VARIABLE } from '../platform/process/job-variable';
import { endProcess, ownProcess } from '../platform/process/own-process';
import { processHost } from '../platform/files/paths';
import { wait } from '../platform/time/wait';
import {
  beginRun,
  DELIVERY,
  forgetRuns,
  notePath,
  parseJobVariable,
  runDeps,
  runningJobs,
  type Running,
} from '../schedule/running';
import type { Context } from './context';
import { stopDaemon } from './daemon-stop';

/**
 * Before a command that a scheduler has started; false where its job is not installed any more: then nothing is to be
 * written, not even the code cache. What the command starts is no run of the job: it does not get the variable.
 */
export function beginScheduled(context: Context): boolean {
  const host = processHost();
  const run = parseJobVariable(host.env[JOB_VARIABLE] ?? '', ownProcess().pid);
  delete host.env[JOB_VARIABLE];
  if (run === undefined) return true;
  const deps = runDeps(context, host);
  if (beginRun(deps, run)) {
    if (run.job === DELIVERY) removeAtExit([notePath(deps, run)], [deps.records]);
    return true;
  }
  host.env['STEWARD_NO_CODE_CACHE'] = '1';
  return false;
}

const LONGEST_MS = 60_000;
const LOOK_MS = 100;
/** Most runs take less; nobody needs to read of those. */
const QUIET_MS = 1_500;

/**
 * Waits a minute at most for runs of jobs that were taken out of their scheduler, and gives those that are still under
 * way. A daemon that was only just starting is stopped when it listens, and a delivery, which may try for minutes, is ended.
 *
 * @param onWait is told once what is waited for, when it takes longer than usual
 * @param isMeant which of the runs; all when left out
 */
export async function waitForRuns(
  context: Context,
  onWait: (running: readonly Running[]) => void,
  isMeant: (run: Running) => boolean = () => true,
): Promise<Running[]> {
  const { clock } = context;
  const deps = runDeps(context, processHost());
  const start = clock.monotonic();
  let isTold = false;
  for (;;) {
    const running = runningJobs(deps).filter(isMeant);
    const ms = clock.monotonic() - start;
    if (running.length === 0 || ms > LONGEST_MS) {
      forgetRuns(deps);
      return running;
    }
    if (!isTold && ms > QUIET_MS) {
      onWait(running);
      isTold = true;
    }
    for (const { job, pid } of running) {
      if (job === 'daemon') await stopDaemon(context);
      // What it has not delivered goes with the data.
      if (job === DELIVERY) endProcess(pid);
    }
    await wait(LOOK_MS);
  }
}

/**
 * Stops the daemon, and waits for the end of whatever its job had begun before it was taken out: a daemon that is only
 * just starting, a launcher that would start it again. True: a daemon ran. One that does not end is `locked`.
 */
export async function endDaemon(context: Context): Promise<boolean> {
  const { stopped } = await stopDaemon(context);
  const [left] = await waitForRuns(
    context,
    () => undefined,
    ({ job }) => job === 'daemon',
  );
  if (left === undefined) return stopped;
  throw new StewardError('locked', `The daemon's job (process ${left.pid}) has not ended within a minute.`, {
    hint: 'Nothing starts it anew. See what it does with "steward daemon logs"; end that process if it hangs.',
  });
}
