import { join } from 'node:path';

import { toStewardError, type StewardError } from '../errors';
import { readText } from '../platform/files/atomic-file';
import { ensureFolder } from '../platform/files/folder';
import { parseObject } from '../platform/files/json-object';
import { appendLog } from '../platform/files/journal';
import { parseIso, toIso, type Clock } from '../platform/time/clock';
import type { Waiting } from './capture/waiting';
import type { WorkDeps } from './deps';

/** The output of `work sweep --json`. The log file contains only the fields before `left`. */
export interface SweepResult {
  ts: string;
  repo: string | null;
  dryRun: boolean;
  sinceHours: number;
  malformed: number;
  sessionsScanned: number;
  created: number;
  updated: number;
  staleFlagged: number;
  projectChecks: number;
  goals: number;
  duplicatesMerged: number;
  requests: number;
  rateRemaining: number | null;
  durationMs: number;
  errors: { step: string; message: string }[];
  /** Number of issues left for the next sweep, because this sweep reached its limit. */
  left: number;
  reminded: number;
  /** Why the sweep was skipped; `null` if it ran. */
  skipped: string | null;
  /** Pending captures, grouped by reason. */
  waiting: Waiting[];
  /** Titles of the created issues. In a dry run, titles of the issues that a sweep would create. */
  titles: string[];
}

/** The result of a sweep. `trouble` is the sweep's first error, which `--strict` reports. */
export interface Swept {
  result: SweepResult;
  trouble: StewardError | undefined;
}

export function emptyResult(
  clock: Clock,
  repo: string | null,
  { dryRun, sinceMs }: { dryRun: boolean; sinceMs: number },
): SweepResult {
  return {
    ts: toIso(clock.now()),
    repo,
    dryRun,
    sinceHours: Math.round(sinceMs / 36_000) / 100,
    malformed: 0,
    sessionsScanned: 0,
    created: 0,
    updated: 0,
    staleFlagged: 0,
    projectChecks: 0,
    goals: 0,
    duplicatesMerged: 0,
    requests: 0,
    rateRemaining: null,
    durationMs: 0,
    errors: [],
    left: 0,
    reminded: 0,
    skipped: null,
    waiting: [],
    titles: [],
  };
}

/** Returns the result of a sweep that failed to start. */
export function failedSweep(
  clock: Clock,
  options: { dryRun: boolean; sinceMs: number },
  trouble: StewardError,
): Swept {
  const errors = [{ step: 'start', message: trouble.message }];
  return { result: { ...emptyResult(clock, null, options), errors }, trouble };
}

type LogDeps = Pick<WorkDeps, 'clock' | 'area'>;

/** Returns when the last sweep started; -Infinity if there was none. */
export function lastSweepMs({ area }: Pick<LogDeps, 'area'>): number {
  const lines = (readText(logPath(area)) ?? '').trimEnd().split('\n');
  const last = lines.map(parseObject).findLast((line) => line?.['dryRun'] === false);
  return parseIso(String(last?.['ts'])) ?? -Infinity;
}

/** Logs a sweep as one line, without issue titles, which must not leave the repository. */
export function logSweep({ area, clock }: LogDeps, { result, trouble }: Swept): Swept {
  const line: Partial<SweepResult> = { ...result };
  for (const key of ['skipped', 'titles', 'left', 'reminded', 'waiting'] as const) delete line[key];
  try {
    ensureFolder(area.observability);
    appendLog(logPath(area), JSON.stringify(line), { rotateBytes: 4 * 1024 * 1024, nowMs: clock.now() });
    return { result, trouble };
  } catch (error) {
    const known = toStewardError(error);
    result.errors.push({ step: 'log', message: known.message });
    return { result, trouble: trouble ?? known };
  }
}

function logPath(area: WorkDeps['area']): string {
  return join(area.observability, 'work-sweep.jsonl');
}
