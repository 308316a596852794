import { type StewardError, toStewardError } from '../errors';
import type { Goal } from '../goals/record';
import { readText, replaceFile } from '../platform/files/atomic-file';
import { isObject, parseObject } from '../platform/files/json-object';
import { type Clock, toIso } from '../platform/time/clock';
import { rememberAll } from './cache';
import { type CaptureDeps, writeBack } from './capture/deliver';
import type { CapturedSession } from './capture/session-end';
import type { Waiting } from './capture/waiting';
import { type Wanted, ensureIssues, wantedTitle } from './ensure';
import type { Host } from './host';
import { labelNames, onlyExisting } from './labels';
import { freshCache } from './poll';
import { openForWriting, privacyState, repoOf, verify } from './privacy';
import {
  type Flagged,
  type Missed,
  type ProjectState,
  duplicates,
  goalIssues,
  missedSessions,
  projectChecks,
  stalePlan,
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

/** Notes what was created, or in a dry run would be. */
export function count(result: SweepResult, made: readonly Wanted[]): void {
  result.created += made.length;
  result.projectChecks += made.filter(({ kind }) => kind === 'project-check').length;
  result.goals += made.filter(({ kind }) => kind === 'goal').length;
}

/** Makes the issues that are missing, each once, and writes the number of a session's into its artifact. */
export async function createAll(
  run: Run,
  host: Host,
  repo: string,
  wanted: readonly (Wanted & Partial<Missed>)[],
): Promise<void> {
  const { deps, result, options } = run;
  let index = 0;
  await ensureIssues(deps, host, repo, wanted, ({ action, issue, missingLabels }) => {
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
      deps.report('labels-missing', { issue: issue.number, labels: missingLabels });
    if (action === 'found') result.updated += 1;
    else if (one !== undefined) {
      count(result, [one]);
      result.titles.push(issue.title);
    }
  });
}

/** Closes duplicates as not planned, each with a pointer to the one that stays. */
export async function mergeAll(
  { deps, result }: Run,
  host: Host,
  repo: string,
  groups: ReturnType<typeof duplicates>,
): Promise<void> {
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
export async function flagAll(
  { deps, result }: Run,
  host: Host,
  repo: string,
  { flag, unflag }: ReturnType<typeof stalePlan>,
): Promise<void> {
  if (flag.length + unflag.length === 0) return;
  const flags = { ...readFlags(deps.flags) };
  const { labels } = onlyExisting(['stale'], await labelNames(deps, host, repo), repo);
  await rememberAll(deps, repo, async (remember) => {
    for (const { number } of labels.length === 0 ? [] : flag) {
      await host.addLabels(repo, number, labels);
      const after = await host.issue(repo, number);
      flags[String(number)] = after.updatedAt;
      writeFlags(deps.flags, flags);
      remember(after);
      result.staleFlagged += 1;
    }
    for (const { number } of unflag) {
      await host.removeLabel(repo, number, 'stale');
      delete flags[String(number)];
      writeFlags(deps.flags, flags);
      remember(await host.issue(repo, number));
      result.updated += 1;
    }
  });
}

/** Which issues were flagged as stale, and when. */
export function readFlags(path: string): Flagged {
  const stored = parseObject(readText(path, { maxBytes: 1024 * 1024 }) ?? '')?.['flagged'];
  return isObject(stored) ? (stored as Flagged) : {};
}

function writeFlags(path: string, flagged: Flagged): void {
  replaceFile(path, `${JSON.stringify({ version: 1, flagged })}\n`);
}

/**
 * The periodic sweep (service.md: Work capture rules, 3): session catch-up, stale flagging, project check, goal
 * derivation; duplicates are merged first and the task list is made anew at the end. It throws for nothing that the
 * service, the network or a file does; what went wrong stands in `errors`. When the list cannot be read, what depends
 * on it is left alone: unknown is never "none". A dry run sends nothing that writes.
 */
export async function sweep(deps: SweepDeps, options: SweepOptions): Promise<Swept> {
  const begun = deps.clock.monotonic();
  const run: Run = {
    deps,
    options,
    trouble: undefined,
    result: emptyResult(deps.clock, deps.workRepo().repo ?? null, options),
  };
  const { result } = run;
  result.skipped = skipReason(deps);
  const before = result.skipped === null ? await attempt(run, 'credential', () => deps.host()) : undefined;
  const spent = before?.usage().requests ?? 0;
  const isIdle = options.dryRun || result.skipped !== null;
  result.waiting = (await attempt(run, 'captures', () => deps.captures(isIdle))) ?? [];
  if (before !== undefined) {
    await attempt(run, 'sweep', () => sweepOpen(run, before));
    const { requests, remaining } = before.usage();
    result.requests = requests - spent;
    result.rateRemaining = remaining;
  }
  if (!isIdle) result.reminded = (await attempt(run, 'reminders', () => deps.remind())) ?? 0;
  result.durationMs = Math.round(deps.clock.monotonic() - begun);
  return { result, trouble: run.trouble };
}

function skipReason(deps: SweepDeps): string | null {
  if (!deps.config.CAPTURE_SWEEP) return 'WORK.CAPTURE_SWEEP is false';
  const state = privacyState(deps.workRepo(), deps.clock.now());
  if (state === 'setup') return 'no work repository is set up; run `steward work setup OWNER/REPO`';
  if (state === 'off') return 'work tracking is switched off (WORK.enabled is false)';
  if (state === 'public')
    return 'the repository is not private; make it private, then run `steward work verify`';
  return null;
}

async function sweepOpen(run: Run, host: Host): Promise<void> {
  const { deps, options, result } = run;
  const repo = repoOf(deps.workRepo());
  const isFresh = privacyState(deps.workRepo(), deps.clock.now()) === 'fresh';
  if (!isFresh) await verify(deps);
  const list = await attempt(run, 'list', () => freshCache(deps, host, repo));
  if (list === undefined) return;
  const { issues } = list;
  result.malformed = list.malformed;
  const nowMs = deps.clock.now();
  const merge = duplicates(issues);
  const stale = stalePlan(issues, readFlags(deps.flags), nowMs);
  const found = (await attempt(run, 'sessions', () => deps.sessionsSince(nowMs - options.sinceMs))) ?? [];
  result.sessionsScanned = found.length;
  const known = new Set(issues.map(({ identity }) => identity));
  const sessions = missedSessions(found, deps);
  const projects = await attempt(run, 'projects', async () =>
    projectChecks(await deps.projects(), issues, { nowMs, map: deps.config.PROJECT_PROPERTY }),
  );
  const goals = await attempt(run, 'goals', () => goalIssues(deps.goals(), issues));
  // A session whose issue is there costs no creation: its number is written back.
  const isThere = ({ identity }: Wanted): boolean => known.has(`slug=${identity.value}`);
  const there = sessions.filter(isThere);
  const wanted = [...sessions.filter((one) => !isThere(one)), ...(projects ?? []), ...(goals ?? [])];
  const chosen = wanted.slice(0, options.maxCreate);
  result.left = wanted.length - chosen.length;
  if (options.dryRun) {
    // Of two artifacts with one slug the second finds the issue of the first.
    const made = [
      ...new Map(chosen.map((one) => [`${one.identity.kind}=${one.identity.value}`, one])).values(),
    ];
    count(result, made);
    result.updated = there.length + chosen.length - made.length;
    result.titles = made.map(wantedTitle);
    result.staleFlagged = stale.flag.length;
    result.duplicatesMerged = merge.reduce((sum, { close }) => sum + close.length, 0);
    return;
  }
  const writes = merge.length + stale.flag.length + stale.unflag.length + there.length + chosen.length;
  if (writes > 0) {
    if ((await attempt(run, 'privacy', () => openForWriting(deps))) === undefined) return;
    await attempt(run, 'duplicates', () => mergeAll(run, host, repo, merge));
    await attempt(run, 'stale', () => flagAll(run, host, repo, stale));
    if (there.length + chosen.length > 0)
      await attempt(run, 'create', () => createAll(run, host, repo, [...there, ...chosen]));
  }
  const reason = await attempt(run, 'task list', () => deps.regenerate());
  if (typeof reason === 'string') result.errors.push({ step: 'task list', message: reason });
}
