import { uptime } from 'node:os';

import { unless } from '../../errors';
import { listSystemFolder, readSystemText } from '../files/system-files';
import { spawn } from './spawn';

/**
 * Starts steward itself with other arguments, and does not wait for it: it lives on when this process ends, has
 * no terminal and says nothing. What it is to do must stand in a file, for it may fail to start.
 *
 * @param cwd a folder that it may keep busy
 */
export function startDetached(args: readonly string[], cwd: string): void {
  const program = process.argv[1];
  if (program === undefined) return;
  startProgram(process.execPath, [...process.execArgv, program, ...args], cwd, {
    [JOB_VARIABLE]: 'delivery',
  });
}

/** The same for any program; it inherits the environment, with `more` in it. One that cannot be started is left. */
export function startProgram(
  file: string,
  args: readonly string[],
  cwd: string,
  more: NodeJS.ProcessEnv = {},
): void {
  const env = { ...process.env, ...more };
  const child = spawn(file, args, { cwd, env, detached: true, stdio: 'ignore', windowsHide: true });
  // A system that is out of processes: the next run of steward does what waits.
  child.on('error', () => child.unref());
  child.unref();
}

/**
 * Set by the launcher of scheduled jobs for what it starts: the name of the job, and the launcher's own process where
 * that outlives it (`sense 4711`). `delivery` is what steward itself has started to go on alone (detached.ts).
 */
export const JOB_VARIABLE = 'STEWARD_JOB';

/** The names of the processes that run now, as /proc tells them; none where there is no /proc. */
export function processNames(): ReadonlySet<string> {
  const pids = listSystemFolder('/proc').filter((name) => /^\d+$/.test(name));
  return new Set(pids.map(nameOf));
}

function nameOf(pid: string): string {
  // It may end while it is looked at.
  return unless(['ESRCH'], () => readSystemText(`/proc/${pid}/comm`, 64))?.trim() ?? '';
}

/** How long ago the machine was started, ms. */
export function sinceBootMs(): number {
  return uptime() * 1000;
}
