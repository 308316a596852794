import { closeSync, constants, fstatSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';

import { StewardError, errnoCode, unless } from '../../errors';
import { withPath, openRegular, renameOver, writeAll } from './atomic-file';
import { ensureFolder, lstatOf } from './folder';
import { definedOnly, isObject } from './json-object';
import { readHead, readLines, isTorn } from './jsonl';
import { shortHash } from './short-hash';

/**
 * Rotates a journal that is larger than `bytes`. Use this only for a journal with a single reader, after the
 * reader has stored a cursor at the journal's end.
 */
export function rotateRead(path: string, bytes: number): void {
  if ((lstatOf(path)?.size ?? 0) > bytes) renameOver(path, rotatedName(path));
}

/**
 * A reader's position in a journal that other processes append to and rotate. A reader that stores its cursor
 * together with its data never counts an entry twice.
 */
export interface LogCursor {
  /** Number of bytes read. */
  offset: number;
  /** Hash of the start of the log, used to detect a replaced file. */
  head: string;
  /** Position in the rotated log, to which a stalled process may still append lines. */
  rotated?: LogCursor;
}

export const LOG_START: LogCursor = { offset: 0, head: '' };
/** Number of leading bytes to hash. These include a time and an id, so the hash identifies the log. */
const HEAD_BYTES = 160;

/** Parses a stored cursor; returns undefined if it is invalid. */
export function asLogCursor(value: unknown): LogCursor | undefined {
  if (!isObject(value)) return undefined;
  const { offset, head, rotated } = value;
  if (!Number.isSafeInteger(offset) || (offset as number) < 0 || typeof head !== 'string') return undefined;
  const cursor = { offset: offset as number, head };
  return definedOnly({ ...cursor, rotated: asLogCursor(rotated) });
}

/**
 * Receives a line, or undefined if the line is too long or not UTF-8. `wasCut` is true if the log was
 * truncated and is being reread from the start.
 */
type TakeLine = (text: string | undefined, wasCut: boolean) => void;

/**
 * Calls `take` for each line after the cursor, rotated log first, and returns the next cursor. Reads a
 * truncated or replaced log from the start.
 */
export function readLog(path: string, cursor: LogCursor, take: TakeLine): LogCursor {
  const old = rotatedName(path);
  const size = lstatOf(path)?.size;
  const isAhead = size !== undefined && startsAs(path, cursor);
  const isSame = isAhead && size >= cursor.offset;
  const isRotated = !isSame && cursor.offset > 0 && startsAs(old, cursor);
  const before = isRotated ? { offset: cursor.offset, head: cursor.head } : cursor.rotated;
  const oldSize = before === undefined ? 0 : (lstatOf(old)?.size ?? 0);
  const late = before !== undefined && oldSize > before.offset && startsAs(old, before) ? before : undefined;
  const from = isSame ? cursor.offset : 0;
  const rotated = late === undefined ? before : readFrom(old, late.offset, (text) => take(text, false));
  const next = readFrom(path, from, (text) => take(text, isAhead && !isSame));
  // The cursor stays on the rotated log until the new log has a line.
  if (next === undefined && isRotated) return rotated ?? cursor;
  return { ...(next ?? cursor), ...(rotated === undefined ? {} : { rotated }) };
}

/**
 * Calls `onText` for each complete line. Returns the position after the last line, or undefined if there is
 * no line.
 */
function readFrom(
  path: string,
  from: number,
  onText: (text: string | undefined) => void,
): LogCursor | undefined {
  // Skips empty lines, because a writer may leave one after an incomplete line.
  const read = readLines(path, { from }, ({ text }) => text !== '' && onText(text));
  if (read === undefined || read.end === 0) return undefined;
  return { offset: read.end, head: headOf(path, read.end) ?? '' };
}

function startsAs(path: string, { offset, head }: LogCursor): boolean {
  return headOf(path, offset) === head;
}

/** Returns the hash of the start of a log, or undefined if the log is missing or too short. */
function headOf(path: string, offset: number): string | undefined {
  const want = Math.min(offset, HEAD_BYTES);
  const head = readHead(path, want);
  return head === undefined || head.length < want ? undefined : hashOf(head.toString('latin1'));
}

/** Hashes the start of a log, because a cursor must not contain text from the log. */
function hashOf(head: string): string {
  return head === '' ? '' : `${shortHash(head)}${shortHash(`/${head}`)}`;
}

interface Rotation {
  /** Size above which the log is renamed to `rotatedName`, replacing the previous rotated log. */
  rotateBytes: number;
  /** The current time. Another process's claim to rotate the log expires after a minute. */
  nowMs: number;
}

const CLAIM_STALE_MS = 60_000;

/**
 * Appends a line in a single write, so that many processes can share the log, and returns the log's size. A
 * power failure may lose the line. For durable appends, use `completeAppend` (jsonl.ts).
 */
export function appendLog(path: string, line: string, rotation?: Rotation): number {
  try {
    const fd = openLog(path);
    let size: number;
    try {
      size = fstatSync(fd).size;
      const bytes = Buffer.from(isTorn(fd, size) ? `\n${line}\n` : `${line}\n`);
      // A full disk may truncate the line. The next append then starts a new line.
      writeAll(fd, bytes);
      size += bytes.length;
      // Two rotations during this write have deleted the file, so append the line to the new file.
      if (fstatSync(fd).nlink === 0) return appendLog(path, line, rotation);
    } finally {
      closeSync(fd);
    }
    if (rotation !== undefined && size > rotation.rotateBytes) rotate(path, rotation);
    return size;
  } catch (error) {
    throw withPath(error, path);
  }
}

/** Returns the name of the rotated log, such as `events.1.jsonl` for `events.jsonl`. */
export function rotatedName(path: string): string {
  return path.replace(/\.(jsonl|log)$/, '.1.$1');
}

function openLog(path: string): number {
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND;
  const fd = openRegular(path, flags);
  if (fd !== undefined) return fd;
  ensureFolder(dirname(path));
  const made = openRegular(path, flags);
  if (made !== undefined) return made;
  throw new StewardError('unavailable', `${dirname(path)} was removed while steward was running.`, {
    hint: 'Try again.',
  });
}

/** Renames a log that is too large. If several processes try, only one of them renames the log. */
function rotate(path: string, { rotateBytes, nowMs }: Rotation): void {
  const claim = `${path}.rotating`;
  const fd = takeClaim(claim, nowMs);
  if (fd === undefined) return;
  try {
    // On Windows, an open reader blocks the rename. The next append retries.
    unless(['EPERM', 'EACCES', 'EBUSY', 'ENOENT'], () => {
      if ((lstatOf(path)?.size ?? 0) > rotateBytes) renameSync(path, rotatedName(path));
    });
  } finally {
    closeSync(fd);
    rmSync(claim, { force: true });
  }
}

function takeClaim(claim: string, nowMs: number): number | undefined {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
  try {
    return openRegular(claim, flags);
  } catch (error) {
    if (errnoCode(error) !== 'EEXIST') throw error;
    const age = Math.abs(nowMs - (lstatOf(claim)?.mtimeMs ?? nowMs));
    if (age > CLAIM_STALE_MS) rmSync(claim, { force: true });
    return undefined;
  }
}
