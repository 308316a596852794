import { renameOver } from './atomic-file';
import { lstatOf } from './folder';
import { isObject } from './json-object';
import { readHead, readLines } from './jsonl';
import { appendLog, rotatedName } from './log';
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
  const read = readLines(path, { from }, ({ text }) => onText(text));
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
