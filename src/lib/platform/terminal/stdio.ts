import { once } from 'node:events';
import { fstatSync, writeSync } from 'node:fs';

import { StewardError, errnoCode } from '../../errors';

/** What a terminal can show; a pipe or a file gets plain text of 80 columns. */
export interface Terminal {
  isTTY: boolean;
  columns: number;
  color: boolean;
  /** False for a terminal that cannot show block characters. */
  unicode: boolean;
}

/** Returns whether stdout is a terminal. Sets up Node's stream only for a device, which scripts rarely write to. */
export function isOnTerminal(): boolean {
  try {
    return fstatSync(1).isCharacterDevice() && process.stdout.isTTY;
  } catch {
    return false;
  }
}

/**
 * Writes a short text to stdout without setting up Node's stream (1 to 2 ms that the hot path saves).
 * A reader that has gone is no error; a full non-blocking pipe is left to the stream.
 */
export function writeOut(text: string): void {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if (errnoCode(error) === 'EPIPE') return;
      // A full pipe waits in the stream; what cannot be written at all is told there.
      process.stdout.on('error', (failure) => {
        writeSync(2, `Cannot write to standard output: ${failure.message}\n`);
        process.exit(8);
      });
      process.stdout.write(rest);
      return;
    }
  }
}

/**
 * Writes a short text to stdout, all of it before it returns. A reader that has gone is no error; what else keeps it
 * from being written is thrown: `unavailable` for a pipe that stays full for `waitMs`.
 */
export function writeOutNow(text: string, waitMs: number): void {
  let rest = Buffer.from(text);
  for (let waited = 0; rest.length > 0;) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      const code = errnoCode(error);
      if (code === 'EPIPE') return;
      if (code !== 'EAGAIN') throw error;
      if (waited >= waitMs) {
        throw new StewardError('unavailable', 'Cannot write to standard output: nothing reads it.', {
          cause: error,
        });
      }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
      waited += 1;
    }
  }
}

/**
 * Writes to stdout, as its stream does; false while a pipe is full. Into a file all of it is written before it returns, or
 * the error is thrown: the stream takes the part that a full disk let through for the whole.
 */
export function writeStdout(data: Uint8Array | string): boolean {
  if (!fstatSync(1).isFile()) return process.stdout.write(data);
  let rest = Buffer.from(data);
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(1, rest));
  } catch (error) {
    throw error instanceof Error ? Object.assign(error, { path: 'standard output' }) : error;
  }
  return true;
}

/** Writes pieces to stdout as fast as its reader takes them, so that a long text needs no memory. */
export async function writeAllOut(pieces: Iterable<string>): Promise<void> {
  for (const piece of pieces) {
    if (!writeStdout(piece)) await once(process.stdout, 'drain');
  }
}

/** The columns of the terminal on stdout; undefined for a pipe, whose stream would take 9 ms to set up. */
export function stdoutColumns(): number | undefined {
  return fstatSync(1).isCharacterDevice() ? process.stdout.columns : undefined;
}

interface Stream {
  isTTY?: boolean;
  columns?: number;
}

/**
 * What a stream can show. NO_COLOR (not empty) switches colour off and FORCE_COLOR (not 0, false) on;
 * otherwise it is on for a terminal that is not dumb. NO_COLOR wins.
 */
export function terminalOf(stream: Stream = process.stdout, env: NodeJS.ProcessEnv = process.env): Terminal {
  const isTTY = stream.isTTY === true;
  const columns = stream.columns !== undefined && stream.columns > 0 ? stream.columns : 80;
  return {
    isTTY,
    columns: isTTY ? columns : 80,
    color: hasColor(isTTY, env),
    unicode: !isTTY || hasUnicode(env),
  };
}

/** The console of Linux has no such glyphs; a locale that names another character set means it. */
function hasUnicode(env: NodeJS.ProcessEnv): boolean {
  if (env['TERM'] === 'linux') return false;
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find((name) => (name ?? '') !== '') ?? '';
  return !/^(?:C|POSIX)$|\.(?!utf-?8)/i.test(locale);
}

function hasColor(isTTY: boolean, env: NodeJS.ProcessEnv): boolean {
  if ((env['NO_COLOR'] ?? '') !== '') return false;
  const force = env['FORCE_COLOR'];
  if (force !== undefined) return force !== '0' && force !== 'false';
  return isTTY && env['TERM'] !== 'dumb';
}

/**
 * Talk and errors, for stderr. A reader that has gone (`2>&1 | head`) ends neither the work that is told of nor its
 * exit code: Node would end the process at the first line that nobody takes.
 */
export function writeErr(text: string): void {
  if (process.stderr.listenerCount('error') === 0) process.stderr.on('error', () => undefined);
  process.stderr.write(text);
}

/**
 * A reader that closes its end (`| head`) ends the run quietly, with the exit code it has by then. Anything
 * else that keeps stdout from being written (a full disk) is handed over, and ends the run with its code.
 */
export function exitWhenReaderLeaves(report: (error: unknown) => number): void {
  process.stdout.on('error', (error) => {
    process.exit(errnoCode(error) === 'EPIPE' ? undefined : report(error));
  });
}

/**
 * Ctrl-C ends the run with 130, unless a command listens itself (a server that has to close down).
 */
export function exitOnInterrupt(code: number): void {
  process.on('SIGINT', () => {
    if (process.listenerCount('SIGINT') === 1) process.exit(code);
  });
}

/**
 * Ctrl-C ends the run with this code whoever else listens, until the returned function is called: for what is shown with
 * the cursor of a terminal hidden, whose library listens too. The cursor, on stderr, is shown again.
 */
export function exitOnAnyInterrupt(code: number): () => void {
  const exit = (): void => {
    writeSync(2, '\u001b[?25h\n');
    process.exit(code);
  };
  process.on('SIGINT', exit);
  return () => {
    process.off('SIGINT', exit);
  };
}

/**
 * Ends a process whose work is done. One that is left to end by itself first waits for the engine, which
 * compiles the busiest functions on other threads: 5 to 15 ms after a long log. What could not be written yet
 * is still waited for.
 */
export async function exitAtOnce(): Promise<void> {
  // An error of the last write is told in the next turn of the loop.
  await new Promise((resolve) => setImmediate(resolve));
  if (process.stdout.writableLength === 0 && process.stderr.writableLength === 0) process.exit();
}

/** The file that stdout is, and its size now. */
export interface OutputFile {
  dev: number;
  ino: number;
  size: number;
}

/** Where a program shows what must be shown once. */
export interface ShownOutput {
  /** Undefined for what cannot be looked at again: a terminal, a pipe. */
  file: () => OutputFile | undefined;
  /** Resolves when the system has taken all of it. */
  write: (bytes: Uint8Array | string) => Promise<void>;
  /** The most bytes of a write; a pipe takes so much as a whole or not at all. */
  chunkBytes: number;
}

/** What Linux and most others call PIPE_BUF. */
const PIPE_BYTES = 4096;
const FILE_BYTES = 64 * 1024;

export function standardOutput(): ShownOutput {
  const file = (): OutputFile | undefined => {
    const facts = fstatSync(1);
    return facts.isFile() ? { dev: facts.dev, ino: facts.ino, size: facts.size } : undefined;
  };
  return {
    file,
    chunkBytes: file() === undefined ? PIPE_BYTES : FILE_BYTES,
    write: (bytes) =>
      new Promise((resolve, reject) => {
        if (file() !== undefined) {
          writeStdout(bytes);
          resolve();
          return;
        }
        process.stdout.write(bytes, (error) => {
          if (error === undefined || error === null) resolve();
          else reject(error);
        });
      }),
  };
}
