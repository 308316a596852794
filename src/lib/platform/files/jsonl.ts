import { isUtf8 } from 'node:buffer';
import { closeSync, constants, fstatSync, fsyncSync, readSync } from 'node:fs';
import { dirname } from 'node:path';

import { StewardError } from '../../errors';
import { syncFolder, writeAll, withPath, openRegular } from './atomic-file';

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

export interface ReadOptions {
  /** Offset to begin at; 0 by default. */
  from?: number;
  maxLineBytes?: number;
  /** The bytes after the last line feed are a line, too. */
  tail?: boolean;
}

/** A line of ours is a few hundred bytes; a longer one than this is none of ours. */
const MAX_LINE_BYTES = 64 * 1024;
const CHUNK = 256 * 1024;
const LF = 10;

/**
 * Calls `onLine` for every whole line from an offset on, in bounded memory whatever the file holds. The
 * bytes after the last line feed are left for the next time, or with `tail` are a line too (the end does not
 * move behind them). Undefined when there is no file; a `size` of less than `from` says that it was cut or replaced.
 */
export function readLines(
  path: string,
  options: ReadOptions,
  onLine: (line: Line) => void,
): ReadEnd | undefined {
  const fd = openRegular(path, constants.O_RDONLY);
  if (fd === undefined) return undefined;
  try {
    return scan(fd, options, onLine);
  } finally {
    closeSync(fd);
  }
}

function scan(fd: number, options: ReadOptions, onLine: (line: Line) => void): ReadEnd {
  const { from = 0, maxLineBytes: maxBytes = MAX_LINE_BYTES, tail = false } = options;
  const { size } = fstatSync(fd);
  const buffer = Buffer.allocUnsafe(CHUNK);
  let position = from;
  let lineStart = from;
  /** What earlier chunks had of the line that begins at lineStart; emptied once it is too long to be kept. */
  let held: Buffer[] = [];
  while (position < size) {
    const got = readSync(fd, buffer, 0, Math.min(CHUNK, size - position), position);
    if (got === 0) break;
    const chunk = buffer.subarray(0, got);
    let start = 0;
    for (let feed = chunk.indexOf(LF); feed !== -1; feed = chunk.indexOf(LF, start)) {
      const bytes = position + feed - lineStart;
      const isKept = bytes <= maxBytes;
      const text = isKept ? asText(joined(held, chunk.subarray(start, feed))) : undefined;
      onLine({ offset: lineStart, bytes, text });
      held = [];
      start = feed + 1;
      lineStart = position + start;
    }
    position += got;
    if (position - lineStart > maxBytes) held = [];
    else if (start < got) held.push(Buffer.from(chunk.subarray(start)));
  }
  const torn = position - lineStart;
  if (tail && torn > 0) {
    const kept = torn <= maxBytes ? Buffer.concat(held) : undefined;
    onLine({ offset: lineStart, bytes: torn, text: asText(kept) });
  }
  return { size, end: lineStart, torn };
}

function asText(bytes: Buffer | undefined): string | undefined {
  return bytes !== undefined && isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

function joined(held: readonly Buffer[], last: Buffer): Buffer {
  return held.length === 0 ? last : Buffer.concat([...held, last]);
}

/** Text that an append has to bring into a file, and where it was to stand when that was decided. */
export interface AppendPlan {
  offset: number;
  text: string;
}

/** Where an append would go, and what it has to write: a torn tail is closed with a line feed first. */
export function planAppend(path: string, lines: readonly string[]): AppendPlan {
  const body = textOf(lines);
  const fd = openRegular(path, constants.O_RDONLY);
  if (fd === undefined) return { offset: 0, text: body };
  try {
    const { size } = fstatSync(fd);
    return { offset: size, text: body !== '' && isTorn(fd, size) ? `\n${body}` : body };
  } finally {
    closeSync(fd);
  }
}

/**
 * Brings a planned append into its file exactly once, whatever part of it a crash or a full disk let
 * through before: the lines that stand there already are not written again. Durable when it returns.
 */
export function completeAppend(path: string, plan: AppendPlan): void {
  withAppender(path, (fd) => {
    const bytes = Buffer.from(plan.text, 'utf8');
    const { size } = fstatSync(fd);
    const there = Buffer.alloc(Math.max(0, Math.min(size - plan.offset, bytes.length)));
    readFully(fd, there, plan.offset);
    const begun = size >= plan.offset && there.equals(bytes.subarray(0, there.length));
    if (begun && there.length === bytes.length) return;
    if (begun) {
      writeAll(fd, bytes.subarray(there.length));
      return;
    }
    // Somebody else wrote here, or the file was cut or replaced: what is missing goes to the end.
    const missing = missingLines(fd, plan, size);
    const text = textOf(missing);
    if (text !== '') writeAll(fd, Buffer.from(isTorn(fd, size) ? `\n${text}` : text, 'utf8'));
  });
}

/** Opens for append, syncs what `work` wrote (and the name of a new file), and closes. */
function withAppender(path: string, work: (fd: number) => void): void {
  try {
    const fd = openRegular(path, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND);
    // With O_CREAT "there is none" is said of the folder.
    if (fd === undefined) {
      throw new StewardError('not_found', `The folder ${dirname(path)} does not exist.`, {
        hint: 'Create the folder, or run "steward up" again.',
      });
    }
    try {
      const isNew = fstatSync(fd).size === 0;
      work(fd);
      fsyncSync(fd);
      if (isNew) syncFolder(dirname(path));
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    throw withPath(error, path);
  }
}

/** The planned lines that do not stand, whole, behind the plan's offset (a file cut before it: anywhere). */
function missingLines(fd: number, plan: AppendPlan, size: number): string[] {
  const lines = plan.text.split('\n').filter((line) => line !== '');
  const longest = Math.max(0, ...lines.map((line) => Buffer.byteLength(line)));
  const wanted = new Set(lines);
  const standing = new Map<string, number>();
  scan(fd, { from: size < plan.offset ? 0 : plan.offset, maxLineBytes: longest }, ({ text }) => {
    if (text !== undefined && wanted.has(text)) standing.set(text, (standing.get(text) ?? 0) + 1);
  });
  return lines.filter((line) => {
    const count = standing.get(line) ?? 0;
    if (count > 0) standing.set(line, count - 1);
    return count === 0;
  });
}

function textOf(lines: readonly string[]): string {
  for (const line of lines) {
    if (line.includes('\n')) {
      throw new StewardError('internal', 'A log line must not contain a line feed.', {
        hint: 'Report this as a bug.',
      });
    }
  }
  return lines.map((line) => `${line}\n`).join('');
}

/** Does the file end in a line without its line feed? */
function isTorn(fd: number, size: number): boolean {
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  readFully(fd, last, size - 1);
  return last[0] !== LF;
}

function readFully(fd: number, into: Buffer, position: number): void {
  let done = 0;
  while (done < into.length) {
    const got = readSync(fd, into, done, into.length - done, position + done);
    if (got === 0) {
      throw new StewardError('unavailable', 'A file was truncated during a read.', {
        hint: 'Try again.',
      });
    }
    done += got;
  }
}

/** The first bytes of a file, as many as it has; undefined when there is no file. */
export function readHead(path: string, bytes: number): Buffer | undefined {
  const fd = openRegular(path, constants.O_RDONLY);
  if (fd === undefined) return undefined;
  try {
    const head = Buffer.alloc(Math.min(bytes, fstatSync(fd).size));
    readFully(fd, head, 0);
    return head;
  } finally {
    closeSync(fd);
  }
}
