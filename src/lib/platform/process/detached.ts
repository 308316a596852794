import { JOB_VARIABLE } from './job-variable';
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
