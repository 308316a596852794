import { closeSync, constants, fstatSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

import { StewardError, errnoCode, unless } from '../../errors';
import { withPath, openRegular, renameOver } from './atomic-file';
import { ensureFolder, lstatOf } from './folder';
import { isObject } from './json-object';
import { readHead, readLines } from './jsonl';
import { shortHash } from './short-hash';

/**
 * A file of JSON lines that is only appended to. A reader keeps a cursor with the state that it folds out of the entries,
 * and stores both in one file: nothing counts twice, and without that file the state is folded again from `LOG_START`.
 */
export interface Journal<E> {
  path: string;
  /** An entry in the text of a line; undefined for a line that is skipped. */
  parse: (text: string) => E | undefined;
  /** At this size `append` renames the journal to `rotatedName`, in place of the one before. */
  rotateBytes?: number;
  /** Longer lines are skipped; 64 KiB where it is left out. */
  maxLineBytes?: number;
}

/**
 * Appends an entry that survives the end of the process, but not the loss of the machine's power. Returns the size of the
 * journal behind it, bytes. `nowMs`: needed where it rotates.
 */
export function append<E>(journal: Journal<E>, entry: E, nowMs?: number): number {
  const { rotateBytes } = journal;
  return appendLog(journal.path, JSON.stringify(entry), {
    ...(rotateBytes === undefined ? {} : { rotateBytes }),
    ...(nowMs === undefined ? {} : { nowMs }),
  });
}

/** Gives each entry behind the cursor and returns the next cursor, as `readLog` does. */
export function foldEntries<E>(journal: Journal<E>, cursor: LogCursor, take: (entry: E) => void): LogCursor {
  return readLog(journal.path, cursor, (text) => {
    const entry = text === undefined ? undefined : journal.parse(text);
    if (entry !== undefined) take(entry);
  });
}

/** Rotates a journal of at least so many bytes: for its only reader, after it has stored a cursor at the end. */
export function rotateRead({ path }: { path: string }, bytes: number): void {
  if ((lstatOf(path)?.size ?? 0) > bytes) renameOver(path, rotatedName(path));
}

/** How far a reader has come in a journal that others append to, and rotate. */
export interface LogCursor {
  /** Bytes read. */
  offset: number;
  /** Hash of the log's beginning, so that another file under its name is told apart. */
  head: string;
  /** The same of the rotated log: a process that had it open before may still write to it. */
  rotated?: Omit<LogCursor, 'rotated'>;
}

export const LOG_START: LogCursor = { offset: 0, head: '' };
/** Enough to tell a log from another: the first line has a time and an id. */
const HEAD_BYTES = 160;
const HASH_LENGTH = 16;

/** The cursor in a stored value; undefined without one. In an older state the head is the text itself. */
export function asLogCursor(value: unknown): LogCursor | undefined {
  if (!isObject(value)) return undefined;
  const { offset, head, rotated } = value;
  if (!Number.isSafeInteger(offset) || (offset as number) < 0 || typeof head !== 'string') return undefined;
  const old = asLogCursor(rotated);
  return {
    offset: offset as number,
    head: head.length > HASH_LENGTH ? hashOf(head) : head,
    ...(old === undefined ? {} : { rotated: { offset: old.offset, head: old.head } }),
  };
}

/** Takes the text of a line (undefined: too long or not UTF-8); `wasCut`: the journal was cut, and is read from its start again. */
type TakeLine = (text: string | undefined, wasCut: boolean) => void;

/**
 * Gives each line behind the cursor and returns the next cursor. What was written to the rotated log since comes first, for
 * as long as that log is there; a log that was cut or replaced is read from its start.
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
  // The cursor stays on a rotated log until the new one has a line.
  if (next === undefined && isRotated) return rotated ?? cursor;
  return { ...(next ?? cursor), ...(rotated === undefined ? {} : { rotated }) };
}

/** The position behind the last whole line; undefined without one. */
function readFrom(
  path: string,
  from: number,
  onText: (text: string | undefined) => void,
): LogCursor | undefined {
  // A writer that saw another's line half written begins with a line feed, which leaves an empty line.
  const read = readLines(path, { from }, ({ text }) => text !== '' && onText(text));
  if (read === undefined || read.end === 0) return undefined;
  return { offset: read.end, head: headOf(path, read.end) ?? '' };
}

function startsAs(path: string, { offset, head }: LogCursor): boolean {
  return headOf(path, offset) === head;
}

/** Of the beginning of a log of which `offset` bytes are read; undefined when there is no such log. */
function headOf(path: string, offset: number): string | undefined {
  const want = Math.min(offset, HEAD_BYTES);
  const head = readHead(path, want);
  return head === undefined || head.length < want ? undefined : hashOf(head.toString('latin1'));
}

/** A line may have in it what no cursor is to keep. */
function hashOf(head: string): string {
  return head === '' ? '' : `${shortHash(head)}${shortHash(`/${head}`)}`;
}

export interface LogOptions {
  /** A log of this size becomes `rotatedName`, in place of the one before; without it, it is never renamed. */
  rotateBytes?: number;
  /** Wall-clock ms; with it a rotation that a killed process began is given up after a minute. */
  nowMs?: number;
}

const LF = 10;
const CLAIM_STALE_MS = 60_000;

/**
 * Appends one line (without its line feed) to a log that many processes write at once, in one write, and makes
 * the folder where it is missing. Not synced: a line may be lost with the machine's power, never torn into
 * another. What must survive that is planned and completed (jsonl.ts). Returns the size of the log behind the line, bytes.
 */
export function appendLog(path: string, line: string, options: LogOptions = {}): number {
  try {
    const fd = openLog(path);
    let size: number;
    try {
      size = fstatSync(fd).size;
      const bytes = Buffer.from(isTorn(fd, size) ? `\n${line}\n` : `${line}\n`);
      writeWhole(fd, bytes);
      size += bytes.length;
      // While this process stalled the log was rotated twice: nobody reads what it wrote.
      if (fstatSync(fd).nlink === 0) return appendLog(path, line, options);
    } finally {
      closeSync(fd);
    }
    if (options.rotateBytes !== undefined && size > options.rotateBytes) {
      rotate(path, options.rotateBytes, options.nowMs);
    }
    return size;
  } catch (error) {
    throw withPath(error, path);
  }
}

/** `events.jsonl` → `events.1.jsonl`, `daemon.log` → `daemon.1.log` */
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
  throw new StewardError('unavailable', `${dirname(path)} was removed during the run.`, {
    hint: 'Try again.',
  });
}

function writeWhole(fd: number, bytes: Buffer): void {
  // A disk that is full takes a part at most: the next line is set apart from it.
  for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done);
}

function isTorn(fd: number, size: number): boolean {
  if (size === 0) return false;
  const last = Buffer.allocUnsafe(1);
  return readSync(fd, last, 0, 1, size - 1) === 1 && last[0] !== LF;
}

/** Of several processes that find the log too large, the one with the claim renames it, and looks again first. */
function rotate(path: string, maxBytes: number, nowMs: number | undefined): void {
  const claim = `${path}.rotating`;
  const fd = takeClaim(claim, nowMs);
  if (fd === undefined) return;
  try {
    // A reader on Windows holds it: the next line tries again.
    unless(['EPERM', 'EACCES', 'EBUSY', 'ENOENT'], () => {
      if ((lstatOf(path)?.size ?? 0) > maxBytes) renameSync(path, rotatedName(path));
    });
  } finally {
    closeSync(fd);
    rmSync(claim, { force: true });
  }
}

function takeClaim(claim: string, nowMs: number | undefined): number | undefined {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
  try {
    return openRegular(claim, flags);
  } catch (error) {
    if (errnoCode(error) !== 'EEXIST') throw error;
    const age = nowMs === undefined ? 0 : Math.abs(nowMs - (lstatOf(claim)?.mtimeMs ?? nowMs));
    if (age > CLAIM_STALE_MS) rmSync(claim, { force: true });
    return undefined;
  }
}
