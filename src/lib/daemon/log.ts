import { dirname } from 'node:path';

import { toStewardError } from '../errors';
import { exists, lstatOf } from '../platform/files/folder';
import { parseObject } from '../platform/files/json-object';
import { readLines } from '../platform/files/jsonl';
import { appendLog, rotatedName } from '../platform/files/journal';
import { cleanLines } from '../platform/terminal/terminal';
import { type Clock, toIso } from '../platform/time/clock';

export type LogLevel = 'info' | 'warn' | 'error';

/** One line of daemon.log, JSON: `{ts, level, event, …}`. */
export interface LogLine {
  /** ISO-8601 UTC. */
  ts: string;
  level: LogLevel;
  /** What happened, a word or two with dashes: `started`, `job-failed`. */
  event: string;
  [more: string]: unknown;
}

export interface DaemonLog {
  write: (level: LogLevel, event: string, more?: Readonly<Record<string, unknown>>) => void;
  /** Why the last line could not be written; undefined when it was. */
  problem: () => string | undefined;
}

export interface DaemonLogDeps {
  clock: Clock;
  /** `daemon/daemon.log` of the user area. */
  path: string;
  /** The user area: where it is gone the log does not bring it back. */
  root: string;
  /** Told of what cannot be logged. */
  say: (text: string) => void;
}

/** So large, the log becomes daemon.1.log. */
const LOG_ROTATE_BYTES = 4 * 1024 * 1024;
const MAX_TEXT = 4000;

/** The daemon's log. A full disk, or a user area that was removed, does not end a daemon: it is said once on stderr. */
export function daemonLog({ clock, path, root, say }: DaemonLogDeps): DaemonLog {
  let problem: string | undefined;
  return {
    write(level, event, more = {}) {
      const nowMs = clock.now();
      const line: LogLine = { ts: toIso(nowMs), level, event, ...cleaned(more) };
      const before = problem;
      problem = exists(root)
        ? trouble(() => appendLog(path, JSON.stringify(line), { rotateBytes: LOG_ROTATE_BYTES, nowMs }))
        : `${dirname(dirname(path))} was removed`;
      if (problem !== undefined && before === undefined) say(`The log cannot be written: ${problem}`);
    },
    problem() {
      // A log that is asked about is tried again: a daemon that is well may write nothing for days.
      if (problem !== undefined) this.write('info', 'log-resumed');
      return problem;
    },
  };
}

function trouble(write: () => void): string | undefined {
  try {
    write();
    return undefined;
  } catch (error) {
    return toStewardError(error).message;
  }
}

/** Messages may hold text from elsewhere. */
function cleaned(more: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(more).map(([key, value]) => [
      key,
      typeof value === 'string' ? cleanLines(value).slice(0, MAX_TEXT) : value,
    ]),
  );
}

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
