import { lstatOf } from '../platform/files/folder';
import { parseObject } from '../platform/files/json-object';
import { readLines } from '../platform/files/jsonl';
import { rotatedName } from '../platform/files/log';
import type { LogLine } from './log';

/** The last lines of the daemon's log, the oldest first; of the log before it, too, where one is not enough. */
export function lastLines(path: string, count: number): LogLine[] {
  const last = tailOf(path, count);
  return last.length >= count ? last : [...tailOf(rotatedName(path), count - last.length), ...last];
}

function tailOf(path: string, count: number): LogLine[] {
  const kept: LogLine[] = [];
  takeFrom(path, 0, (line) => {
    kept.push(line);
    if (kept.length > count) kept.shift();
  });
  return kept;
}

/** Calls `onLine` for the lines that are written from now on, until the process ends. */
export async function followLog(path: string, onLine: (line: LogLine) => void): Promise<never> {
  let offset = lstatOf(path)?.size ?? 0;
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, FOLLOW_MS));
    const size = lstatOf(path)?.size ?? 0;
    // A rotated log begins anew.
    if (size < offset) offset = 0;
    if (size > offset) offset = takeFrom(path, offset, onLine);
  }
}

const FOLLOW_MS = 300;

/** Lines that are no JSON (cut by a full disk) are left out. Returns where the next line begins. */
function takeFrom(path: string, from: number, onLine: (line: LogLine) => void): number {
  const end = readLines(path, { from }, ({ text }) => {
    const line = text === undefined ? undefined : parseObject(text);
    if (line !== undefined && typeof line['ts'] === 'string') onLine(line as LogLine);
  });
  return end?.end ?? 0;
}
