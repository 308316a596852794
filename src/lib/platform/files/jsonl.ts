import { isUtf8 } from 'node:buffer';
import { constants, fstatSync, readSync } from 'node:fs';
import { dirname } from 'node:path';

import { StewardError } from '../../errors';
import { inFile, writeAll, withPath, openRegular } from './atomic-file';
import { closing, syncFile, syncFolder } from './durable';
import { ensureFolder, removeFile } from './folder';

export interface Line {
  /** Byte offset of the line in the file. */
  offset: number;
  /** Length in bytes, without the line feed. */
  bytes: number;
  /** The line's text, or undefined if the line is too long or not UTF-8. */
  text: string | undefined;
}

export interface ReadOptions {
  from?: number;
  maxLineBytes?: number;
  /** Whether to read a last line that has no line feed. */
  tail?: boolean;
}

/** Maximum line length; steward's own lines are a few hundred bytes long. */
const MAX_LINE_BYTES = 64 * 1024;
const CHUNK = 256 * 1024;
const LF = 10;

/**
 * Calls `onLine` for each complete line from an offset, using bounded memory. Returns undefined if the file
 * doesn't exist. If the returned `size` is less than `from`, the file was truncated or replaced.
 */
export function readLines(path: string, options: ReadOptions, onLine: (line: Line) => void) {
  return inFile(path, (fd) => scan(fd, options, onLine));
}

function scan(fd: number, options: ReadOptions, onLine: (line: Line) => void) {
  const { from = 0, maxLineBytes: maxBytes = MAX_LINE_BYTES, tail = false } = options;
  const { size } = fstatSync(fd);
  const buffer = Buffer.allocUnsafe(CHUNK);
  let position = from;
  let lineStart = from;
  let chunks: Buffer[] = [];
  while (position < size) {
    const got = readSync(fd, buffer, 0, Math.min(CHUNK, size - position), position);
    if (got === 0) break;
    const chunk = buffer.subarray(0, got);
    let start = 0;
    for (let feed = chunk.indexOf(LF); feed !== -1; feed = chunk.indexOf(LF, start)) {
      const bytes = position + feed - lineStart;
      const isKept = bytes <= maxBytes;
      const text = isKept ? asText(joined(chunks, chunk.subarray(start, feed))) : undefined;
      onLine({ offset: lineStart, bytes, text });
      chunks = [];
      start = feed + 1;
      lineStart = position + start;
    }
    position += got;
    if (position - lineStart > maxBytes) chunks = [];
    else if (start < got) chunks.push(Buffer.from(chunk.subarray(start)));
  }
  const torn = position - lineStart;
  if (tail && torn > 0) {
    const text = torn <= maxBytes ? asText(Buffer.concat(chunks)) : undefined;
    onLine({ offset: lineStart, bytes: torn, text });
  }
  return {
    /** Size of the file when it was opened. */
    size,
    /** Byte offset after the last complete line. */
    end: lineStart,
    /**
     * Number of bytes after the last line feed. They belong to a line that is still being written or was cut
     * off by a crash.
     */
    torn,
  };
}

function asText(bytes: Buffer): string | undefined {
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

function joined(chunks: readonly Buffer[], last: Buffer): Buffer {
  return chunks.length === 0 ? last : Buffer.concat([...chunks, last]);
}

export type AppendPlan = ReturnType<typeof planAppend>;

/** Plans an append. If the last line is incomplete, the planned text begins with a line feed. */
export function planAppend(path: string, lines: readonly string[]) {
  const body = linesText(lines);
  const plan = inFile(path, (fd) => {
    const { size } = fstatSync(fd);
    return { offset: size, text: body !== '' && isTorn(fd, size) ? `\n${body}` : body };
  });
  return plan ?? { offset: 0, text: body };
}

/** Completes a planned append durably and exactly once, even after a crash or a full disk. */
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
    const missing = missingLines(fd, plan, size);
    const text = linesText(missing);
    if (text !== '') writeAll(fd, Buffer.from(isTorn(fd, size) ? `\n${text}` : text, 'utf8'));
  });
}

/** Moves the lines that `into` lacks from another log to its end. Durable and safe to repeat. */
export function moveLines(from: string, into: string): void {
  const known = new Set<string>();
  const missing: string[] = [];
  readLines(into, { tail: true }, ({ text }) => void known.add(text ?? ''));
  readLines(from, { tail: true }, ({ text }) => {
    if (text?.startsWith('{') === true && !known.has(text)) missing.push(text);
    known.add(text ?? '');
  });
  ensureFolder(dirname(into));
  if (missing.length > 0) completeAppend(into, planAppend(into, missing));
  removeFile(from);
}

function withAppender(path: string, work: (fd: number) => void): void {
  try {
    const fd = openRegular(path, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND);
    // With O_CREAT, ENOENT means that the folder is missing.
    if (fd === undefined) {
      throw new StewardError('not_found', `The folder ${dirname(path)} does not exist.`, {
        hint: 'Create the folder, or run "steward up" again.',
      });
    }
    closing(fd, () => {
      const isNew = fstatSync(fd).size === 0;
      work(fd);
      syncFile(fd);
      if (isNew) syncFolder(dirname(path));
    });
  } catch (error) {
    throw withPath(error, path);
  }
}

/**
 * Returns the planned lines that are missing after the plan's offset. Searches a truncated file from its
 * start.
 */
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

function linesText(lines: readonly string[]): string {
  for (const line of lines) {
    if (line.includes('\n')) {
      throw new StewardError('internal', 'A log line must not contain a line feed.', {
        hint: 'Report this as a bug.',
      });
    }
  }
  return lines.map((line) => `${line}\n`).join('');
}

/** Returns whether the file ends without a line feed. */
export function isTorn(fd: number, size: number): boolean {
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
      throw new StewardError('unavailable', 'A log was truncated while steward was reading it.', {
        hint: 'Try again.',
      });
    }
    done += got;
  }
}

/** Returns the first bytes of a file, or undefined if it doesn't exist. */
export function readHead(path: string, bytes: number): Buffer | undefined {
  return inFile(path, (fd) => {
    const head = Buffer.alloc(Math.min(bytes, fstatSync(fd).size));
    readFully(fd, head, 0);
    return head;
  });
}
