import { join } from 'node:path';

import { toStewardError, type StewardError } from '../errors';
import { parseProjects, parseGoals } from '../goals/record';
import { readText } from '../platform/files/atomic-file';
import { parseIso } from '../platform/time/clock';
import { appendLog } from '../platform/files/log';
import { ensureFolder, exists, lstatOf } from '../platform/files/folder';
import { gitIn } from '../platform/process/git-process';
import { parseObject } from '../platform/files/json-object';
import { expandHome, processHost } from '../platform/files/paths';
import { entriesIn } from '../platform/files/stat';
import { artifactOf, artifactPath } from '../sessions/artifact';
import { isLive, type SessionsState } from '../sessions/session';
import { isSlug } from '../sessions/slug';
import { currentSessions } from '../sessions/state';
import { sessionWith, drainCaptures } from '../work/capture/deliver';
import { waitingCaptures } from '../work/capture/waiting';
import type { CapturedSession } from '../work/capture/session-end';
import {
  sweep,
  emptyResult,
  type SweepDeps,
  type SweepOptions,
  type SweepResult,
  type Swept,
} from '../work/sweep';
import type { ProjectState } from '../work/sweep-plan';
import { regenerateTaskList } from '../work/task-list';
import { captureDeps, spoolDeps } from './capture';
import type { Context } from './context';
import { reportError } from '../platform/terminal/error-report';
import { tellReminders } from './reminders';
import { openSessions } from './sessions';
import { openWork, type WorkContext } from './work';

const GIT_TIMEOUT_MS = 10_000;

/** `work sweep`: sweeps, and appends its one line to the log, whatever became of it. */
export async function runSweep(context: Context, options: SweepOptions): Promise<Swept> {
  return withLog(context, await sweptOrNot(context, options));
}

/**
 * Logs a sweep that failed before it began, and returns what to say and a result with the same error. With `--strict`
 * among the flags, and after an interrupt, it throws the error.
 */
export function noSweep(
  context: Context,
  flags: readonly string[],
  error: unknown,
): { said: string; result: SweepResult } {
  const trouble = toStewardError(error);
  if (flags.includes('--strict') || trouble.kind === 'canceled') throw error;
  const { text } = reportError(trouble, { json: false, debug: flags.includes('--debug') });
  const options = { dryRun: flags.includes('--dry-run'), sinceMs: 0 };
  return { said: text.trimEnd(), result: withLog(context, failed(context, options, trouble)).result };
}

function logOf({ area }: Context): string {
  return join(area.observability, 'work-sweep.jsonl');
}

/** When the last sweep began, ms, by its line in the log; -Infinity without one. */
export function lastSweepMs(context: Context): number {
  const lines = (readText(logOf(context)) ?? '').trimEnd().split('\n');
  const real = lines.map(parseObject).findLast((line) => line?.['dryRun'] === false);
  return parseIso(String(real?.['ts'])) ?? -Infinity;
}

function withLog(context: Context, swept: Swept): Swept {
  try {
    log(context, swept.result);
    return swept;
  } catch (error) {
    // What was done stays done: a line that cannot be written is one more thing to tell of.
    const known = toStewardError(error);
    swept.result.errors.push({ step: 'log', message: known.message });
    return { ...swept, trouble: swept.trouble ?? known };
  }
}

function log(context: Context, result: SweepResult): void {
  ensureFolder(context.area.observability);
  const line = JSON.stringify(logged(result));
  appendLog(logOf(context), line, { rotateBytes: 4 * 1024 * 1024, nowMs: context.clock.now() });
}

/** What the line holds. Titles are the repository's, and stay out of the log. */
function logged(result: SweepResult): Partial<SweepResult> {
  const line: Partial<SweepResult> = { ...result };
  for (const key of ['skipped', 'titles', 'left', 'reminded', 'waiting'] as const) delete line[key];
  return line;
}

async function sweptOrNot(context: Context, options: SweepOptions): Promise<Swept> {
  try {
    const work = await openWork(context, { maxWaitMs: 60_000 });
    return await sweep(await sweepDeps(context, work), options);
  } catch (error) {
    const trouble = toStewardError(error);
    if (trouble.kind === 'canceled') throw error;
    return failed(context, options, trouble);
  }
}

function failed(
  { clock }: Context,
  options: Pick<SweepOptions, 'dryRun' | 'sinceMs'>,
  trouble: StewardError,
): Swept {
  const errors = [{ step: 'start', message: trouble.message }];
  return { result: { ...emptyResult(clock, null, options), errors }, trouble };
}

async function sweepDeps(context: Context, work: WorkContext): Promise<SweepDeps> {
  const sessions = await openSessions(context);
  const { paths } = work.user;
  // Of one moment: a thousand sessions are looked up in it.
  let seen: SessionsState | undefined;
  const captures = await captureDeps(context, work, { seen: () => seen });
  const more: Pick<
    SweepDeps,
    'sessionsSince' | 'projects' | 'goals' | 'regenerate' | 'remind' | 'flags' | 'captures'
  > = {
    captures: async (dryRun) => {
      if (!dryRun) await drainCaptures(captures, spoolDeps(context));
      return waitingCaptures(work.deps);
    },
    flags: join(context.area.work.root, 'sweep.json'),
    // One that goes on is the hook's at its end, which knows where it worked.
    sessionsSince: (ms) => {
      seen = currentSessions(sessions);
      const nowMs = context.clock.now();
      const live = new Set(
        Object.values(seen.sessions).flatMap((one) => (isLive(one, nowMs) ? [one.slug] : [])),
      );
      return sessionsAmong(sessions.sessions, { since: ms, live });
    },
    goals: () => parseGoals(readText(paths.goals, { followLink: true }) ?? ''),
    projects: async () => {
      const states: ProjectState[] = [];
      for (const project of parseProjects(readText(paths.projects, { followLink: true }) ?? '')) {
        states.push({ ...project, lastCommitMs: await lastCommit(context, project.path) });
      }
      return states;
    },
    remind: async () => {
      const { openNotify } = await import('./notify');
      const notify = await openNotify(context);
      const told = await tellReminders(context, work, notify);
      if (told > 0) notify.deliverLater();
      return told;
    },
    regenerate: async () => {
      const { result, trouble } = await regenerateTaskList(work.deps, { push: true });
      if (trouble !== undefined) throw trouble;
      return result.reason;
    },
  };
  return Object.defineProperties(captures, Object.getOwnPropertyDescriptors(more)) as SweepDeps;
}

/**
 * The sessions in a folder whose artifact was written at or after a time, ms, the oldest first; those that go on are
 * left out.
 */
export function sessionsAmong(
  sessions: string,
  { since, live }: { since: number; live: ReadonlySet<string> },
): CapturedSession[] {
  const restricted = new Map<string, boolean>();
  return entriesIn(sessions)
    .filter(({ name, isFolder }) => isFolder && isSlug(name) && !live.has(name))
    .flatMap(({ name }) => {
      const mtimeMs = lstatOf(artifactPath(sessions, name))?.mtimeMs ?? -1;
      return mtimeMs < since ? [] : [{ name, mtimeMs }];
    })
    .sort((a, b) => a.mtimeMs - b.mtimeMs || (a.name < b.name ? -1 : 1))
    .flatMap(({ name }) => {
      const artifact = artifactOf(sessions, name);
      return artifact === undefined ? [] : [sessionWith(sessions, name, artifact, restricted)];
    });
}

/** Of all branches, wall-clock ms; undefined where there is no repository, or none of it can be told. */
async function lastCommit(context: Context, path: string): Promise<number | undefined> {
  const root = expandHome(path, processHost().home);
  if (!exists(join(root, '.git'))) return undefined;
  const git = gitIn({ run: context.run, timeoutMs: () => GIT_TIMEOUT_MS }, root);
  const said = await git(['log', '--branches', '-1', '--format=%ct']);
  return /^\d+$/.test(said.trim()) ? Number(said.trim()) * 1000 : undefined;
}
