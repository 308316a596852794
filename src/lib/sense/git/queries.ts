import { StewardError } from '../../errors';
import type { Git } from '../../platform/process/git-process';
import { isSha } from './cursor';
import type { Commit } from './identity';

export interface Refs {
  /** Commits at HEADs and branches: HEADs first, each once. */
  tips: string[];
  /** The branch at a tip: the checked-out one, else the first by name. */
  branchOf: Map<string, string>;
  /** Branches whose commit is not there. */
  damaged: string[];
  /** Of `earlier`: those that are still in the repository. */
  present: Set<string>;
}

/** All local branches and HEADs (also detached, also of worktrees), read once. */
export async function readRefs(
  git: Git,
  worktrees: readonly string[],
  earlier: readonly string[],
): Promise<Refs> {
  const listed = await git(['for-each-ref', '--format=%(objectname) %(refname) %(HEAD)', 'refs/heads']);
  const branches: { sha: string; name: string }[] = [];
  for (const line of listed.split('\n')) {
    const [sha, ref, head] = line.split(' ');
    if (!isSha(sha) || ref === undefined) continue;
    const branch = { sha, name: ref.replace(/^refs\/heads\//, '') };
    if (head === '*') branches.unshift(branch);
    else branches.push(branch);
  }
  const heads = [
    'HEAD',
    'main-worktree/HEAD',
    ...worktrees.filter(isPlainName).map((n) => `worktrees/${n}/HEAD`),
  ];
  const now = [...heads, ...branches.map((branch) => branch.sha)];
  const answers = await commitsAt(git, [...now, ...earlier]).catch((error: unknown) => {
    if (earlier.length === 0) throw error;
    // In a partial clone, git before 2.45 tries to fetch a commit that is gone and can die of being refused.
    // Without the earlier tips the dates and identities decide; a trouble of another kind shows again here.
    return commitsAt(git, now);
  });
  const tips = new Set<string>();
  heads.forEach((_, i) => {
    const sha = answers[i];
    if (sha !== undefined) tips.add(sha);
  });
  const branchOf = new Map<string, string>();
  const damaged: string[] = [];
  branches.forEach(({ sha, name }, i) => {
    if (answers[heads.length + i] === undefined) {
      damaged.push(name);
      return;
    }
    tips.add(sha);
    if (!branchOf.has(sha)) branchOf.set(sha, name);
  });
  const first = heads.length + branches.length;
  const present = new Set(earlier.filter((_, i) => answers[first + i] !== undefined));
  return { tips: [...tips], branchOf, damaged, present };
}

/** The commit that each name stands for; undefined for one that is missing or no commit. */
async function commitsAt(git: Git, names: readonly string[]): Promise<(string | undefined)[]> {
  const answer = await git(['cat-file', '--batch-check=%(objectname) %(objecttype)'], {
    input: names.map((name) => `${name}\n`).join(''),
  });
  const lines = answer.split('\n');
  if (lines.length !== names.length + 1) throw garbled();
  return names.map((_, i) => {
    const [sha, type] = lines[i]?.split(' ') ?? [];
    return type === 'commit' && isSha(sha) ? sha : undefined;
  });
}

/** A worktree's administrative name as git makes it; anything else cannot be named to git. */
function isPlainName(name: string): boolean {
  return /^[\w.-]+$/.test(name) && !name.includes('..') && !name.endsWith('.lock');
}

export interface LogQuery {
  tips: readonly string[];
  /** What is reachable from these is left out. */
  not: readonly string[];
  limit: number;
  /** Only authors whose line contains this, case ignored (a first sieve, not the decision). */
  authorContains?: string;
}

const FIELDS = 7;
/** Wide enough for the 200 characters that are kept; a subject of megabytes is cut by git itself. */
const FORMAT = '--format=%H%x00%P%x00%ae%x00%at%x00%ct%x00%S%x00%<(240,trunc)%s';

/** Commits in the order of `git log`: newest first. */
export async function readLog(git: Git, query: LogQuery): Promise<Commit[]> {
  if (query.tips.length === 0) return [];
  const sieve = query.authorContains;
  const text = await git(
    [
      'log',
      '-z',
      '--stdin',
      '--source',
      '--encoding=UTF-8',
      '--no-mailmap',
      '--no-show-signature',
      '--no-notes',
      '--no-color',
      '--no-patch',
      `--max-count=${query.limit}`,
      ...(sieve === undefined ? [] : ['--fixed-strings', '--regexp-ignore-case', `--author=${sieve}`]),
      FORMAT,
    ],
    { input: [...query.tips, ...query.not.map((sha) => `^${sha}`)].map((rev) => `${rev}\n`).join('') },
  );
  const fields = text.split('\0');
  const count = Math.floor(fields.length / FIELDS);
  const commits: Commit[] = [];
  for (let i = 0; i < count; i += 1) {
    const [sha, parents, email, authored, committed, tip, subject] = fields.slice(
      i * FIELDS,
      (i + 1) * FIELDS,
    );
    if (!isSha(sha) || parents === undefined || email === undefined || tip === undefined) throw garbled();
    commits.push({
      sha,
      parents: parents === '' ? [] : parents.split(' '),
      email,
      authored: authored ?? '',
      committedSec: secondsOf(committed),
      tip,
      subject: (subject ?? '').trimEnd(),
    });
  }
  return commits;
}

/** The last value of each of the two keys that name a commit's author, in lower case. */
export async function readOwnEmails(git: Git): Promise<string[]> {
  const text = await git(['config', '-z', '--get-regexp', '^(user|author)\\.email$'], { accept: [1] });
  const found = new Map<string, string>();
  for (const item of text.split('\0')) {
    const end = item.indexOf('\n');
    if (end > 0)
      found.set(
        item.slice(0, end),
        item
          .slice(end + 1)
          .trim()
          .toLowerCase(),
      );
  }
  return [...new Set(found.values())].filter((email) => email !== '');
}

/** Years beyond 9999 have no ISO-8601 time; git writes nothing for a date that it cannot read. */
const MAX_SECONDS = 253_402_300_799;

function secondsOf(text: string | undefined): number {
  const seconds = text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : 0;
  return seconds <= MAX_SECONDS ? seconds : 0;
}

function garbled(): StewardError {
  return new StewardError('unavailable', 'git gave an answer that is not of its format', {
    hint: 'Run "git fsck" in it.',
  });
}
