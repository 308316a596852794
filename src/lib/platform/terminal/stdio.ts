import { once } from 'node:events';
import { fstatSync, writeSync } from 'node:fs';

import { StewardError, errnoCode } from '../../errors';

/** What a terminal can show. A pipe or file gets plain text with 80 columns. */
export interface Terminal {
  isTTY: boolean;
  columns: number;
  color: boolean;
  /** Whether the terminal can show block characters. */
  unicode: boolean;
}

/** Returns whether stdout is a terminal. Doesn't create Node's stream for a pipe or file. */
export function isOnTerminal(): boolean {
  try {
    return fstatSync(1).isCharacterDevice() && process.stdout.isTTY;
  } catch {
    return false;
  }
}

/** Writes to stdout as much as it takes. Returns the rest and the error, if any; a closed pipe takes everything. */
function writeNow(bytes: Buffer): { rest: Buffer; error?: unknown } {
  let rest = bytes;
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(1, rest));
  } catch (error) {
    if (errnoCode(error) !== 'EPIPE') return { rest, error };
  }
  return { rest };
}

/**
 * Writes short text to stdout. Uses Node's stream only if a pipe is full, because creating the stream takes 7 ms.
 * Ignores a closed pipe. Returns whether nothing is left to write.
 */
export function writeOut(text: string): boolean {
  const { rest, error } = writeNow(Buffer.from(text));
  if (error === undefined) return true;
  process.stdout.on('error', (failure) => {
    writeSync(2, `Cannot write to standard output: ${failure.message}\n`);
    process.exit(8);
  });
  process.stdout.write(rest);
  return false;
}

/**
 * Writes short text to stdout synchronously. Ignores a closed pipe. Throws `unavailable` if a pipe stays full
 * for `waitMs`.
 */
export function writeOutNow(text: string, waitMs: number): void {
  let { rest, error } = writeNow(Buffer.from(text));
  for (let waited = 0; error !== undefined; waited += 1) {
    if (errnoCode(error) !== 'EAGAIN') throw error;
    if (waited >= waitMs) {
      const message = 'Cannot write to standard output: the pipe is full and its reader is stalled.';
      throw new StewardError('unavailable', message, { cause: error });
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    ({ rest, error } = writeNow(rest));
  }
}

/**
 * Writes to stdout; returns false if the caller should wait for `drain`. Writes directly to files, because
 * Node's stream ignores a partial write to a full disk.
 */
export function writeStdout(data: Uint8Array | string): boolean {
  if (!fstatSync(1).isFile()) return process.stdout.write(data);
  const { error } = writeNow(Buffer.from(data));
  if (error instanceof Error) throw Object.assign(error, { path: 'standard output' });
  return true;
}

/** Writes to stdout. While a pipe is full, waits for the reader. */
export async function writeAllOut(pieces: Iterable<string>): Promise<void> {
  for (const piece of pieces) {
    if (!writeStdout(piece)) await once(process.stdout, 'drain');
  }
}

/**
 * Returns the width of the terminal on stdout, or undefined for a pipe. Creating Node's stream for a pipe
 * would take 9 ms.
 */
export function stdoutColumns(): number | undefined {
  return fstatSync(1).isCharacterDevice() ? process.stdout.columns : undefined;
}

interface Stream {
  isTTY?: boolean;
  columns?: number;
}

/**
 * Returns what a stream can show. A nonempty NO_COLOR turns color off; otherwise, FORCE_COLOR turns it on,
 * except for 0 or false.
 */
export function terminalOf(
  stream: Stream = isOnTerminal() ? process.stdout : {},
  env: NodeJS.ProcessEnv = process.env,
): Terminal {
  const isTTY = stream.isTTY === true;
  const columns = stream.columns !== undefined && stream.columns > 0 ? stream.columns : 80;
  return {
    isTTY,
    columns: isTTY ? columns : 80,
    color: hasColor(isTTY, env),
    unicode: !isTTY || hasUnicode(env),
  };
}

/**
 * Returns whether the terminal can show block characters. False on the Linux console and in non-UTF-8
 * locales.
 */
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

/** Writes to stderr. The error handler prevents a crash if the pipe is closed (`2>&1 | head`). */
export function writeErr(text: string): void {
  if (process.stderr.listenerCount('error') === 0) process.stderr.on('error', () => undefined);
  process.stderr.write(text);
}

/**
 * Exits without an error if the reader of stdout closes the pipe (`| head`). After any other write error,
 * exits with the code that `report` returns.
 */
export function exitWhenReaderLeaves(report: (error: unknown) => number): void {
  process.stdout.on('error', (error) => {
    process.exit(errnoCode(error) === 'EPIPE' ? undefined : report(error));
  });
}

/** Exits on Ctrl-C unless a command handles it. */
export function exitOnInterrupt(code: number): void {
  process.on('SIGINT', () => {
    if (process.listenerCount('SIGINT') === 1) process.exit(code);
  });
}

/**
 * Makes Ctrl-C show the cursor and exit, for use with a library that hides the cursor. Returns a function
 * that removes the handler.
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
 * Exits immediately unless output is pending. A normal exit would wait 5 to 15 ms for Node's compiler
 * threads.
 */
export async function exitAtOnce(): Promise<void> {
  // Wait for the next turn of the event loop, in which an error of the last write is reported.
  await new Promise((resolve) => setImmediate(resolve));
  if (process.stdout.writableLength === 0 && process.stderr.writableLength === 0) process.exit();
}

/** The file that stdout is redirected to, with its current size. */
interface OutputFile {
  dev: number;
  ino: number;
  size: number;
}

/** Value of PIPE_BUF on Linux and most other systems. */
const PIPE_BYTES = 4096;
const FILE_BYTES = 64 * 1024;

export function standardOutput() {
  const file = (): OutputFile | undefined => {
    const facts = fstatSync(1);
    return facts.isFile() ? { dev: facts.dev, ino: facts.ino, size: facts.size } : undefined;
  };
  return {
    /** Returns the file that stdout is redirected to, or undefined for a terminal or pipe. */
    file,
    /** Maximum size of one write, small enough that a write to a pipe is atomic. */
    chunkBytes: file() === undefined ? PIPE_BYTES : FILE_BYTES,
    /** Resolves when the system has accepted all bytes. */
    write: (bytes: Uint8Array | string) =>
      new Promise<void>((resolve, reject) => {
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

/** Output to stdout that must not be lost or duplicated. */
export type ShownOutput = ReturnType<typeof standardOutput>;
