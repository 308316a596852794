import { toStewardError, type StewardError } from '../../errors';
import type { Goal } from '../../goals/record';
import { toIso, type Clock } from '../../platform/time/clock';
import type { CaptureDeps } from '../capture/deliver';
import type { Waiting } from '../capture/waiting';
import type { CapturedSession } from '../capture/session-end';
import type { ProjectState } from './plan';

export interface SweepDeps extends CaptureDeps {
  /** Sessions whose artifact was written at or after a time and that are over, the oldest first. */
  sessionsSince: (ms: number) => CapturedSession[];
  projects: () => Promise<ProjectState[]>;
  goals: () => Goal[];
  /** Makes the task list anew, with commit and push; gives why it was not pushed, or null. */
  regenerate: () => Promise<string | null>;
  /** Delivers the captures that wait in the spool (not in a dry run); gives those that still wait. */
  captures: (dryRun: boolean) => Promise<Waiting[]>;
  /** Tells of the reminders that are due; gives how many. */
  remind: () => Promise<number>;
  /** `work/sweep.json`: which issues were flagged as stale, and when. */
  flags: string;
}

export interface SweepOptions {
  sinceMs: number;
  maxCreate: number;
  dryRun: boolean;
  onStep?: (text: string) => void;
}

/** The line of observability/work-sweep.jsonl (decisions.md 6), and what `work sweep --json` prints. */
export interface SweepResult {
  ts: string;
  repo: string | null;
  dryRun: boolean;
  sinceHours: number;
  /** Issues of the list that were skipped, since they cannot be right. */
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
  /** Issues that the limit of creations has left for the next run. */
  left: number;
  /** Reminders that were told of. */
  reminded: number;
  /** Why nothing was swept; null when it was. */
  skipped: string | null;
  /** Captures that could not be sent yet, by their reason. */
  waiting: Waiting[];
  /** Titles that were made, or with dryRun would be. */
  titles: string[];
}

/** The first fault in its own kind, for `--strict`. */
export interface Swept {
  result: SweepResult;
  trouble: StewardError | undefined;
}

/** One sweep under way, and what has come of it so far. */
export interface Run {
  deps: SweepDeps;
  options: SweepOptions;
  trouble: StewardError | undefined;
  result: SweepResult;
}

/** Of a sweep that did not come to its work, for `errors` to tell why. */
export function emptyResult(
  clock: Clock,
  repo: string | null,
  { dryRun, sinceMs }: Pick<SweepOptions, 'dryRun' | 'sinceMs'>,
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

/** Does a step; one that fails is noted and gives undefined, and the others go on. Only an interruption is thrown. */
export async function attempt<T>(run: Run, step: string, work: () => T | Promise<T>): Promise<T | undefined> {
  try {
    run.options.onStep?.(step);
    return await work();
  } catch (error) {
    const known = toStewardError(error);
    if (known.kind === 'canceled') throw error;
    run.trouble ??= known;
    run.result.errors.push({ step, message: known.message });
    return undefined;
  }
}
