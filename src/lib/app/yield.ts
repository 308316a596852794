import { StewardError, throwIfBug } from '../errors';
import { DEMO_VARIABLE } from '../platform/files/durable';
import { gitFolderAt } from '../platform/files/git-folder';
import { processHost } from '../platform/files/paths';
import { gitIn } from '../platform/process/git';
import { daysOf, type Period } from '../platform/time/period';
import { plural } from '../platform/terminal/format';
import { addDays, dayBounds, dayOf, type Day } from '../platform/time/time';
import { commitWork, type CommitWork } from '../sense/commit-work';
import { fatesOf, type Fate } from '../sense/git/fate';
import { refuseOddFiles } from '../sense/git/refs';
import { KEPT_DAYS } from '../usage/collect';
import { rowsSince } from '../usage/ledger';
import type { Grouping } from '../usage/rollup';
import type { UsageReport } from '../usage/view';
import { commitYield, groupYield, type IssueState, type YieldRow } from '../usage/yield';
import { itemsOf } from '../work/board';
import type { Context } from './context';
import { openSense } from './sense';
import { openTime } from './time';
import { openUsage } from './usage';
import { openWork } from './work';
import { openWorkNames } from './work-names';

const GIT_TIMEOUT_MS = 10_000;
const UNKNOWN: Fate = { kept: null, merged: null, reverted: null };

/** Returns the usage of a period; by issue, branch or commit, with your time and the results of the work. */
export async function openUsageReport(
  context: Context,
  { by, period, machine }: { by: Grouping | 'commit'; period: Period; machine?: string | undefined },
): Promise<UsageReport> {
  const { deps, report: read } = await openUsage(context);
  const report = await read({ period, machine, by: by === 'commit' ? 'session' : by });
  if (by !== 'commit' && by !== 'issue' && by !== 'branch') return report;
  if (machine !== undefined && by === 'commit')
    throw new StewardError('usage', 'Commits are known on this machine only.', { hint: 'Omit --machine.' });
  const oldest = addDays(dayOf(deps.clock.now(), deps.zone), 1 - KEPT_DAYS);
  const notes = [...report.notes];
  const { commits, isKnown, ...spans } = await openCommits(context, period, oldest, notes);
  const statesOf = await issueStates(context);
  const made = (rows: YieldRow[]): UsageReport => {
    return { ...report, by, notes, made: { ...report.usage, rows, ...(notes.length > 0 && { notes }) } };
  };
  if (by === 'commit') {
    const { startMs: oldestMs } = dayBounds(oldest, deps.zone);
    const responses = rowsSince(deps.state, oldestMs, oldest);
    const known = { ...spans, oldestMs, fromMs: period.startMs, prices: deps.prices, responses };
    return made(commitYield({ ...known, commits }, statesOf));
  }
  const { rows } = (await openTime(context, period, { by, machine })).report;
  const times = rows.map(
    ({ key, working, minutes }) => [key, { agentMinutes: working, yourMinutes: minutes }] as const,
  );
  const own = isKnown && machine === undefined ? commits.filter(({ ms }) => ms >= period.startMs) : undefined;
  return made(groupYield(report.usage.rows, by, new Map(times), own, statesOf));
}

/** Returns the commits from `oldest` or the period's start to its end, and the time in their sessions. */
async function openCommits(context: Context, period: Period, oldest: Day, notes: string[]) {
  const { deps } = await openSense(context);
  const { from, to, startMs } = period;
  const { commits, ...spans } = commitWork(deps, daysOf({ from: oldest < from ? oldest : from, to }));
  const missing = daysOf(period).filter((day) => deps.store.logBytes(day) === undefined).length;
  if (missing > 0)
    notes.push(
      `No event log, so the commits of ${plural(missing, 'day')} are unknown. \`steward up\` starts to record them; a session's branch and issue need hooks (\`steward install hooks\`).`,
    );
  const shown = commits.filter(({ ms }) => ms >= startMs);
  const fates = await readFates(context, shown, notes);
  const names = (await openWorkNames(context))();
  const known = commits.map((commit) => ({
    ...commit,
    fate: fates.get(commit.sha) ?? UNKNOWN,
    branch: commit.branch === null ? commit.repo : `${commit.repo}:${commit.branch}`,
    issue: names.issue({ ...commit, assistant: null }) ?? 'no issue',
  }));
  return { ...spans, commits: known, isKnown: missing < daysOf(period).length };
}

/** Asks git in each repository about its commits. Notes the repositories that can't be read. */
async function readFates({ run }: Context, commits: readonly CommitWork[], notes: string[]) {
  const fates = new Map<string, Fate>();
  if (processHost().env[DEMO_VARIABLE] !== undefined) {
    notes.push("The demo's repositories are empty, so whether commits were kept is unknown.");
    return fates;
  }
  for (const path of new Set(commits.map(({ path: folder = '' }) => folder))) {
    const own = commits.filter(({ path: folder = '' }) => folder === path);
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
