import { isUtf8 } from 'node:buffer';
import { closeSync, constants, fstatSync, fsyncSync, openSync, readSync } from 'node:fs';

import { StewardError, errnoCode } from '../errors';
import { writeAll } from './atomic-file';

/** One whole line of a file, without its line feed. */
export interface Line {
  /** Where it begins, in bytes. */
  offset: number;
  /** Its length in bytes, without the line feed. */
  bytes: number;
  /** Its text; undefined when it is longer than the bound or not UTF-8. */
  text: string | undefined;
}

export interface ReadEnd {
  /** The file's size when it was opened. */
  size: number;
  /** One past the last whole line: the offset to go on from. */
  end: number;
  /** Bytes after the last line feed: a line that is being written, or was torn by a crash. */
  torn: number;
}

/** A line of ours is a few hundred bytes; a longer one than this is none of ours. */
export const MAX_LINE_BYTES = 64 * 1024;
const CHUNK = 256 * 1024;

/**
 * Calls `onLine` for every whole line from an offset on, in bounded memory whatever the file holds. The
 * bytes after the last line feed are left for the next time. Undefined when there is no file.
 */
export function readLines(
  path: string,
  options: { from?: number; maxLineBytes?: number },
  onLine: (line: Line) => void,
): ReadEnd | undefined {
  const fd = openExisting(path);
  if (fd === undefined) return undefined;
  try {
    const size = fstatSync(fd).size;
    const max = options.maxLineBytes ?? MAX_LINE_BYTES;
    const chunk = Buffer.allocUnsafe(CHUNK);
    let position = options.from ?? 0;
    let lineStart = position;
    let held: Buffer[] = [];
    let heldBytes = 0;
    while (position < size) {
      const got = readSync(fd, chunk, 0, Math.min(CHUNK, size - position), position);
      if (got === 0) break;
      let from = 0;
      for (let at = chunk.indexOf(10, from); at !== -1 && at < got; at = chunk.indexOf(10, from)) {
        const bytes = position + at - lineStart;
        const rest = chunk.subarray(from, at);
        const whole = heldBytes === 0 ? rest : Buffer.concat([...held, rest]);
        onLine({
          offset: lineStart,
          bytes,
          text: bytes <= max && isUtf8(whole) ? whole.toString('utf8') : undefined,
        });
        held = [];
        heldBytes = 0;
        from = at + 1;
        lineStart = position + from;
      }
      // Of a line that is already too long nothing more is kept.
      if (from < got && heldBytes <= max) {
        held.push(Buffer.from(chunk.subarray(from, got)));
        heldBytes += got - from;
      }
      position += got;
    }
    return { size, end: lineStart, torn: position - lineStart };
  } finally {
    closeSync(fd);
  }
}

/** The text that makes `lines` whole lines at the end of a file that may end in a torn one. */
export interface AppendPlan {
  offset: number;
  text: string;
}

/** Where an append would go, and what it has to write: a torn tail is closed with a line feed first. */
export function planAppend(path: string, lines: readonly string[]): AppendPlan {
  const body = lines.map((line) => `${line}\n`).join('');
  const fd = openExisting(path);
  if (fd === undefined) return { offset: 0, text: body };
  try {
    const size = fstatSync(fd).size;
    return { offset: size, text: size > 0 && !endsInLineFeed(fd, size) ? `\n${body}` : body };
  } finally {
    closeSync(fd);
  }
}

/**
 * Brings a planned append into its file exactly once, whatever part of it a crash or a full disk let
 * through before: what stands there already is not written again. Durable when it returns.
 */
export function completeAppend(path: string, plan: AppendPlan): void {
  const bytes = Buffer.from(plan.text, 'utf8');
  const fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | NO_FOLLOW, 0o600);
  try {
    const { size } = fstatSync(fd);
    const there = Buffer.alloc(Math.max(0, Math.min(size - plan.offset, bytes.length)));
    readFully(fd, there, plan.offset);
    if (there.equals(bytes)) return;
    if (
      size >= plan.offset &&
      there.equals(bytes.subarray(0, there.length)) &&
      size === plan.offset + there.length
    ) {
      writeAll(fd, bytes.subarray(there.length));
    } else {
      // Somebody else wrote here, or cut the file: our lines are appended unless they stand further down.
      const rest = Buffer.alloc(Math.max(0, size - plan.offset));
      readFully(fd, rest, plan.offset);
      if (rest.includes(bytes)) return;
      writeAll(fd, size > 0 && !endsInLineFeed(fd, size) ? Buffer.concat([LINE_FEED, bytes]) : bytes);
    }
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Appends whole lines in one write, after closing a torn tail; durable when it returns. */
export function appendLines(path: string, lines: readonly string[]): void {
  completeAppend(path, planAppend(path, lines));
}

const LINE_FEED = Buffer.from('\n');
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;

function openExisting(path: string): number | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | NO_FOLLOW);
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return undefined;
    throw errnoCode(error) === 'ELOOP'
      ? new StewardError('config', `${path} is a symbolic link.`, {
          hint: 'Put the file itself there.',
          cause: error,
        })
      : error;
  }
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw new StewardError('config', `${path} is not a regular file.`, { hint: 'Move it away.' });
}

function endsInLineFeed(fd: number, size: number): boolean {
  const last = Buffer.alloc(1);
  readFully(fd, last, size - 1);
  return last[0] === 10;
}

function readFully(fd: number, into: Buffer, position: number): void {
  let done = 0;
  while (done < into.length) {
    const got = readSync(fd, into, done, into.length - done, position + done);
    if (got === 0)
      throw new StewardError('unavailable', 'A file became shorter while it was read.', {
        hint: 'Try again.',
      });
    done += got;
  }
}
