import { StewardError, throwIfBug } from '../errors';
import { gitFolderAt } from '../platform/files/git-folder';
import { gitIn } from '../platform/process/git';
import { daysOf, type Period } from '../platform/time/period';
import { addDays, dayBounds, dayOf } from '../platform/time/time';
import { commitWork, type CommitWork } from '../sense/commit-work';
import { fatesOf, type Fate } from '../sense/git/fate';
import { refuseOddFiles } from '../sense/git/refs';
import { KEPT_DAYS } from '../usage/collect';
import { rowsSince } from '../usage/ledger';
import type { UsageReadDeps } from '../usage/reads';
import type { Usage } from '../usage/rollup';
import { commitYield, groupYield, type IssueState, type Yield, type YieldGrouping } from '../usage/yield';
import { itemsOf } from '../work/board';
import type { Context } from './context';
import { openSense } from './sense';
import { openTime } from './time';
import { openWork } from './work';
import { openWorkNames } from './work-names';

const GIT_TIMEOUT_MS = 10_000;
const UNKNOWN: Fate = { kept: null, merged: null, reverted: null };

interface YieldInput {
  by: YieldGrouping;
  period: Period;
  machine?: string | undefined;
}

/** Adds your and your agents' time, and the results of the work, to the usage of a period. Writes nothing. */
export async function openYield(
  context: Context,
  usage: Usage,
  { by, period, machine }: YieldInput,
  deps: UsageReadDeps,
): Promise<Yield> {
  if (machine !== undefined && by === 'commit')
    throw new StewardError('usage', 'Commits are known on this machine only.', { hint: 'Omit --machine.' });
  const sense = (await openSense(context)).deps;
  const names = (await openWorkNames(context))();
  const oldest = addDays(dayOf(deps.clock.now(), deps.zone), 1 - KEPT_DAYS);
  const from = oldest < period.from ? oldest : period.from;
  const days = daysOf(period);
  const { commits, ...spans } = commitWork(sense, daysOf({ from, to: period.to }));
  const notes = [...(usage.notes ?? [])];
  const missing = days.filter((day) => sense.store.logBytes(day) === undefined);
  if (missing.length > 0)
    notes.push(`Commits of ${missing.length} of ${days.length} days are unknown: no event log.`);
  const fates = await readFates(context, commits.filter(({ ms }) => ms >= period.startMs), notes); // prettier-ignore
  const known = commits.map((commit) => ({
    ...commit,
    fate: fates.get(commit.sha) ?? UNKNOWN,
    branch: commit.branch === null ? commit.repo : `${commit.repo}:${commit.branch}`,
    issue: names.issue({ ...commit, assistant: null }) ?? 'no issue',
  }));
  const statesOf = await issueStates(context);
  const beside = notes.length === 0 ? usage : { ...usage, notes };
  if (by === 'commit') {
    const { startMs } = dayBounds(oldest, deps.zone);
    const responses = rowsSince(deps.state, startMs, oldest);
    const bounds = { oldestMs: startMs, fromMs: period.startMs, prices: deps.prices };
    return { ...beside, rows: commitYield({ ...spans, ...bounds, commits: known, responses }, statesOf) };
  }
  const { report } = await openTime(context, period, { by, machine });
  const times = new Map(
    report.rows.map(({ key, minutes, working }) => [key, { agentMinutes: working, yourMinutes: minutes }]),
  );
  const own = known.filter(({ ms }) => ms >= period.startMs);
  const isKnown = missing.length < days.length && machine === undefined;
  return { ...beside, rows: groupYield(usage.rows, by, times, isKnown ? own : undefined, statesOf) };
}

/** Asks git in each repository about its commits. Notes the repositories that can't be read. */
async function readFates({ run }: Context, commits: readonly CommitWork[], notes: string[]) {
  const paths = [...new Set(commits.map(({ path }) => path))];
  const fates = new Map<string, Fate>();
  for (const path of paths) {
    const own = commits.filter((commit) => commit.path === path);
    try {
      const folder = gitFolderAt(path);
      if (folder === undefined) notes.push(`${path}: not a git repository.`);
      else {
        refuseOddFiles(folder);
        const git = gitIn({ run, timeoutMs: () => GIT_TIMEOUT_MS }, folder.root);
        for (const [sha, fate] of await fatesOf(git, own)) fates.set(sha, fate);
      }
    } catch (error) {
      notes.push(`${path}: ${throwIfBug(error).message}`);
    }
  }
  return fates;
}

/** Returns a function that looks up an issue in the stored list. A branch may name an issue of another repository. */
async function issueStates(context: Context): Promise<(issue: string) => IssueState[]> {
  const { deps } = await openWork(context);
  const repo = deps.workRepo();
  const name = repo.repo?.split('/')[1] ?? '';
  const states = new Map(itemsOf(deps, repo).map(({ number, state }) => [number, state]));
  return (key) => {
    const [place = '', number] = key.split('#');
    if (number === undefined) return [];
    const isOurs = place === '' || place === name;
    return [{ key, state: (isOurs ? states.get(Number(number)) : undefined) ?? 'unknown' }];
  };
}
