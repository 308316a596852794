import { join } from 'node:path';

import * as v from 'valibot';

import { toStewardError, type StewardError } from '../errors';
import type { Goal } from '../goals/record';
import { readText } from '../platform/files/atomic-file';
import { ensureFolder } from '../platform/files/folder';
import { parseObject } from '../platform/files/json-object';
import { appendLog } from '../platform/files/journal';
import { parseIso, toIso, type Clock } from '../platform/time/clock';
import { readStored, rememberAll, writeStored } from './cache';
import { reportCapture, writeBack, type CaptureDeps } from './capture/deliver';
import type { CapturedSession } from './capture/session';
import type { Waiting } from './capture/waiting';
import type { Open, WorkDeps } from './deps';
import { ensureIssues, wantedTitle, type Wanted } from './ensure';
import type { Host } from './host';
import { labelNames, onlyExisting } from './labels';
import { freshCache } from './poll';
import { openForWriting, privacyState, repoOf, verify } from './privacy';
import {
  duplicates,
  goalIssues,
  missedSessions,
  projectChecks,
  stalePlan,
  type Flagged,
  type Missed,
  type ProjectState,
  type StalePlan,
} from './sweep-plan';

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
}

export interface SweepOptions {
  sinceMs: number;
  maxCreate: number;
  dryRun: boolean;
  onStep?: (text: string) => void;
}

/** The line of observability/work-sweep.jsonl, and what `work sweep --json` prints. */
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

/** `trouble`: the first fault in its own kind, for `--strict`. */
export interface Swept {
  result: SweepResult;
  trouble: StewardError | undefined;
}

/** One sweep under way, and what has come of it so far. */
interface Run extends Swept {
  deps: SweepDeps;
  options: SweepOptions;
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
    ...{ malformed: 0, sessionsScanned: 0, created: 0, updated: 0, staleFlagged: 0, projectChecks: 0 },
    ...{ goals: 0, duplicatesMerged: 0, requests: 0, rateRemaining: null, durationMs: 0 },
    errors: [],
    ...{ left: 0, reminded: 0, skipped: null },
    waiting: [],
    titles: [],
  };
}

/** Does a step; one that fails is noted and gives undefined, and the others go on. Only an interruption is thrown. */
async function attempt<T>(run: Run, step: string, work: () => T | Promise<T>): Promise<T | undefined> {
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

/**
 * The periodic sweep: session catch-up, stale flagging, project check, goal derivation; duplicates are merged first
 * and the task list is made anew at the end. It throws for nothing that the service, the network or a file does; what
 * went wrong stands in `errors`. When the list cannot be read, what depends on it is left alone: unknown is never
 * "none". A dry run sends nothing that writes.
 */
export async function sweep(deps: SweepDeps, options: SweepOptions): Promise<Swept> {
  const { clock, workRepo, host } = deps.work;
  const begun = clock.monotonic();
  const result = emptyResult(clock, workRepo().repo ?? null, options);
  const run: Run = { deps, options, trouble: undefined, result };
  result.skipped = skipReason(deps.work);
  const opened = result.skipped === null ? await attempt(run, 'credential', host) : undefined;
  const spent = opened?.usage().requests ?? 0;
  const isIdle = options.dryRun || result.skipped !== null;
  result.waiting = (await attempt(run, 'captures', () => deps.captures(isIdle))) ?? [];
  if (opened !== undefined) {
    await attempt(run, 'sweep', () => sweepRepository(run, opened));
    const { requests, remaining } = opened.usage();
    result.requests = requests - spent;
    result.rateRemaining = remaining;
  }
  if (!isIdle) result.reminded = (await attempt(run, 'reminders', deps.remind)) ?? 0;
  result.durationMs = Math.round(clock.monotonic() - begun);
  return { result, trouble: run.trouble };
}

function skipReason({ config, workRepo, clock }: WorkDeps): string | null {
  if (!config.CAPTURE_SWEEP) return 'WORK.CAPTURE_SWEEP is false';
  const state = privacyState(workRepo(), clock.now());
  if (state === 'setup') return 'no work repository is set up; run `steward work setup OWNER/REPO`';
  if (state === 'off') return 'work tracking is switched off (WORK.enabled is false)';
  if (state !== 'public') return null;
  return 'the repository is not private; make it private, then run `steward work verify`';
}

/** What one pass over the list has found to do. */
interface Plan {
  merge: ReturnType<typeof duplicates>;
  stale: StalePlan;
  /** Sessions whose issue is there: they cost no creation, their number is written back. */
  there: Missed[];
  chosen: (Wanted & Partial<Missed>)[];
}

async function sweepRepository(run: Run, host: Host): Promise<void> {
  const { deps, options, result } = run;
  const { work } = deps;
  if (privacyState(work.workRepo(), work.clock.now()) !== 'fresh') await verify(work);
  const plan = await planOf(run, host);
  if (plan === undefined) return;
  if (options.dryRun) {
    tellPlan(result, plan);
    return;
  }
  const { merge, stale, there, chosen } = plan;
  const creates = [...there, ...chosen];
  if (merge.length + stale.flag.length + stale.unflag.length + creates.length > 0) {
    const open = await attempt(run, 'privacy', () => openForWriting(work));
    if (open === undefined) return;
    await attempt(run, 'duplicates', () => mergeAll(run, open, merge));
    await attempt(run, 'stale', () => flagAll(run, open, stale));
    if (creates.length > 0) await attempt(run, 'create', () => createAll(run, open, creates));
  }
  const reason = await attempt(run, 'task list', deps.regenerate);
  if (typeof reason === 'string') result.errors.push({ step: 'task list', message: reason });
}

async function planOf(run: Run, host: Host): Promise<Plan | undefined> {
  const { deps, options, result } = run;
  const { work } = deps;
  const list = await attempt(run, 'list', () => freshCache(work, host, repoOf(work.workRepo())));
  if (list === undefined) return undefined;
  const { issues } = list;
  result.malformed = list.malformed;
  const nowMs = work.clock.now();
  const found = (await attempt(run, 'sessions', () => deps.sessionsSince(nowMs - options.sinceMs))) ?? [];
  result.sessionsScanned = found.length;
  const projects = await attempt(run, 'projects', async () =>
    projectChecks(await deps.projects(), issues, { nowMs, map: work.config.PROJECT_PROPERTY }),
  );
  const goals = await attempt(run, 'goals', () => goalIssues(deps.goals(), issues));
  const known = new Set(issues.map(({ identity }) => identity));
  const sessions = missedSessions(found, deps);
  const isThere = ({ identity }: Wanted): boolean => known.has(`slug=${identity.value}`);
  const wanted = [...sessions.filter((one) => !isThere(one)), ...(projects ?? []), ...(goals ?? [])];
  const chosen = wanted.slice(0, options.maxCreate);
  result.left = wanted.length - chosen.length;
  return {
    merge: duplicates(issues),
    stale: stalePlan(issues, readFlags(work), nowMs),
    there: sessions.filter(isThere),
    chosen,
  };
}

function tellPlan(result: SweepResult, { merge, stale, there, chosen }: Plan): void {
  // Of two artifacts with one slug the second finds the issue of the first.
  const made = [
    ...new Map(chosen.map((one) => [`${one.identity.kind}=${one.identity.value}`, one])).values(),
  ];
  count(result, made);
  result.updated = there.length + chosen.length - made.length;
  result.titles = made.map(wantedTitle);
  result.staleFlagged = stale.flag.length;
  result.duplicatesMerged = merge.reduce((sum, { close }) => sum + close.length, 0);
}

function count(result: SweepResult, made: readonly Wanted[]): void {
  result.created += made.length;
  result.projectChecks += made.filter(({ kind }) => kind === 'project-check').length;
  result.goals += made.filter(({ kind }) => kind === 'goal').length;
}

/** Makes the issues that are missing, each once, and writes the number of a session's into its artifact. */
async function createAll(
  { deps, result, options }: Run,
  open: Open,
  wanted: readonly (Wanted & Partial<Missed>)[],
): Promise<void> {
  let index = 0;
  await ensureIssues(open, wanted, ({ action, issue, missingLabels }) => {
    const one = wanted[index++];
    options.onStep?.(`${index} of ${wanted.length}: ${issue.title}`);
    if (one?.folder !== undefined) {
      // The next sweep writes back what could not be written now: the issue is found by its identity.
      try {
        writeBack(deps, one.folder, issue);
      } catch (error) {
        result.errors.push({ step: 'write-back', message: toStewardError(error).message });
      }
    }
    if (missingLabels.length > 0)
      reportCapture(deps.work, 'labels-missing', { issue: issue.number, labels: missingLabels });
    if (action === 'found') result.updated += 1;
    else if (one !== undefined) {
      count(result, [one]);
      result.titles.push(issue.title);
    }
  });
}

/** Closes duplicates as not planned, each with a pointer to the one that stays. */
async function mergeAll({ result }: Run, { deps, host, repo }: Open, groups: Plan['merge']): Promise<void> {
  await rememberAll(deps, repo, async (remember) => {
    for (const { keep, close } of groups) {
      for (const { number } of close) {
        await host.comment(repo, number, `This is the same as #${keep.number}; it goes on there.`);
        remember(await host.updateIssue(repo, number, { state: 'closed', stateReason: 'not_planned' }));
        result.duplicatesMerged += 1;
      }
    }
  });
}

/** Flags what stands still, and takes the flag from what was touched; noted one by one, so a kill repeats one at most. */
async function flagAll({ result }: Run, open: Open, { flag, unflag }: StalePlan): Promise<void> {
  if (flag.length + unflag.length === 0) return;
  const { deps, host, repo } = open;
  const flags = { ...readFlags(deps) };
  const note = (): void => writeStored(flagsPath(deps), { version: 1, flagged: flags });
  const { labels } = onlyExisting(['stale'], await labelNames(open), repo);
  await rememberAll(deps, repo, async (remember) => {
    for (const { number } of labels.length === 0 ? [] : flag) {
      await host.addLabels(repo, number, labels);
      const after = await host.issue(repo, number);
      flags[String(number)] = after.updatedAt;
      note();
      remember(after);
      result.staleFlagged += 1;
    }
    for (const { number } of unflag) {
      await host.removeLabel(repo, number, 'stale');
      delete flags[String(number)];
      note();
      remember(await host.issue(repo, number));
      result.updated += 1;
    }
  });
}

const StoredFlags = v.object({ flagged: v.record(v.string(), v.string()) });

/** Which issues were flagged as stale, and when. */
function readFlags(deps: WorkDeps): Flagged {
  return readStored(flagsPath(deps), StoredFlags)?.flagged ?? {};
}

function flagsPath({ paths }: WorkDeps): string {
  return join(paths.root, 'sweep.json');
}

type LogDeps = Pick<WorkDeps, 'clock' | 'area'>;

/** When the last sweep began, ms, by its line in the log; -Infinity without one. */
export function lastSweepMs({ area }: Pick<LogDeps, 'area'>): number {
  const lines = (readText(logPath(area)) ?? '').trimEnd().split('\n');
  const real = lines.map(parseObject).findLast((line) => line?.['dryRun'] === false);
  return parseIso(String(real?.['ts'])) ?? -Infinity;
}

/** Appends the one line of a sweep to the log, whatever became of it; titles are the repository's, and stay out. */
export function logSweep({ area, clock }: LogDeps, { result, trouble }: Swept): Swept {
  const line: Partial<SweepResult> = { ...result };
  for (const key of ['skipped', 'titles', 'left', 'reminded', 'waiting'] as const) delete line[key];
  try {
    ensureFolder(area.observability);
    appendLog(logPath(area), JSON.stringify(line), { rotateBytes: 4 * 1024 * 1024, nowMs: clock.now() });
    return { result, trouble };
  } catch (error) {
    // What was done stays done: a line that cannot be written is one more thing to tell of.
    const known = toStewardError(error);
    result.errors.push({ step: 'log', message: known.message });
    return { result, trouble: trouble ?? known };
  }
}

function logPath(area: WorkDeps['area']): string {
  return join(area.observability, 'work-sweep.jsonl');
}

/** A sweep that failed before it began. */
export function failedSweep(
  clock: Clock,
  options: Pick<SweepOptions, 'dryRun' | 'sinceMs'>,
  trouble: StewardError,
): Swept {
  const errors = [{ step: 'start', message: trouble.message }];
  return { result: { ...emptyResult(clock, null, options), errors }, trouble };
}
