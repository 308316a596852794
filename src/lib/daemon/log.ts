import { dirname } from 'node:path';

import { toStewardError } from '../errors';
import { toIso, type Clock } from '../platform/time/clock';
import { exists } from '../platform/files/folder';
import { appendLog } from '../platform/files/log';
import { cleanLines } from '../platform/terminal/terminal';

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
