import { wantedTitle, type Wanted } from '../ensure';
import type { Host } from '../host';
import { freshCache } from '../poll';
import { openForWriting, privacyState, repoOf, verify } from '../privacy';
import { duplicates, goalIssues, missedSessions, projectChecks, stalePlan } from './plan';
import { attempt, emptyResult, type Run, type SweepDeps, type SweepOptions, type Swept } from './run';
import { count, createAll, flagAll, mergeAll, readFlags } from './writes';

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
