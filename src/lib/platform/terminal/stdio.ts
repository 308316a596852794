import { once } from 'node:events';
import { fstatSync, writeSync } from 'node:fs';

import { StewardError, errnoCode } from '../../errors';

/** Capabilities of a terminal; a pipe or a file gets plain text of 80 columns. */
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
 * Writes a short text to stdout without Node's stream, which costs the hot path 1 to 2 ms. Ignores a closed reader;
 * leaves a full pipe to the stream.
 */
export function writeOut(text: string): void {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if (errnoCode(error) === 'EPIPE') return;
      // The stream waits for a full pipe and reports other errors.
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
 * Writes a short text to stdout synchronously. Ignores a closed reader; throws `unavailable` if a pipe stays full for
 * `waitMs`.
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
 * Writes to stdout as its stream does; false while a pipe is full. Writes files directly, since the stream does not
 * notice a partial write to a full disk.
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

/** Writes pieces to stdout at its reader's pace. */
export async function writeAllOut(pieces: Iterable<string>): Promise<void> {
  for (const piece of pieces) {
    if (!writeStdout(piece)) await once(process.stdout, 'drain');
  }
}

/** Returns the columns of the terminal on stdout; undefined for a pipe, whose stream would take 9 ms to set up. */
export function stdoutColumns(): number | undefined {
  return fstatSync(1).isCharacterDevice() ? process.stdout.columns : undefined;
}

interface Stream {
  isTTY?: boolean;
  columns?: number;
}

/** Returns the capabilities of a stream. NO_COLOR (not empty) turns color off, else FORCE_COLOR (not 0, false) on. */
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

/** The Linux console has no block characters, nor do character sets other than UTF-8. */
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

/** Writes to stderr. By default, a closed reader (`2>&1 | head`) would end the run. */
export function writeErr(text: string): void {
  if (process.stderr.listenerCount('error') === 0) process.stderr.on('error', () => undefined);
  process.stderr.write(text);
}

/** Ends the run quietly when stdout's reader closes (`| head`). Other errors of stdout end it with the reported code. */
export function exitWhenReaderLeaves(report: (error: unknown) => number): void {
  process.stdout.on('error', (error) => {
    process.exit(errnoCode(error) === 'EPIPE' ? undefined : report(error));
  });
}

/** Ends the run at Ctrl-C, unless a command handles it. */
export function exitOnInterrupt(code: number): void {
  process.on('SIGINT', () => {
    if (process.listenerCount('SIGINT') === 1) process.exit(code);
  });
}

/**
 * Ends the run at Ctrl-C and shows the cursor again, until the returned function is called: for a library that hides the
 * cursor and listens to Ctrl-C itself.
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

/** Exits after writing pending output; saves the 5 to 15 ms that Node would wait for its compiler threads. */
export async function exitAtOnce(): Promise<void> {
  // An error of the last write is reported in the next turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve));
  if (process.stdout.writableLength === 0 && process.stderr.writableLength === 0) process.exit();
}

/** Returns the file behind stdout, with its current size. */
export interface OutputFile {
  dev: number;
  ino: number;
  size: number;
}

/** Output that must appear exactly once. */
export interface ShownOutput {
  /** Undefined for a terminal or a pipe. */
  file: () => OutputFile | undefined;
  /** Resolves when the system has accepted all bytes. */
  write: (bytes: Uint8Array | string) => Promise<void>;
  /** Limit of a write; a pipe accepts this much atomically. */
  chunkBytes: number;
}

/** PIPE_BUF of Linux and most systems. */
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
