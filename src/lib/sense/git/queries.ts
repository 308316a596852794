import { StewardError } from '../../errors';
import type { Git } from '../../platform/process/git';

/** A commit from `git log`. Its fields are untrusted. */
export interface Commit {
  sha: string;
  parents: string[];
  /** The author's e-mail address as committed, without mailmap. */
  email: string;
  /** Author date in epoch seconds, as printed by git. Can be any text if the commit is damaged. */
  authored: string;
  /** Committer date in epoch seconds, or 0 if invalid. */
  committedSec: number;
  /** The first branch tip or HEAD that the commit is reachable from. */
  tip: string;
  subject: string;
}

/** The tips (HEADs first), their branch names, the damaged branches, and the commits of `earlier` that exist. */
export type Refs = Awaited<ReturnType<typeof readRefs>>;

/** Returns whether the value is a complete SHA-1 or SHA-256 commit id. */
export function isSha(value: unknown): value is string {
  return typeof value === 'string' && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(value);
}

/** Reads all local branches and HEADs, including detached HEADs and the HEADs of worktrees. */
export async function readRefs(git: Git, worktrees: readonly string[], earlier: readonly string[]) {
  const branches = await readBranches(git);
  const linked = worktrees.filter(isPlainName).map((name) => `worktrees/${name}/HEAD`);
  const heads = ['HEAD', 'main-worktree/HEAD', ...linked];
  const now = [...heads, ...branches.map(({ sha }) => sha)];
  const answers = await commitsAt(git, [...now, ...earlier]).catch((error: unknown) => {
    if (earlier.length === 0) throw error;
    // Git before 2.45 may fail on commits missing from a partial clone, so retry without the earlier tips.
    return commitsAt(git, now);
  });
  const first = now.length;
  const isPresent = (i: number): boolean => answers[heads.length + i] !== undefined;
  const intact = branches.filter((_, i) => isPresent(i));
  const headTips = answers.slice(0, heads.length).filter((sha) => sha !== undefined);
  return {
    tips: [...new Set([...headTips, ...intact.map(({ sha }) => sha)])],
    branchOf: new Map([...intact].reverse().map(({ sha, name }) => [sha, name])),
    damaged: branches.filter((_, i) => !isPresent(i)).map(({ name }) => name),
    present: new Set(earlier.filter((_, i) => answers[first + i] !== undefined)),
  };
}

/** Returns the branches sorted by name, with the checked-out branch first. */
async function readBranches(git: Git): Promise<{ sha: string; name: string }[]> {
  const listed = await git(['for-each-ref', '--format=%(objectname) %(refname) %(HEAD)', 'refs/heads']);
  const branches = listed.split('\n').flatMap((line) => {
    const [sha, ref = '', head] = line.split(' ');
    return isSha(sha) ? [{ sha, name: ref.replace(/^refs\/heads\//, ''), isHead: head === '*' }] : [];
  });
  return branches.sort((a, b) => Number(b.isHead) - Number(a.isHead));
}

async function commitsAt(git: Git, names: readonly string[]): Promise<(string | undefined)[]> {
  const answer = await git(['cat-file', '--batch-check=%(objectname) %(objecttype)'], {
    input: names.map((name) => `${name}\n`).join(''),
  });
  const lines = answer.split('\n');
  if (lines.length !== names.length + 1) throw invalidAnswer();
  return names.map((_, i) => {
    const [sha, type] = lines[i]?.split(' ') ?? [];
    return type === 'commit' && isSha(sha) ? sha : undefined;
  });
}

function isPlainName(name: string): boolean {
  return /^[\w.-]+$/.test(name) && !name.includes('..') && !name.endsWith('.lock');
}

export interface LogQuery {
  tips: readonly string[];
  /** Excludes all commits that are reachable from these commits. */
  not: readonly string[];
  limit: number;
  /** Excludes commits older than this time, in epoch seconds. */
  sinceSec?: number;
}

const FIELDS = 7;
const LOG = [
  ...'log -z --source --encoding=UTF-8 --no-mailmap --no-show-signature --no-notes'.split(' '),
  ...['--no-color', '--no-patch'],
  // Let git truncate long subjects, because steward stores only 200 characters.
  '--format=%H%x00%P%x00%ae%x00%at%x00%ct%x00%S%x00%<(240,trunc)%s',
];

export async function readLog(git: Git, { tips, not, limit, sinceSec }: LogQuery): Promise<Commit[]> {
  if (tips.length === 0) return [];
  const input = [...tips, ...not.map((sha) => `^${sha}`)].map((rev) => `${rev}\n`).join('');
  const since = sinceSec === undefined ? [] : [`--max-age=${sinceSec}`];
  return commitsIn(await git([...LOG, ...since, `--max-count=${limit}`, '--stdin'], { input }));
}

function commitsIn(text: string): Commit[] {
  const fields = text.split('\0');
  return Array.from({ length: Math.floor(fields.length / FIELDS) }, (_, i) => {
    const [sha, parents, email, authored = '', committed = '', tip, subject = ''] = fields.slice(
      i * FIELDS,
      (i + 1) * FIELDS,
    );
    if (!isSha(sha) || parents === undefined || email === undefined || tip === undefined)
      throw invalidAnswer();
    return {
      sha,
      parents: parents === '' ? [] : parents.split(' '),
      email,
      authored,
      committedSec: secondsOf(committed),
      tip,
      subject: subject.trimEnd(),
    };
  });
}

/** Returns the commits on HEAD and all branches since a given time, newest first, each with its branch. */
export async function readRecentLog(
  git: Git,
  { sinceSec, limit }: { sinceSec: number; limit: number },
  checkedOut: string | null,
): Promise<{ commit: Commit; branch: string | null }[]> {
  // Without `--ignore-missing`, git fails in a repository without commits, because HEAD can't be resolved.
  const since = ['--ignore-missing', `--max-age=${sinceSec}`, `--max-count=${limit}`];
  // git reports the first tip from which a commit is reachable, so the order of the tips matters.
  const tips = checkedOut === null ? ['--branches', 'HEAD'] : ['HEAD', '--branches'];
  const log = commitsIn(await git([...LOG, ...since, ...tips]));
  return log.map((commit) => {
    const branch = commit.tip === 'HEAD' ? checkedOut : commit.tip.replace(/^refs\/heads\//, '');
    return { commit, branch };
  });
}

/** The authors whose commits count: you (`user.email`), everyone, or a list of addresses. */
export type Authors = 'mine' | 'all' | readonly string[];

/**
 * Returns the addresses whose commits count, in lower case; undefined if everyone's do. `yours` are addresses of
 * yours that git doesn't name.
 */
export async function emailsOf(
  git: Git,
  { authors, yours = [] }: { authors: Authors; yours?: readonly string[] },
): Promise<string[] | undefined> {
  if (authors === 'all') return undefined;
  const emails = authors === 'mine' ? [...(await readOwnEmails(git)), ...yours] : authors;
  if (authors === 'mine' && emails.length === 0) return undefined;
  return [...new Set(emails.map((email) => email.toLowerCase()))];
}

/** Returns the configured author addresses (user.email, author.email) in lower case. */
async function readOwnEmails(git: Git): Promise<string[]> {
  const text = await git(['config', '-z', '--get-regexp', '^(user|author)\\.email$'], { accept: [1] });
  const emails = new Map<string, string>();
  for (const item of text.split('\0')) {
    const [key = '', ...value] = item.split('\n');
    if (value.length > 0) emails.set(key, value.join('\n').trim().toLowerCase());
  }
  return [...new Set(emails.values())].filter((email) => email !== '');
}

/** The end of the year 9999, in epoch seconds. Later dates would need more than four digits for the year. */
const MAX_SECONDS = 253_402_300_799;

function secondsOf(text: string): number {
  const seconds = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  return seconds <= MAX_SECONDS ? seconds : 0;
}

function invalidAnswer(): StewardError {
  return new StewardError('unavailable', 'Unexpected output from git.', {
    hint: 'Run "git fsck" in the repository.',
  });
}
