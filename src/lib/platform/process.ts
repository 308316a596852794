import { spawn } from 'node:child_process';

import { StewardError, errnoCode } from '../errors';

export interface RunOptions {
  cwd?: string;
  /** The whole environment of the process; the current one when left out. */
  env?: NodeJS.ProcessEnv;
  /** The process and its children are killed after this long. */
  timeoutMs: number;
  /** Output kept of each stream, in bytes; what is beyond is dropped and `truncated` is set. */
  maxBytes?: number;
  input?: string | Buffer;
}

export interface RunResult {
  /** Exit code; null when a signal ended it. */
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  truncated: boolean;
  timedOut: boolean;
}

export type Run = (file: string, args: readonly string[], options: RunOptions) => Promise<RunResult>;

const DEFAULT_MAX_BYTES = 8 * 1024 * 1024;

/**
 * Runs a program by its argument array, never through a shell, with a time-out that kills its process
 * group and a bound on its output. A program that is missing is `not_found`; an exit code is a result.
 */
export const run: Run = (file, args, options) =>
  new Promise((resolve, reject) => {
    const grouped = process.platform !== 'win32';
    const child = spawn(file, args, {
      cwd: options.cwd,
      env: options.env,
      detached: grouped,
      windowsHide: true,
      stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    const max = options.maxBytes ?? DEFAULT_MAX_BYTES;
    const out = collector(max);
    const err = collector(max);
    let timedOut = false;
    const killAll = (): void => {
      if (child.pid === undefined) return;
      try {
        if (grouped) process.kill(-child.pid, 'SIGKILL');
        else child.kill('SIGKILL');
      } catch (error) {
        if (errnoCode(error) !== 'ESRCH') reject(error);
      }
    };
    const timer = setTimeout(() => {
      timedOut = true;
      killAll();
      // A grandchild that left the group may hold the pipes open: do not wait for it.
      child.stdout?.destroy();
      child.stderr?.destroy();
    }, options.timeoutMs);
    child.stdout?.on('data', out.add);
    child.stderr?.on('data', err.add);
    child.stdin?.on('error', () => child.stdin?.destroy());
    if (options.input !== undefined) child.stdin?.end(options.input);
    child.on('error', (error) => {
      clearTimeout(timer);
      reject(
        errnoCode(error) === 'ENOENT'
          ? new StewardError('not_found', `${file} is not installed or not on the PATH.`, { cause: error })
          : new StewardError('unavailable', `${file} could not be started: ${error.message}`, {
              cause: error,
            }),
      );
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      resolve({
        code,
        signal,
        stdout: out.text(),
        stderr: err.text(),
        truncated: out.truncated() || err.truncated(),
        timedOut,
      });
    });
  });

interface Collector {
  add: (chunk: Buffer) => void;
  text: () => string;
  truncated: () => boolean;
}

function collector(max: number): Collector {
  const chunks: Buffer[] = [];
  let size = 0;
  let over = false;
  return {
    add(chunk) {
      const room = max - size;
      if (chunk.length > room) over = true;
      if (room > 0) chunks.push(chunk.subarray(0, room));
      size += Math.min(chunk.length, Math.max(room, 0));
    },
    text: () => Buffer.concat(chunks).toString('utf8'),
    truncated: () => over,
  };
}
