import { join } from 'node:path';

import * as v from 'valibot';

import { toStewardError } from '../errors';
import type { Goal } from '../goals/record';
import { cacheIssue, readStored, writeStored } from './cache';
import { logCapture, writeNumber } from './capture/deliver';
import type { CapturedSession, SessionRules } from './capture/session';
import type { Waiting } from './capture/waiting';
import type { OpenRepo, WorkDeps } from './deps';
import { ensureIssues, wantedTitle, type Wanted } from './ensure';
import type { Host } from './host';
import { identityKey, toIssue, type Issue } from './issue';
import { existingLabels, labelNames } from './labels';
import { freshCache } from './poll';
import { currentPrivacy, openForWriting, repoOf, verify } from './privacy';
import { emptyResult, type SweepResult, type Swept } from './sweep-log';
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

export interface SweepDeps extends SessionRules {
  /** Returns the ended sessions whose session file changed after the given time, oldest first. */
  sessionsSince: (ms: number) => CapturedSession[];
  projects: () => Promise<ProjectState[]>;
  goals: () => Goal[];
  /** Regenerates and pushes the task list. Returns why the push failed, or null if it succeeded. */
  regenerate: () => Promise<string | null>;
  /**
   * Delivers the spooled captures, except in a dry run. Calls `onCreated` with each created issue, and returns
   * the captures that are still pending.
   */
  captures: (dryRun: boolean, onCreated: (issue: Issue) => void) => Promise<Waiting[]>;
  /** Sends notifications for due reminders and returns how many reminders there were. */
  remind: () => Promise<number>;
}

export interface SweepOptions {
  sinceMs: number;
  maxCreate: number;
  dryRun: boolean;
  onStep?: (text: string) => void;
}

interface Run extends Swept {
  deps: SweepDeps;
  options: SweepOptions;
}

/** Runs a step. Records an error and lets the sweep continue; throws only if canceled. */
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
 * Runs the sweep: merges duplicates, flags stale issues, creates missing ones and regenerates the task list.
 * If the issue list is incomplete, creates nothing, to avoid duplicates.
 */
export async function sweep(deps: SweepDeps, options: SweepOptions): Promise<Swept> {
  const { clock, workRepo, host } = deps.work;
  const started = clock.monotonic();
  const result = emptyResult(clock, workRepo().repo ?? null, options);
  const run: Run = { deps, options, trouble: undefined, result };
  result.skipped = skipReason(deps.work);
  const opened = result.skipped === null ? await attempt(run, 'credential', host) : undefined;
  const requestsBefore = opened?.usage().requests ?? 0;
  const isReadOnly = options.dryRun || result.skipped !== null;
  const onCreated = ({ title }: Issue): void => {
    result.created += 1;
    result.titles.push(title);
  };
  result.waiting = (await attempt(run, 'captures', () => deps.captures(isReadOnly, onCreated))) ?? [];
  if (opened !== undefined) {
    await attempt(run, 'sweep', () => sweepRepository(run, opened));
    const { requests, remaining } = opened.usage();
    result.requests = requests - requestsBefore;
    result.rateRemaining = remaining;
  }
  if (!isReadOnly) result.reminded = (await attempt(run, 'reminders', deps.remind)) ?? 0;
  result.durationMs = Math.round(clock.monotonic() - started);
  return { result, trouble: run.trouble };
}

function skipReason(deps: WorkDeps): string | null {
  if (!deps.config.CAPTURE_SWEEP) return 'WORK.CAPTURE_SWEEP is false';
  const state = currentPrivacy(deps);
  if (state === 'setup') return 'work tracking is not set up; run `steward work setup OWNER/REPO`';
  if (state === 'off') return 'work tracking is off (WORK.enabled is false)';
  if (state !== 'public') return null;
  return 'the repository is not private; make it private, then run `steward work verify`';
}

interface Plan {
  merge: ReturnType<typeof duplicates>;
  stale: StalePlan;
  /** Existing issues whose numbers are missing from their session files. */
  existing: Missed[];
  create: (Wanted & Partial<Missed>)[];
}

async function sweepRepository(run: Run, host: Host): Promise<void> {
  const { deps, options, result } = run;
  const { work } = deps;
  if (currentPrivacy(work) !== 'fresh') await verify(work);
  const plan = await planOf(run, host);
  if (plan === undefined) return;
  if (options.dryRun) {
    describePlan(result, plan);
    return;
  }
  const { merge, stale, existing, create } = plan;
  const wanted = [...existing, ...create];
  if (merge.length + stale.flag.length + stale.unflag.length + wanted.length > 0) {
    const open = await attempt(run, 'privacy', () => openForWriting(work));
    if (open === undefined) return;
    await attempt(run, 'duplicates', () => mergeAll(run, open, merge));
    await attempt(run, 'stale', () => flagAll(run, open, stale));
    if (wanted.length > 0) await attempt(run, 'create', () => createAll(run, open, wanted));
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
  const map = work.config.PROJECT_PROPERTY;
  const projects = await attempt(run, 'projects', async () =>
    projectChecks(await deps.projects(), issues, { nowMs, map }),
  );
  const goals = await attempt(run, 'goals', () => goalIssues(deps.goals(), issues));
  const known = new Set(issues.map(({ identity }) => identity));
  const sessions = missedSessions(found, deps);
  const exists = ({ identity }: Wanted): boolean => known.has(`slug=${identity.value}`);
  const wanted = [...sessions.filter((each) => !exists(each)), ...(projects ?? []), ...(goals ?? [])];
  const create = wanted.slice(0, options.maxCreate);
  result.left = wanted.length - create.length;
  const stale = stalePlan(issues, readFlags(work), nowMs);
  return { merge: duplicates(issues), stale, existing: sessions.filter(exists), create };
}

function describePlan(result: SweepResult, { merge, stale, existing, create }: Plan): void {
  // Two session files with the same slug share an issue.
  const created = [...new Map(create.map((each) => [identityKey(each.identity), each])).values()];
  countCreated(result, created);
  result.updated = existing.length + create.length - created.length;
  result.titles = created.map(wantedTitle);
  result.staleFlagged = stale.flag.length;
  result.duplicatesMerged = merge.reduce((sum, { copies }) => sum + copies.length, 0);
}

function countCreated(result: SweepResult, created: readonly Wanted[]): void {
  result.created += created.length;
  result.projectChecks += created.filter(({ kind }) => kind === 'project-check').length;
  result.goals += created.filter(({ kind }) => kind === 'goal').length;
}

/** Creates the missing issues and writes their numbers to the session files. */
async function createAll(
  { deps, result, options }: Run,
  open: OpenRepo,
  wanted: readonly (Wanted & Partial<Missed>)[],
): Promise<void> {
  let index = 0;
  await ensureIssues(open, wanted, ({ action, issue, missingLabels }) => {
    const item = wanted[index++];
    options.onStep?.(`${index} of ${wanted.length}: ${issue.title}`);
    if (item?.folder !== undefined) {
      // If the write fails, the next sweep finds the issue by its identity and retries the write.
      try {
        writeNumber(deps, item.folder, issue);
      } catch (error) {
        result.errors.push({ step: 'write-back', message: toStewardError(error).message });
      }
    }
    if (missingLabels.length > 0)
      logCapture(deps.work, 'labels-missing', { issue: issue.number, labels: missingLabels });
    if (action === 'found') result.updated += 1;
    else if (item !== undefined) {
      countCreated(result, [item]);
      result.titles.push(issue.title);
    }
  });
}

/** Closes duplicates as not planned, with a link to the original. */
async function mergeAll({ result }: Run, { deps, host, repo }: OpenRepo, groups: Plan['merge']) {
  for (const { original, copies } of groups) {
    for (const { number } of copies) {
      await host.comment(repo, number, `Duplicate of #${original.number}.`);
      const closed = await host.updateIssue(repo, number, { state: 'closed', stateReason: 'not_planned' });
      cacheIssue(deps, repo, toIssue(closed));
      result.duplicatesMerged += 1;
    }
  }
}

/**
 * Adds and removes the stale label. Records each change, so that a rerun after a crash repeats at most one
 * change.
 */
async function flagAll({ result }: Run, open: OpenRepo, { flag, unflag }: StalePlan): Promise<void> {
  if (flag.length + unflag.length === 0) return;
  const { deps, host, repo } = open;
  const flags = { ...readFlags(deps) };
  const save = (): void => writeStored(flagsPath(deps), { version: 1, flagged: flags });
  const { labels } = existingLabels(['stale'], await labelNames(open), repo);
  for (const { number } of labels.length === 0 ? [] : flag) {
    await host.addLabels(repo, number, labels);
    const after = await host.issue(repo, number);
    flags[String(number)] = after.updatedAt;
    save();
    cacheIssue(deps, repo, toIssue(after));
    result.staleFlagged += 1;
  }
  for (const { number } of unflag) {
    await host.removeLabel(repo, number, 'stale');
    delete flags[String(number)];
    save();
    cacheIssue(deps, repo, toIssue(await host.issue(repo, number)));
    result.updated += 1;
  }
}

const StoredFlags = v.object({ flagged: v.record(v.string(), v.string()) });

function readFlags(deps: WorkDeps): Flagged {
  return readStored(flagsPath(deps), StoredFlags)?.flagged ?? {};
}

function flagsPath({ paths }: WorkDeps): string {
  return join(paths.root, 'sweep.json');
}
