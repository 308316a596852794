import { JOB_VARIABLE } from '../platform/job-variable';
import { ownProcess } from '../platform/own-process';
import { processHost } from '../platform/paths';
import { wait } from '../platform/wait';
import { beginRun, parseJobVariable, runDeps, runningJobs, type Running } from '../schedule/running';
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
  if (run === undefined || beginRun(runDeps(context, host), run)) return true;
  host.env['STEWARD_NO_CODE_CACHE'] = '1';
  return false;
}

const LONGEST_MS = 60_000;
const LOOK_MS = 100;
/** Most runs take less; nobody needs to read of those. */
const QUIET_MS = 1_500;

/**
 * Waits a minute at most for runs of jobs that were taken out of their scheduler, and gives those that are still under
 * way. A daemon that was only just starting is stopped when it listens.
 *
 * @param onWait is told once what is waited for, when it takes longer than usual
 */
export async function waitForRuns(
  context: Context,
  onWait: (running: readonly Running[]) => void,
): Promise<Running[]> {
  const { clock } = context;
  const deps = runDeps(context, processHost());
  const start = clock.monotonic();
  let isTold = false;
  for (;;) {
    const running = runningJobs(deps);
    const ms = clock.monotonic() - start;
    if (running.length === 0 || ms > LONGEST_MS) return running;
    if (!isTold && ms > QUIET_MS) {
      onWait(running);
      isTold = true;
    }
    if (running.some(({ job }) => job === 'daemon')) await stopDaemon(context);
    await wait(LOOK_MS);
  }
}
