import { join } from 'node:path';

import { toStewardError, type StewardError } from '../errors';
import { readText } from '../platform/files/atomic-file';
import { ensureFolder } from '../platform/files/folder';
import { parseObject } from '../platform/files/json-object';
import { appendLog } from '../platform/files/journal';
import { reportError } from '../platform/terminal/error-report';
import { parseIso, toIso, type Clock } from '../platform/time/clock';
import type { Waiting } from './capture/waiting';
import type { WorkDeps } from './deps';

/** The result of a sweep. `trouble` is the sweep's first error, which `--strict` reports. */
export interface Swept {
  result: SweepResult;
  trouble: StewardError | undefined;
}

export function emptyResult(
  clock: Clock,
  repo: string | null,
  { dryRun, sinceMs }: { dryRun: boolean; sinceMs: number },
) {
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
    rateRemaining: null as number | null,
    durationMs: 0,
    errors: [] as { step: string; message: string }[],
    /** Number of issues left for the next sweep, because this sweep reached its limit. */
    left: 0,
    reminded: 0,
    /** Why the sweep was skipped; `null` if it ran. */
    skipped: null as string | null,
    /** Pending captures, grouped by reason. */
    waiting: [] as Waiting[],
    /** Titles of the created issues. In a dry run, titles of the issues that a sweep would create. */
    titles: [] as string[],
  };
}

/** The output of `work sweep --json`. The log file contains only the fields before `left`. */
export type SweepResult = ReturnType<typeof emptyResult>;

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

/**
 * Logs that a sweep could not start, and returns the message and the result to print. With `--strict` or
 * after an interrupt, rethrows the error.
 */
export function noSweep(
  machine: LogDeps,
  flags: readonly string[],
  error: unknown,
): { message: string; result: SweepResult } {
  const trouble = toStewardError(error);
  if (flags.includes('--strict') || trouble.kind === 'canceled') throw error;
  const { text } = reportError(trouble, { json: false, debug: flags.includes('--debug') });
  const options = { dryRun: flags.includes('--dry-run'), sinceMs: 0 };
  return {
    message: text.trimEnd(),
    result: logSweep(machine, failedSweep(machine.clock, options, trouble)).result,
  };
}

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
