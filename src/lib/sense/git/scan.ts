import type { Git } from '../../platform/process/git';
import { authorSecondOf, newWork, type Commit, type NewWork } from './identity';
import { afterScan, type RepositoryMemory } from './memory';
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
 * A commit that appears later is new work unless it is older than the first capture's day by more than this: a branch
 * merged late brings commits of yesterday, but a pull of last month's work from another machine is no activity of today.
 */
const SLACK_MS = 2 * 86_400_000;
/** A committer date further ahead than this is a wrong clock's: such a commit counts when it is seen. */
const MAX_AHEAD_MS = 86_400_000;

/** What a scan knows before it reads the log. */
interface Scene extends ScanInput {
  refs: Refs;
  /** Earlier tips that are still there: what is reachable from them has been looked at. */
  done: string[];
  /** The memory is incomplete: dates and identities decide. */
  holes: boolean;
}

/**
 * The new commits of a repository. The tips are read once and remembered as read, so a commit made meanwhile is found the
 * next time. A first scan takes the commits since the start of its day; a later one, what was not reachable before.
 */
export async function scanRepository(git: Git, input: ScanInput): Promise<Scan> {
  const { memory } = input;
  const earlier = [...memory.tips, ...memory.former];
  const refs = await readRefs(git, input.worktrees, earlier);
  const done = earlier.filter((sha) => refs.present.has(sha));
  const holes = !memory.scanned || memory.cut || memory.tips.some((tip) => !done.includes(tip));
  const scene: Scene = { ...input, refs, done, holes };
  if (refs.tips.every((tip) => done.includes(tip))) return finish(scene, [], []);

  const emails = await emailsOf(git, input.authors);
  const limit = holes ? FIRST_LOOK : MAX_NEW;
  const log = await readLog(git, { tips: refs.tips, not: done, limit });
  const own = log.filter((commit) => emails === undefined || emails.includes(commit.email.toLowerCase()));
  scene.memory = { ...memory, anyAuthor: emails === undefined && input.authors === 'mine' };
  const { recent, older, remembered } = byAge(scene, own);
  if (recent.length === 0) return finish(scene, [], remembered);

  const lost = await readLog(git, { tips: done, not: refs.tips, limit: HISTORY });
  const dropped = new Set(lost.map(({ sha }) => sha));
  const before = await readLog(git, { tips: done, not: [], limit: HISTORY });
  const { counted, rewritten } = await newWork(git, recent, {
    seen: memory.seen.map(([second]) => second),
    lost,
    held: [...older, ...before.filter(({ sha }) => !dropped.has(sha))],
  });
  return finish(scene, counted, [...remembered, ...rewritten, ...counted.map(({ commit }) => commit)]);
}

/** The commits that may be new work, the older ones, and those of them to be remembered. */
function byAge({ memory, nowMs, done, holes }: Scene, own: readonly Commit[]) {
  const slackMs = memory.dayStartMs - SLACK_MS;
  // Cloned anew, or another repository at its path: of its past only is known when it was last looked at.
  const replacedMs = memory.tips.length > 0 && done.length === 0 ? memory.scannedMs - SLACK_MS : 0;
  const from = memory.scanned
    ? Math.max(slackMs, holes ? memory.floorMs + 1 : 0, replacedMs)
    : memory.dayStartMs;
  const isAhead = (commit: Commit): boolean => commit.committedSec * 1000 > nowMs + MAX_AHEAD_MS;
  const isRecent = (commit: Commit): boolean =>
    commit.committedSec * 1000 >= from && (memory.scanned || !isAhead(commit));
  const older = own.filter((commit) => !isRecent(commit));
  // Yesterday's are remembered, too: after a loss of the tips they must not look new. Those that are ahead of a clock
  // which was set back are not: they count when it returns.
  const seen = new Set(memory.seen.map(([second]) => second));
  const isUnknown = (commit: Commit): boolean =>
    commit.committedSec * 1000 >= slackMs &&
    !(memory.later !== undefined && isAhead(commit)) &&
    !seen.has(authorSecondOf(commit));
  return { recent: own.filter(isRecent), older, remembered: memory.scanned ? [] : older.filter(isUnknown) };
}

function finish(
  { memory, refs, done, nowMs }: Scene,
  counted: NewWork['counted'],
  remembered: readonly Commit[],
): Scan {
  const isThere = (sha: string): boolean => done.includes(sha);
  const there = { ...memory, tips: memory.tips.filter(isThere), former: memory.former.filter(isThere) };
  const tips = [...refs.tips.filter((tip) => !isThere(tip)), ...refs.tips.filter(isThere)];
  const seen = remembered.map((commit): [string, number] => [
    authorSecondOf(commit),
    Math.floor(shownMs(commit, nowMs) / 1000),
  ]);
  return {
    commits: counted.map((item) => ({ ...item, branch: refs.branchOf.get(item.commit.tip) })),
    damaged: describeDamage(refs),
    memory: { ...memory, ...afterScan(there, tips, seen), scannedMs: nowMs, timeouts: 0 },
  };
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

function describeDamage({ damaged }: Refs): string | undefined {
  if (damaged.length === 0) return undefined;
  const more = damaged.length > 3 ? ' and more' : '';
  return `the commit of branch ${damaged.slice(0, 3).join(', ')}${more} is missing (run "git fsck" in it)`;
}
