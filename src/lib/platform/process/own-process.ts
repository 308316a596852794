import { constants, uptime } from 'node:os';

import { errnoCode, unless } from '../../errors';
import { listSystemFolder, readSystemText } from '../files/system-files';
import { spawn } from './spawn';

/** Facts of this process. */
export function ownProcess(): { pid: number; uptimeSec: number } {
  return { pid: process.pid, uptimeSec: Math.round(process.uptime()) };
}

/** Asks another process of this user to end. One that has ended is no error. */
export function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch (error) {
    if (errnoCode(error) !== 'ESRCH') throw error;
  }
}

/** Resident memory, MiB with one decimal. The system is asked for it, which takes some 40 µs. */
export function residentMiB(): number {
  return Math.round((process.memoryUsage.rss() / 2 ** 20) * 10) / 10;
}

/** Signals that ask a server to close down: a person's Ctrl-C, a manager's SIGTERM, a terminal that is closed. */
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK'] as const;

/** Calls `stop` at the first such signal; a second Ctrl-C ends the process at once with 130. Returns the way to stop listening. */
export function onStopSignal(stop: (signal: string) => void): () => void {
  let asked = false;
  const heard = (signal: NodeJS.Signals): void => {
    if (asked && signal === 'SIGINT') process.exit(130);
    asked = true;
    stop(signal);
  };
  for (const signal of STOP_SIGNALS) process.on(signal, heard);
  return () => {
    for (const signal of STOP_SIGNALS) process.removeListener(signal, heard);
  };
}

/** A signal that Ctrl-C, or a polite end of the process, aborts: for a command that closes down by itself. */
export function interruptSignal(): { signal: AbortSignal; release: () => void } {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  const names = ['SIGINT', 'SIGTERM'] as const;
  for (const name of names) process.on(name, abort);
  return {
    signal: controller.signal,
    release() {
      for (const name of names) process.off(name, abort);
    },
  };
}

/** Calls the listener at each Ctrl-C, which then does not end the run by itself. Returns how to stop listening. */
export function onInterrupt(listener: () => void): () => void {
  process.on('SIGINT', listener);
  return () => {
    process.off('SIGINT', listener);
  };
}

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

/** Set for the process that a relaunched one is, so that it asks its parent and does not become one itself. */
const MARK = 'STEWARD_RELAUNCHED';
/** Its exit code when it wants to be started again. */
const AGAIN = 86;

/**
 * Starts this program anew, as it is on disk now, in place of this process: the new one is its child, has its
 * terminal, gets its signals, and its exit code becomes ours. Node cannot replace its own process, and whoever
 * started us (a shell, a service manager) waits for this one. However often that happens, there is one parent and
 * one child: a child that is to be replaced ends, and its parent starts the next.
 *
 * @param args the words of the command line, without node and the script
 */
export async function relaunch(args: readonly string[]): Promise<number> {
  if (process.env[MARK] === String(process.ppid)) return AGAIN;
  for (;;) {
    const code = await runChild(args);
    if (code !== AGAIN) return code;
  }
}

function runChild(args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const script = process.argv[1] ?? '';
    const child = spawn(process.execPath, [...process.execArgv, script, ...args], {
      stdio: 'inherit',
      env: { ...process.env, [MARK]: String(process.pid) },
    });
    const pass = (signal: NodeJS.Signals): void => {
      child.kill(signal);
    };
    // A terminal sends Ctrl-C to both.
    const ignore = (): void => undefined;
    process.on('SIGINT', ignore);
    for (const signal of PASSED) process.on(signal, pass);
    const done = (): void => {
      process.removeListener('SIGINT', ignore);
      for (const signal of PASSED) process.removeListener(signal, pass);
    };
    child.on('error', (error) => {
      done();
      reject(error);
    });
    child.on('exit', (code, signal) => {
      done();
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}

const PASSED = ['SIGTERM', 'SIGHUP'] as const;
