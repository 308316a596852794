import type { Git } from '../../platform/process/git-process';
import { afterScan, type RepositoryMemory } from './cursor';
import { authorSecondOf, newWork, type Commit, type NewWork } from './identity';
import { readLog, readOwnEmails, readRefs, type Refs } from './queries';

/** Whose commits count: those of the repository's own `user.email`, everybody's, or those of these addresses. */
export type Authors = 'mine' | 'all' | readonly string[];

export interface ScanInput {
  authors: Authors;
  nowMs: number;
  worktrees: readonly string[];
  memory: RepositoryMemory;
}

export interface Scan {
  commits: { commit: Commit; identity: string; branch: string | undefined }[];
  memory: RepositoryMemory;
  /** What of the repository could not be read, in words. */
  damaged: string | undefined;
}

/** Commits that are looked at when there is no complete memory to start from, newest first. */
const FIRST_LOOK = 5000;
/** Commits taken at once after that. */
const MAX_NEW = 20_000;
/** How far back the originals of rewritten and picked commits are looked for. */
const HISTORY = 3000;
/**
 * A commit that appears later is new work unless it is older than the first capture's day by more than this:
 * a clock that was wrong or a branch that was merged late brings commits of yesterday, but a pull of last
 * month's work from another machine is no activity of today.
 */
const SLACK_MS = 2 * 86_400_000;
/** A committer date further ahead than this is a wrong clock's: such a commit counts when it is seen. */
const MAX_AHEAD_MS = 86_400_000;

/**
 * The new commits of a repository. The tips are read once, and what is remembered are those
 * very tips, so a commit made meanwhile is found the next time. A first scan takes the commits since the
 * start of its day. A later one takes whatever is reachable now and was not; where the memory has holes
 * (a remembered tip was collected as garbage, or there were too many), dates and identities decide.
 */
export async function scanRepository(git: Git, input: ScanInput): Promise<Scan> {
  const { memory, nowMs } = input;
  const earlier = [...memory.tips, ...memory.former];
  const refs = await readRefs(git, input.worktrees, earlier);
  const done = earlier.filter((sha) => refs.present.has(sha));
  const looked = new Set(done);
  const isThere = (sha: string): boolean => looked.has(sha);
  const holes = !memory.scanned || memory.cut || memory.tips.some((tip) => !looked.has(tip));
  const tips = [
    ...refs.tips.filter((tip) => !looked.has(tip)),
    ...refs.tips.filter((tip) => looked.has(tip)),
  ];
  const damaged = describeDamage(refs);
  let anyAuthor = memory.anyAuthor;
  const finish = (counted: NewWork['counted'], remembered: readonly Commit[]): Scan => ({
    commits: counted.map((item) => ({ ...item, branch: refs.branchOf.get(item.commit.tip) })),
    damaged,
    memory: {
      ...memory,
      ...afterScan(
        { ...memory, tips: memory.tips.filter(isThere), former: memory.former.filter(isThere) },
        {
          tips,
          counted: remembered.map((commit) => [
            authorSecondOf(commit),
            Math.floor(shownMs(commit, nowMs) / 1000),
          ]),
        },
      ),
      scannedMs: nowMs,
      anyAuthor,
      timeouts: 0,
    },
  });
  if (refs.tips.every((tip) => looked.has(tip))) return finish([], []);

  const emails = await emailsOf(git, input.authors);
  anyAuthor = emails === undefined && input.authors === 'mine';
  const sieve = holes || emails === undefined || emails.length !== 1 ? undefined : sieveOf(emails[0]);
  const log = await readLog(git, {
    tips: refs.tips,
    not: done,
    limit: holes ? FIRST_LOOK : MAX_NEW,
    ...(sieve === undefined ? {} : { authorContains: sieve }),
  });
  const own = log.filter((commit) => emails === undefined || emails.includes(commit.email.toLowerCase()));

  const slackMs = memory.dayStartMs - SLACK_MS;
  // Cloned anew, or another repository at its path: of its past only is known when it was last looked at.
  const replaced = memory.tips.length > 0 && done.length === 0;
  const from = memory.scanned
    ? Math.max(slackMs, holes ? memory.floorMs + 1 : 0, replaced ? memory.scannedMs - SLACK_MS : 0)
    : memory.dayStartMs;
  const isAhead = (commit: Commit): boolean => commit.committedSec * 1000 > nowMs + MAX_AHEAD_MS;
  const isRecent = (commit: Commit): boolean =>
    commit.committedSec * 1000 >= from && (memory.scanned || !isAhead(commit));
  const recent = own.filter(isRecent);
  const older = own.filter((commit) => !isRecent(commit));
  // Yesterday's are remembered, too: after a loss of the tips they must not look new. Those that are ahead of a clock
  // which was set back are not: they count when it returns.
  const seen = memory.seen.map(([second]) => second);
  const isUnknown = (commit: Commit): boolean =>
    commit.committedSec * 1000 >= slackMs &&
    !(memory.later !== undefined && isAhead(commit)) &&
    !seen.includes(authorSecondOf(commit));
  const remembered = memory.scanned ? [] : older.filter(isUnknown);
  if (recent.length === 0) return finish([], remembered);

  const lost = await readLog(git, { tips: done, not: refs.tips, limit: HISTORY });
  const dropped = new Set(lost.map((commit) => commit.sha));
  const before = await readLog(git, { tips: done, not: [], limit: HISTORY });
  const { counted, rewritten } = await newWork(git, recent, {
    seen,
    lost,
    held: [...older, ...before.filter((commit) => !dropped.has(commit.sha))],
  });
  return finish(counted, [...remembered, ...rewritten, ...counted.map(({ commit }) => commit)]);
}

/** The time that a commit is filed under, ms: its committer date, or now when that is far ahead. */
export function shownMs(commit: Commit, nowMs: number): number {
  const ms = commit.committedSec * 1000;
  return ms > nowMs + MAX_AHEAD_MS ? nowMs : ms;
}

/** Lower-case addresses, or undefined when everybody counts. */
async function emailsOf(git: Git, authors: Authors): Promise<string[] | undefined> {
  if (authors === 'all') return undefined;
  if (authors !== 'mine') return authors.map((email) => email.toLowerCase());
  const own = await readOwnEmails(git);
  return own.length === 0 ? undefined : own;
}

/** Git folds the case of ASCII letters only. */
function sieveOf(email: string | undefined): string | undefined {
  return email !== undefined && /^[\x21-\x7e]+$/.test(email) ? email : undefined;
}

function describeDamage(refs: Refs): string | undefined {
  if (refs.damaged.length === 0) return undefined;
  const more = refs.damaged.length > 3 ? ' and more' : '';
  return `the commit of branch ${refs.damaged.slice(0, 3).join(', ')}${more} is missing (run "git fsck" in it)`;
}
