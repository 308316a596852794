import { throwIfBug } from '../errors';
import { DEMO_VARIABLE } from '../platform/files/durable';
import { gitFolderAt } from '../platform/files/git-folder';
import { processHost } from '../platform/files/paths';
import { gitIn } from '../platform/process/git';
import type { Run } from '../platform/process/process';
import { plural } from '../platform/terminal/format';
import { daysOf, type Period } from '../platform/time/period';
import type { Day } from '../platform/time/time';
import type { WorkNames } from '../time/ledger/rows';
import { commitWork, type CommitWork } from './commit-work';
import { fatesOf, type Fate } from './git/fate';
import { refuseOddFiles } from './git/refs';
import type { ReadDeps } from './read';

const GIT_TIMEOUT_MS = 10_000;
const UNKNOWN: Fate = { kept: null, merged: null, reverted: null };

/**
 * Returns the commits from `oldest` or the period's start to its end, the time in their sessions, and notes about
 * what is unknown.
 */
export async function yieldCommits(
  deps: ReadDeps & { run: Run; issueOf: WorkNames['issue'] },
  period: Period,
  oldest: Day,
) {
  const notes: string[] = [];
  const { from, to, startMs } = period;
  const { commits, ...spans } = commitWork(deps, daysOf({ from: oldest < from ? oldest : from, to }));
  const missing = daysOf(period).filter((day) => deps.store.logBytes(day) === undefined).length;
  if (missing > 0)
    notes.push(
      `No event log, so the commits of ${plural(missing, 'day')} are unknown. \`steward up\` starts to record them; a session's branch and issue need hooks (\`steward install hooks\`).`,
    );
  const shown = commits.filter(({ ms }) => ms >= startMs);
  const fates = await readFates(deps, shown, notes);
  const known = commits.map((commit) => ({
    ...commit,
    fate: fates.get(commit.sha) ?? UNKNOWN,
    branch: commit.branch === null ? commit.repo : `${commit.repo}:${commit.branch}`,
    issue: deps.issueOf({ ...commit, assistant: null }) ?? 'no issue',
  }));
  return { ...spans, commits: known, isKnown: missing < daysOf(period).length, notes };
}

/** Asks git in each repository about its commits. Notes the repositories that can't be read. */
async function readFates({ run }: { run: Run }, commits: readonly CommitWork[], notes: string[]) {
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
