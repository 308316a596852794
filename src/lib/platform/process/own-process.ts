import { readFileSync } from 'node:fs';
import { constants } from 'node:os';

import { unless } from '../../errors';
import { listSystemFolder } from '../files/system-files';
import { spawn } from './spawn';

export function ownProcess(): { pid: number; uptimeSec: number } {
  return { pid: process.pid, uptimeSec: Math.round(process.uptime()) };
}

/** Runs a synchronous function while the current folder is the one of steward's own code. */
export function inOwnFolder<T>(run: () => T): T {
  const before = unless(['ENOENT'], () => process.cwd());
  process.chdir(__dirname);
  try {
    return run();
  } finally {
    // A folder that is deleted, or that this user may not enter, cannot be read by a relative path either.
    if (before !== undefined) unless(['ENOENT', 'EACCES'], () => process.chdir(before));
  }
}

/** Sends SIGTERM to a process; does nothing if the process has ended. */
export function endProcess(pid: number): void {
  unless(['ESRCH'], () => process.kill(pid, 'SIGTERM'));
}

/**
 * Stops the growth of V8's space for young objects, which V8 never shrinks: 32 MiB on Node.js 20, 128 on 24. For a
 * process that mostly waits.
 */
export function keepMemoryLow(): void {
  process.getBuiltinModule('node:v8').setFlagsFromString('--semi-space-growth-factor=1');
}

/** Returns this process's resident memory in MiB, rounded to one decimal place. */
export function residentMiB(): number {
  return Math.round((process.memoryUsage.rss() / 2 ** 20) * 10) / 10;
}

/** Calls the listener on each of the given signals. Returns a function that removes the listener. */
function onSignals(signals: readonly NodeJS.Signals[], listener: (signal: NodeJS.Signals) => void) {
  for (const signal of signals) process.on(signal, listener);
  return () => {
    for (const signal of signals) process.off(signal, listener);
  };
}

/** Calls `stop` on the first stop signal; a second Ctrl-C exits with 130. */
export function onStopSignal(stop: (signal: string) => void): () => void {
  let isStopping = false;
  return onSignals(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK'], (signal) => {
    if (isStopping && signal === 'SIGINT') process.exit(130);
    isStopping = true;
    stop(signal);
  });
}

/** Returns a signal that aborts on Ctrl-C or SIGTERM, for commands that shut down gracefully. */
export function interruptSignal(): { signal: AbortSignal; release: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, release: onSignals(['SIGINT', 'SIGTERM'], () => controller.abort()) };
}

/** Calls the listener on each Ctrl-C instead of ending the process. */
export function onInterrupt(listener: () => void): () => void {
  return onSignals(['SIGINT'], listener);
}

/** Runs `work` and waits for it to finish. Calls `stop` on Ctrl-C, SIGTERM or a closed terminal. */
export async function runStoppable<T>(stop: () => void, work: () => Promise<T>): Promise<T> {
  const release = onSignals(['SIGINT', 'SIGTERM', 'SIGHUP'], stop);
  try {
    return await work();
  } finally {
    release();
  }
}

/**
 * Environment variable that identifies a background run. For a scheduled job, its value is the job's name
 * and, if the launcher waits for the job, the launcher's pid (`sense 4711`). For a detached steward process,
 * its value is `delivery`.
 */
export const JOB_VARIABLE = 'STEWARD_JOB';

/**
 * Starts steward in the background. The start may fail, so the caller must first store the work in a file.
 */
export function startDetached(args: readonly string[], cwd: string): void {
  const script = process.argv[1];
  if (script === undefined) return;
  startProgram(process.execPath, [...process.execArgv, script, ...args], cwd, { [JOB_VARIABLE]: 'delivery' });
}

/**
 * Starts a program in the background. Adds `more` to the environment of this process. Ignores failures to
 * start.
 */
export function startProgram(
  file: string,
  args: readonly string[],
  cwd: string,
  more: NodeJS.ProcessEnv = {},
): void {
  const env = { ...process.env, ...more };
  const child = spawn(file, args, { cwd, env, detached: true, stdio: 'ignore', windowsHide: true });
  // Ignore a failed start, for example at the system's process limit. The next run of steward will do the
  // work.
  child.on('error', () => child.unref());
  child.unref();
}

/** Returns the names of all running processes, or an empty set without /proc. */
export function processNames(): ReadonlySet<string> {
  const pids = listSystemFolder('/proc').filter((name) => /^\d+$/.test(name));
  // One call per process: opening, measuring and closing hundreds of files takes 20 ms.
  const nameOf = (pid: string): string | undefined =>
    unless(['ESRCH', 'ENOENT', 'EACCES'], () => readFileSync(`/proc/${pid}/comm`, 'utf8'));
  return new Set(pids.map((pid) => nameOf(pid)?.trim() ?? ''));
}

/** Environment variable with the pid of the parent process. The parent restarts this process on request. */
const PARENT_VARIABLE = 'STEWARD_RELAUNCHED';
/** Exit code of a child that requests a restart. */
const RELAUNCH_CODE = 86;

/**
 * Runs the upgraded program as a child in the same terminal and returns its exit code. If this process is
 * already such a child, returns the exit code that makes the parent start a new child.
 */
export async function relaunch(args: readonly string[]): Promise<number> {
  if (process.env[PARENT_VARIABLE] === String(process.ppid)) return RELAUNCH_CODE;
  for (;;) {
    const code = await runChild(args);
    if (code !== RELAUNCH_CODE) return code;
  }
}

/** Replaces this process's environment. */
export function replaceEnvironment(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
}

/** Runs steward as a child in the same terminal and returns its exit code. */
export function runChild(args: readonly string[]): Promise<number> {
  return runHere(process.execPath, [...process.execArgv, process.argv[1] ?? '', ...args]);
}

/** Runs a program in the same terminal and returns its exit code. */
export function runHere(file: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, [PARENT_VARIABLE]: String(process.pid) };
    const child = spawn(file, args, { stdio: 'inherit', env });
    // Ignores Ctrl-C here, because the terminal also sends it to the child.
    const releases = [
      onSignals(['SIGINT'], () => undefined),
      onSignals(['SIGTERM', 'SIGHUP'], (signal) => child.kill(signal)),
    ];
    const release = (): void => releases.forEach((remove) => remove());
    child.on('error', (error) => {
      release();
      reject(error);
    });
    child.on('exit', (code, signal) => {
      release();
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}
