import { dirname } from 'node:path';

import { toStewardError } from '../errors';
import { exists, lstatOf } from '../platform/files/folder';
import { appendLog, rotatedName } from '../platform/files/journal';
import { parseObject } from '../platform/files/json-object';
import { readLines } from '../platform/files/jsonl';
import { cleanLines } from '../platform/terminal/terminal';
import { type Clock, toIso } from '../platform/time/clock';
import { wait } from '../platform/time/wait';

export type LogLevel = 'info' | 'warn' | 'error';

/** A line of daemon.log, as JSON: `{ts, level, event, …}`. */
export interface LogLine {
  /** ISO 8601 in UTC. */
  ts: string;
  level: LogLevel;
  /** One or two words, such as `started` or `job-failed`. */
  event: string;
  [more: string]: unknown;
}

export interface DaemonLog {
  write: (level: LogLevel, event: string, more?: Readonly<Record<string, unknown>>) => void;
  /** Returns why the last line couldn't be written, or undefined. */
  problem: () => string | undefined;
}

export interface DaemonLogDeps {
  clock: Clock;
  path: string;
  /** The user area. If it has been removed, logging doesn't recreate it. */
  root: string;
  say: (text: string) => void;
}

/** The size at which daemon.log is renamed to daemon.1.log. */
const LOG_ROTATE_BYTES = 4 * 1024 * 1024;
const MAX_TEXT = 4000;
const FOLLOW_MS = 300;

/** Opens the daemon's log. If the log can't be written, prints one warning to stderr and continues. */
export function daemonLog({ clock, path, root, say }: DaemonLogDeps): DaemonLog {
  let problem: string | undefined;
  return {
    write(level, event, more = {}) {
      const nowMs = clock.now();
      const line: LogLine = { ts: toIso(nowMs), level, event, ...cleaned(more) };
      const before = problem;
      try {
        problem = exists(root) ? undefined : `${dirname(dirname(path))} was removed`;
        if (problem === undefined)
          appendLog(path, JSON.stringify(line), { rotateBytes: LOG_ROTATE_BYTES, nowMs });
      } catch (error) {
        problem = toStewardError(error).message;
      }
      if (problem !== undefined && before === undefined) say(`Could not write the log: ${problem}`);
    },
    problem() {
      // Write a line to test whether the log is writable again, because a healthy daemon may log nothing for
      // days.
      if (problem !== undefined) this.write('info', 'log-resumed');
      return problem;
    },
  };
}

function cleaned(more: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(more).map(([key, value]) => [
      key,
      typeof value === 'string' ? cleanLines(value).slice(0, MAX_TEXT) : value,
    ]),
  );
}

/** Returns the last lines, oldest first. Includes the rotated log if the current log is too short. */
export function lastLines(path: string, count: number): LogLine[] {
  const lines: LogLine[] = [];
  for (const file of [rotatedName(path), path]) readFrom(file, 0, (line) => lines.push(line));
  return lines.slice(-count);
}

/** Calls `onLine` for each new line until the process ends. */
export async function followLog(path: string, onLine: (line: LogLine) => void): Promise<never> {
  let offset = lstatOf(path)?.size ?? 0;
  for (;;) {
    await wait(FOLLOW_MS);
    const size = lstatOf(path)?.size ?? 0;
    if (size < offset) offset = 0;
    if (size > offset) offset = readFrom(path, offset, onLine);
  }
}

/**
 * Reads lines from an offset, and returns the next offset. Skips invalid lines, such as lines cut off by a
 * full disk.
 */
function readFrom(path: string, from: number, onLine: (line: LogLine) => void): number {
  const end = readLines(path, { from }, ({ text }) => {
    const line = text === undefined ? undefined : parseObject(text);
    if (line !== undefined && typeof line['ts'] === 'string') onLine(line as LogLine);
  });
  return end?.end ?? 0;
}
