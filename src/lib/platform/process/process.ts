import type { ChildProcess } from 'node:child_process';
import { statSync } from 'node:fs';
import { basename } from 'node:path';

import { StewardError, errnoCode } from '../../errors';
import { spawn } from './spawn';

export interface RunOptions {
  cwd?: string;
  /** The whole environment of the process; the current one when left out. */
  env?: NodeJS.ProcessEnv;
  /** The process and its children are killed after this long. */
  timeoutMs: number;
  /** The most that each stream may have, in bytes: a program that prints more is killed, and `unavailable`. */
  maxBytes?: number;
  input?: string | Buffer;
  /** How the output becomes text; `latin1` keeps every byte. */
  encoding?: BufferEncoding;
  /** Kills the process and its children when it is aborted; what was said by then is the result. */
  signal?: AbortSignal;
}

export interface RunResult {
  /** Exit code; null when a signal ended it, or when it could not even be killed. */
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  /** A background process of it was still printing when the time was over: the rest is missing. */
  truncated: boolean;
  timedOut: boolean;
}

export type Run = (file: string, args: readonly string[], options: RunOptions) => Promise<RunResult>;

const DEFAULT_MAX_BYTES = 8 * 1024 * 1024;
/** A process that has ended may have left its pipes to a child in the background: so long is listened on. */
const AFTER_EXIT_MS = 200;
/** What hangs in the kernel (a network folder that is gone) does not even die: it is left after so long. */
const AFTER_KILL_MS = 1000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Runs a program by its argument array, never through a shell. Its process group is killed at the time-out, and
 * as soon as it prints more than `maxBytes`. A program or working folder that is missing is `not_found`; one that
 * cannot be started, or prints too much, `unavailable`; an exit code is a result.
 */
export const run: Run = (file, args, options) =>
  new Promise((resolve, reject) => {
    const child = start(file, args, options);
    killAtExit(child);
    const [stdout, stderr] = [
      { chunks: [], bytes: 0 },
      { chunks: [], bytes: 0 },
    ];
    const of: Running = { child, file, options, resolve, reject, stdout, stderr, heard: 0 };
    of.timer = setTimeout(() => expire(of), Math.min(options.timeoutMs, LONGEST_TIMER_MS));
    of.abort = () => stop(of);
    if (options.signal?.aborted === true) stop(of);
    else options.signal?.addEventListener('abort', of.abort, { once: true });
    child.stdout?.on('data', (chunk: Buffer) => hear(of, of.stdout, chunk));
    child.stderr?.on('data', (chunk: Buffer) => hear(of, of.stderr, chunk));
    // A program that does not read its input closes the pipe: its exit code tells what came of it.
    child.stdin?.on('error', () => child.stdin?.destroy());
    if (options.input !== undefined) child.stdin?.end(options.input);
    child.on('error', (error) => {
      release(of);
      closePipes(child);
      reject(startError(error, file, options.cwd));
    });
    child.on('exit', () => {
      of.exited = true;
      if (of.stopped !== true) closeWhenQuiet(of);
    });
    child.on('close', (code, signal) => finish(of, code, signal));
  });

interface Said {
  chunks: Buffer[];
  bytes: number;
}

/** A program that runs, what it said, and what became of it. */
interface Running {
  child: ChildProcess;
  file: string;
  options: RunOptions;
  resolve: (result: RunResult) => void;
  reject: (error: unknown) => void;
  stdout: Said;
  stderr: Said;
  /** Chunks that were heard of both. */
  heard: number;
  timer?: NodeJS.Timeout;
  grace?: NodeJS.Timeout;
  abort?: () => void;
  /** The program itself has ended; its pipes may be open still. */
  exited?: boolean;
  /** Its time was over after its end: what lies in the pipes is read, and no more is waited for. */
  overdue?: boolean;
  stopped?: boolean;
  timedOut?: boolean;
  flooded?: boolean;
  cut?: boolean;
}

function release(of: Running): void {
  clearTimeout(of.timer);
  clearTimeout(of.grace);
  if (of.abort !== undefined) of.options.signal?.removeEventListener('abort', of.abort);
}

function finish(of: Running, code: number | null, signal: NodeJS.Signals | null): void {
  release(of);
  if (of.flooded === true) {
    of.reject(floodError(of.file, maxBytesOf(of)));
    return;
  }
  const { encoding = 'utf8' } = of.options;
  const [stdout, stderr] = [of.stdout, of.stderr].map(({ chunks }) =>
    Buffer.concat(chunks).toString(encoding),
  );
  const { cut: truncated = false, timedOut = false } = of;
  of.resolve({ code, signal, stdout: stdout ?? '', stderr: stderr ?? '', truncated, timedOut });
}

function expire(of: Running): void {
  if (of.exited === true) {
    of.overdue = true;
    return;
  }
  of.timedOut = true;
  stop(of);
}

function stop(of: Running): void {
  of.stopped = true;
  clearTimeout(of.timer);
  clearTimeout(of.grace);
  try {
    killGroup(of.child);
  } catch (error) {
    of.reject(error);
  }
  // A grandchild that left the group may hold the pipes open: do not wait for it.
  closePipes(of.child);
  of.grace = setTimeout(() => {
    of.child.unref();
    finish(of, null, 'SIGKILL');
  }, AFTER_KILL_MS);
}

function hear(of: Running, said: Said, chunk: Buffer): void {
  of.heard += 1;
  if (of.flooded === true) return;
  said.bytes += chunk.length;
  said.chunks.push(chunk);
  if (said.bytes <= maxBytesOf(of)) return;
  of.flooded = true;
  stop(of);
}

function maxBytesOf({ options }: Running): number {
  return options.maxBytes ?? DEFAULT_MAX_BYTES;
}

/** After the program's end: closes its pipes once nothing comes any more, or the time is over. */
function closeWhenQuiet(of: Running): void {
  const before = of.heard;
  of.grace = setTimeout(() => {
    // After a pause of our own what lies in the pipes is read first: immediates come behind the polling.
    setImmediate(() => {
      if (of.heard !== before && of.overdue !== true) {
        closeWhenQuiet(of);
        return;
      }
      of.cut = of.heard !== before;
      closePipes(of.child);
    });
  }, AFTER_EXIT_MS);
}

function closePipes(child: ChildProcess): void {
  child.stdin?.destroy();
  child.stdout?.destroy();
  child.stderr?.destroy();
}

function start(file: string, args: readonly string[], options: RunOptions): ChildProcess {
  try {
    return spawn(file, args, {
      cwd: options.cwd,
      env: options.env,
      detached: process.platform !== 'win32',
      windowsHide: true,
      stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
  } catch (error) {
    // A few refusals of the system (arguments too long) are thrown at once, the others come as an event.
    throw startError(error, file, options.cwd);
  }
}

function startError(error: unknown, file: string, cwd: string | undefined): unknown {
  const code = errnoCode(error);
  if (!(error instanceof Error) || code === undefined || code.startsWith('ERR_')) return error;
  // The system says ENOENT of either.
  if (cwd !== undefined && statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true) {
    return new StewardError('not_found', `The folder ${cwd} does not exist.`, {
      hint: 'Check the path, and that its disk is mounted.',
      cause: error,
    });
  }
  if (code === 'ENOENT') {
    return new StewardError('not_found', `${file} is not installed or not on the PATH.`, {
      hint: `Install ${file}, or add its folder to PATH.`,
      cause: error,
    });
  }
  return new StewardError('unavailable', `${file} could not be started: ${error.message}`, {
    hint:
      code === 'EACCES'
        ? `Make ${file} executable for your user.`
        : 'Try again when the system is less busy.',
    cause: error,
  });
}

function floodError(file: string, max: number): StewardError {
  return new StewardError('unavailable', `${file} printed more than ${max} bytes and was stopped.`, {
    hint: `Run ${basename(file)} by hand to see what it prints.`,
  });
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  if (process.platform === 'win32') {
    // Windows has no process groups: taskkill walks the tree.
    spawn('taskkill', ['/pid', String(child.pid), '/t', '/f'], { stdio: 'ignore', windowsHide: true }).on(
      'error',
      () => child.kill('SIGKILL'),
    );
    return;
  }
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    if (errnoCode(error) === 'ESRCH') return;
    throw error;
  }
}

const running = new Set<ChildProcess>();

/** A process of a group of its own hears nothing of Ctrl-C: it is killed when this one leaves before its end. */
function killAtExit(child: ChildProcess): void {
  if (running.size === 0) process.once('exit', killRunning);
  running.add(child);
  const forget = (): void => {
    if (running.delete(child) && running.size === 0) process.off('exit', killRunning);
  };
  child.once('exit', forget).once('error', forget);
}

function killRunning(): void {
  for (const child of running) {
    try {
      killGroup(child);
    } catch {
      // A group that may not be signalled as a whole: at least the program itself.
      child.kill('SIGKILL');
    }
  }
}
