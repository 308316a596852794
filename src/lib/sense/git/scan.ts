import type { Git } from '../../platform/process/git';
import { authorSecondOf, newWork, type CountedCommit, type NewWork } from './identity';
import type { Commit } from './queries';
import { afterScan, newMemory, type RepositoryMemory } from './memory';
import { emailsOf, readLog, readRefs, type Authors, type Refs } from './queries';

export interface ScanInput {
  authors: Authors;
  yours?: readonly string[];
  nowMs: number;
  dayStartMs: number;
  worktrees: readonly string[];
  memory: RepositoryMemory;
  /** Set if the clock is behind; commits ahead of it then wait until it catches up. */
  isBehind?: boolean;
}

export interface Scan {
  commits: (CountedCommit & { branch: string | undefined })[];
  memory: RepositoryMemory;
  /** Describes the commits that could not be read. */
  damaged: string | undefined;
}

/** Maximum number of commits to read if the cache is incomplete. The newest commits are read. */
const FIRST_LIMIT = 5000;
/** Maximum number of commits to read if the cache is complete. */
const LIMIT = 20_000;
/** Maximum number of commits to search for the originals of rewritten and cherry-picked commits. */
const HISTORY_LIMIT = 3000;
/** Age limit for commits at the first capture. Older commits were probably pulled and don't count. */
const SLACK_MS = 2 * 86_400_000;
/**
 * How far a commit's date may be ahead of the clock. Commits with a later date are recorded at the time of
 * the scan.
 */
const MAX_AHEAD_MS = 86_400_000;

interface Context extends ScanInput {
  refs: Refs;
  /** Earlier tips that still exist. All commits reachable from these tips have been scanned. */
  done: string[];
  /** Whether the cache is incomplete. If so, dates and identities determine which commits are new. */
  isIncomplete: boolean;
}

/** Returns a repository's new commits. The first scan returns only the current day's commits. */
export async function scanRepository(git: Git, input: ScanInput): Promise<Scan> {
  const { memory, dayStartMs } = input;
  if (memory.dayStartMs <= dayStartMs) return scanWith(git, input);
  // The clock was set back to before the first capture. Until the clock catches up, count what is new since
  // then, and today's commits as in a first scan.
  const later = await scanWith(git, { ...input, memory: { ...memory, dayStartMs }, isBehind: true });
  const today = { ...newMemory(dayStartMs, memory.id, memory.path), seen: later.memory.seen };
  const scan = await scanWith(git, { ...input, memory: today });
  const { seen, floorMs, scannedMs, anyAuthor } = scan.memory;
  const commits = [...later.commits, ...scan.commits];
  return {
    ...scan,
    commits,
    memory: { ...memory, seen, floorMs, scannedMs, anyAuthor, timeouts: 0, cut: true },
  };
}

async function scanWith(git: Git, input: ScanInput): Promise<Scan> {
  const { memory } = input;
  const earlier = [...memory.tips, ...memory.former];
  const refs = await readRefs(git, input.worktrees, earlier);
  const done = earlier.filter((sha) => refs.present.has(sha));
  const isIncomplete = !memory.scanned || memory.cut || memory.tips.some((tip) => !done.includes(tip));
  const context: Context = { ...input, refs, done, isIncomplete };
  if (refs.tips.every((tip) => done.includes(tip))) return finish(context, [], []);

  const emails = await emailsOf(git, input);
  const limit = isIncomplete ? FIRST_LIMIT : LIMIT;
  const log = await readLog(git, { tips: refs.tips, not: done, limit });
  const own = log.filter((commit) => emails === undefined || emails.includes(commit.email.toLowerCase()));
  context.memory = { ...memory, anyAuthor: emails === undefined && input.authors === 'mine' };
  const { recent, older, remembered } = byAge(context, own);
  if (recent.length === 0) return finish(context, [], remembered);

  const lost = await readLog(git, { tips: done, not: refs.tips, limit: HISTORY_LIMIT });
  const unreachable = new Set(lost.map(({ sha }) => sha));
  const before = await readLog(git, { tips: done, not: [], limit: HISTORY_LIMIT });
  const { counted, rewritten } = await newWork(git, recent, {
    seen: memory.seen.map(([second]) => second),
    lost,
    held: [...older, ...before.filter(({ sha }) => !unreachable.has(sha))],
  });
  return finish(context, counted, [...remembered, ...rewritten, ...counted.map(({ commit }) => commit)]);
}

/** Splits the commits by age. Also returns the older commits whose identities must be stored. */
function byAge({ memory, nowMs, done, isIncomplete, isBehind = false }: Context, own: readonly Commit[]) {
  const slackMs = memory.dayStartMs - SLACK_MS;
  // In a new clone or a replaced repository, only commits since the last scan count.
  const replacedMs = memory.tips.length > 0 && done.length === 0 ? memory.scannedMs - SLACK_MS : 0;
  const fromMs = memory.scanned
    ? Math.max(slackMs, isIncomplete ? memory.floorMs + 1 : 0, replacedMs)
    : memory.dayStartMs;
  const isAhead = (commit: Commit): boolean => commit.committedSec * 1000 > nowMs + MAX_AHEAD_MS;
  const isRecent = (commit: Commit): boolean =>
    commit.committedSec * 1000 >= fromMs && ((memory.scanned && !isBehind) || !isAhead(commit));
  const older = own.filter((commit) => !isRecent(commit));
  const seen = new Set(memory.seen.map(([second]) => second));
  // Store the identities of yesterday's commits, so that these commits don't count as new if the stored tips
  // are lost.
  const isUnknown = (commit: Commit): boolean =>
    commit.committedSec * 1000 >= slackMs && !isAhead(commit) && !seen.has(authorSecondOf(commit));
  return { recent: own.filter(isRecent), older, remembered: memory.scanned ? [] : older.filter(isUnknown) };
}

function finish(
  { memory, refs, done, nowMs }: Context,
  counted: NewWork['counted'],
  remembered: readonly Commit[],
): Scan {
  const isPresent = (sha: string): boolean => done.includes(sha);
  const present = {
    ...memory,
    tips: memory.tips.filter(isPresent),
    former: memory.former.filter(isPresent),
  };
  const tips = [...refs.tips.filter((tip) => !isPresent(tip)), ...refs.tips.filter(isPresent)];
  const seen = remembered.map((commit): [string, number] => [
    authorSecondOf(commit),
    Math.floor(eventMs(commit, nowMs) / 1000),
  ]);
  return {
    commits: counted.map((item) => ({ ...item, branch: refs.branchOf.get(item.commit.tip) })),
    damaged: describeDamage(refs),
    memory: { ...memory, ...afterScan(present, tips, seen), scannedMs: nowMs, timeouts: 0 },
  };
}

/**
 * Returns the time of a commit's event: the committer date, or `nowMs` if that date is too far in the future.
 */
export function eventMs(commit: Commit, nowMs: number): number {
  const ms = commit.committedSec * 1000;
  return ms > nowMs + MAX_AHEAD_MS ? nowMs : ms;
}

function describeDamage({ damaged }: Refs): string | undefined {
  if (damaged.length === 0) return undefined;
  const more = damaged.length > 3 ? ' and more' : '';
  return `missing commit on branch ${damaged.slice(0, 3).join(', ')}${more} (run "git fsck" in the repository)`;
}
