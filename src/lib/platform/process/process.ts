import type { ChildProcess } from 'node:child_process';
import { statSync } from 'node:fs';
import { basename } from 'node:path';

import { StewardError, errnoCode, unless } from '../../errors';
import { spawn } from './spawn';

export interface RunOptions {
  cwd?: string;
  /** The complete environment of the process. Default: the environment of this process. */
  env?: NodeJS.ProcessEnv;
  /** Timeout, after which the process and its children are killed. */
  timeoutMs: number;
  /**
   * Output limit for each stream, in bytes. A program that prints more is killed, and the call throws
   * `unavailable`.
   */
  maxBytes?: number;
  input?: string | Buffer;
  /** Encoding of the output; `latin1` preserves every byte. */
  encoding?: BufferEncoding;
  /** When aborted, kills the process and its children and returns the output so far. */
  signal?: AbortSignal;
}

export interface RunResult {
  /** Exit code, or null if a signal ended the program or it couldn't be killed. */
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  /** Whether output is missing because a background process was still printing at the timeout. */
  truncated: boolean;
  timedOut: boolean;
}

export type Run = (file: string, args: readonly string[], options: RunOptions) => Promise<RunResult>;

/** Runs each command line once, and gives later callers the same answer. */
export function onceEach(run: Run): Run {
  const answers = new Map<string, ReturnType<Run>>();
  return (file, args, options) => {
    const key = JSON.stringify([file, args, options]);
    const answer = answers.get(key) ?? run(file, args, options);
    answers.set(key, answer);
    return answer;
  };
}

const DEFAULT_MAX_BYTES = 8 * 1024 * 1024;
/** How long to read the pipes after the program exits. A background process may keep the pipes open. */
const AFTER_EXIT_MS = 200;
/**
 * How long to wait for a killed program to exit. A program that hangs on an unreachable network folder may
 * never exit.
 */
const AFTER_KILL_MS = 1000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Runs a program without a shell, and kills its process group on timeout. Throws `not_found` if the program
 * or folder is missing, and `unavailable` if the program can't start or prints too much.
 */
export const run: Run = (file, args, options) =>
  new Promise((resolve, reject) => {
    const child = start(file, args, options);
    killAtExit(child);
    const [stdout, stderr] = [
      { chunks: [], bytes: 0 },
      { chunks: [], bytes: 0 },
    ];
    const state: Running = { child, file, options, resolve, reject, stdout, stderr, chunkCount: 0 };
    state.timer = setTimeout(() => onTimeout(state), Math.min(options.timeoutMs, LONGEST_TIMER_MS));
    state.abort = () => stop(state);
    if (options.signal?.aborted === true) stop(state);
    else options.signal?.addEventListener('abort', state.abort, { once: true });
    child.stdout?.on('data', (chunk: Buffer) => onOutput(state, state.stdout, chunk));
    child.stderr?.on('data', (chunk: Buffer) => onOutput(state, state.stderr, chunk));
    // Ignores write errors, because a program may close its input early.
    child.stdin?.on('error', () => child.stdin?.destroy());
    if (options.input !== undefined) child.stdin?.end(options.input);
    child.on('error', (error) => {
      release(state);
      closePipes(child);
      reject(startError(error, file, options.cwd));
    });
    child.on('exit', () => {
      state.hasExited = true;
      if (state.isStopped !== true) closeWhenQuiet(state);
    });
    child.on('close', (code, signal) => finish(state, code, signal));
  });

interface Output {
  chunks: Buffer[];
  bytes: number;
}

interface Running {
  child: ChildProcess;
  file: string;
  options: RunOptions;
  resolve: (result: RunResult) => void;
  reject: (error: unknown) => void;
  stdout: Output;
  stderr: Output;
  chunkCount: number;
  timer?: NodeJS.Timeout;
  grace?: NodeJS.Timeout;
  abort?: () => void;
  /** Whether the program has ended. Its pipes may still be open. */
  hasExited?: boolean;
  /**
   * Whether the timeout passed after the program ended. If so, only output that is already in the pipes is
   * read.
   */
  isOverdue?: boolean;
  isStopped?: boolean;
  timedOut?: boolean;
  isTooLong?: boolean;
  truncated?: boolean;
}

function release(state: Running): void {
  clearTimeout(state.timer);
  clearTimeout(state.grace);
  if (state.abort !== undefined) state.options.signal?.removeEventListener('abort', state.abort);
}

function finish(state: Running, code: number | null, signal: NodeJS.Signals | null): void {
  release(state);
  const { file, options, truncated = false, timedOut = false } = state;
  if (state.isTooLong === true) {
    const message = `${file} printed more than ${maxBytesOf(state)} bytes and was stopped.`;
    const hint = `Run ${basename(file)} manually to see its output.`;
    state.reject(new StewardError('unavailable', message, { hint }));
    return;
  }
  const textOf = ({ chunks }: Output): string => Buffer.concat(chunks).toString(options.encoding ?? 'utf8');
  state.resolve({
    code,
    signal,
    stdout: textOf(state.stdout),
    stderr: textOf(state.stderr),
    truncated,
    timedOut,
  });
}

function onTimeout(state: Running): void {
  if (state.hasExited === true) {
    state.isOverdue = true;
    return;
  }
  state.timedOut = true;
  stop(state);
}

function stop(state: Running): void {
  state.isStopped = true;
  clearTimeout(state.timer);
  clearTimeout(state.grace);
  try {
    killGroup(state.child);
  } catch (error) {
    state.reject(error);
  }
  // A child outside the process group may keep the pipes open.
  closePipes(state.child);
  state.grace = setTimeout(() => {
    state.child.unref();
    finish(state, null, 'SIGKILL');
  }, AFTER_KILL_MS);
}

function onOutput(state: Running, output: Output, chunk: Buffer): void {
  state.chunkCount += 1;
  if (state.isTooLong === true) return;
  output.bytes += chunk.length;
  output.chunks.push(chunk);
  if (output.bytes <= maxBytesOf(state)) return;
  state.isTooLong = true;
  stop(state);
}

function maxBytesOf({ options }: Running): number {
  return options.maxBytes ?? DEFAULT_MAX_BYTES;
}

function closeWhenQuiet(state: Running): void {
  const before = state.chunkCount;
  state.grace = setTimeout(() => {
    setImmediate(() => {
      if (state.chunkCount !== before && state.isOverdue !== true) {
        closeWhenQuiet(state);
        return;
      }
      state.truncated = state.chunkCount !== before;
      closePipes(state.child);
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
    // `spawn` throws some errors, for example if the arguments are too long, and emits the others.
    throw startError(error, file, options.cwd);
  }
}

function startError(error: unknown, file: string, cwd: string | undefined): unknown {
  const code = errnoCode(error);
  if (!(error instanceof Error) || code === undefined || code.startsWith('ERR_')) return error;
  // ENOENT means that the program or the folder is missing.
  if (cwd !== undefined && statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true) {
    return new StewardError('not_found', `The folder ${cwd} does not exist.`, {
      hint: 'Check the path and whether its disk is mounted.',
      cause: error,
    });
  }
  if (code === 'ENOENT') {
    return new StewardError('not_found', `${file} is not installed or not on the PATH.`, {
      hint: `Install ${file}, or add its folder to PATH.`,
      cause: error,
    });
  }
  const hint =
    code === 'EACCES' ? `Make ${file} executable for your user.` : 'Try again when the system is less busy.';
  return new StewardError('unavailable', `${file} could not be started: ${error.message}`, {
    hint,
    cause: error,
  });
}

function killGroup(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined) return;
  if (process.platform === 'win32') {
    // Windows has no process groups. `taskkill` kills the process tree.
    spawn('taskkill', ['/pid', String(pid), '/t', '/f'], { stdio: 'ignore', windowsHide: true }).on(
      'error',
      () => child.kill('SIGKILL'),
    );
    return;
  }
  unless(['ESRCH'], () => process.kill(-pid, 'SIGKILL'));
}

const running = new Set<ChildProcess>();

/**
 * Kills the program when this process exits, because Ctrl-C doesn't reach the program's own process group.
 */
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
      // This user may lack permission to signal the whole group.
      child.kill('SIGKILL');
    }
  }
}
