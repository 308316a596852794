import { createHash } from 'node:crypto';

import type { Git } from '../../platform/process/git';
import { isSha } from './queries';

/** A commit as `git log` told it; nothing in it is trusted. */
export interface Commit {
  sha: string;
  parents: string[];
  /** The author's address as committed, no mailmap. */
  email: string;
  /** Author date, seconds since the epoch, as git writes it; empty or anything when the commit is damaged. */
  authored: string;
  /** Committer date, seconds since the epoch; 0 when the commit has none that makes sense. */
  committedSec: number;
  /** The scanned tip from which it was first reached. */
  tip: string;
  subject: string;
}

/** What of the repository has been looked at before. */
export interface Known {
  /** Author seconds of the changes that were counted, once for each change. */
  seen: readonly string[];
  /** Commits that no branch holds any more: the originals of amended and rebased ones. */
  lost: readonly Commit[];
  /** Commits that branches still hold. */
  held: readonly Commit[];
}

export interface NewWork {
  counted: { commit: Commit; identity: string }[];
  /** Rewritten commits whose originals were not counted: from now on they are known. */
  rewritten: Commit[];
}

/** The author and the second of a commit. Rewriting keeps both; commits that follow each other fast share them. */
export function authorSecondOf(commit: Pick<Commit, 'sha' | 'email' | 'authored'>): string {
  const { sha, email, authored } = commit;
  const text = /^\d{1,15}$/.test(authored) ? `${email.toLowerCase()}\n${authored}` : sha;
  return createHash('sha256').update(text).digest('base64url').slice(0, 10);
}

/**
 * Those of the candidates that are new work, oldest first; `candidates` are in the order of `git log`.
 *
 * Two commits of one author second are one change only if the older is unreachable (amended, rebased) or both
 * have one patch id (picked). An ancestor is always another change.
 */
export async function newWork(git: Git, candidates: readonly Commit[], known: Known): Promise<NewWork> {
  const ordered = oldestFirst(candidates);
  const seconds = new Map<string, Second>();
  for (const commit of ordered) {
    const key = authorSecondOf(commit);
    const second = seconds.get(key) ?? { key, fresh: [], held: [], lost: [], seen: 0 };
    second.fresh.push(commit);
    seconds.set(key, second);
  }
  for (const commit of known.held) seconds.get(authorSecondOf(commit))?.held.push(commit);
  for (const commit of known.lost) seconds.get(authorSecondOf(commit))?.lost.push(commit);
  for (const key of known.seen) {
    const second = seconds.get(key);
    if (second !== undefined) second.seen += 1;
  }
  const isSame = await picksAmong(git, [...seconds.values()].flatMap(unclear));
  const identities = new Map<Commit, string>();
  const rewritten = [...seconds.values()].flatMap((second) => settle(second, isSame, identities));
  const counted = ordered.flatMap((commit) => {
    const identity = identities.get(commit);
    return identity === undefined ? [] : [{ commit, identity }];
  });
  return { counted, rewritten };
}

/** The commits of one author second. */
interface Second {
  key: string;
  fresh: Commit[];
  held: Commit[];
  lost: Commit[];
  /** Changes of it that were counted. */
  seen: number;
}

/** The commits of a second that only their patches tell apart; none for the usual burst of commits. */
function unclear({ fresh, held, lost }: Second): Commit[] {
  const isBurst = isChain([...held, ...fresh]);
  // With more new commits than lost ones, some are copies of those and some are new work.
  const isMixed = lost.length > 0 && fresh.length > lost.length;
  return isMixed ? [...lost, ...held, ...fresh] : isBurst ? [] : [...held, ...fresh];
}

/** Does each commit follow the one before? */
function isChain(commits: readonly Commit[]): boolean {
  const parents = new Set(commits.flatMap((commit) => commit.parents));
  return (
    commits.filter(({ sha }) => !parents.has(sha)).length <= 1 &&
    commits.every(({ parents: of }) => of.length <= 1)
  );
}

/** Gives the new work of a second its identities; the rest that is new are rewritten commits, given back if unknown. */
function settle(
  { key, fresh, held, lost, seen }: Second,
  isSame: IsSame,
  identities: Map<Commit, string>,
): Commit[] {
  const changes: Commit[][] = [];
  const isOther = (commit: Commit): boolean => {
    const change = changes.find((commits) => isSame(commit, commits));
    if (change === undefined) changes.push([commit]);
    else change.push(commit);
    return change === undefined;
  };
  for (const commit of held) isOther(commit);
  // Changes that were counted and are held by no branch: each may have come back as a rewritten commit.
  const gone = seen > 0 ? Math.max(0, seen - changes.length) : lost.length;
  let number = seen > 0 ? Math.max(seen, changes.length) : changes.length + gone;
  const others = fresh.filter(isOther);
  const originals = [...lost];
  const copies = others.filter((commit) => {
    const index = originals.findIndex((original) => isSame(commit, [original]));
    if (index >= 0) originals.splice(index, 1);
    return index >= 0;
  });
  // Those that have the patch of a lost commit first; then, as amending changes it, the oldest.
  const rewritten = [...new Set([...copies, ...others])].slice(0, gone);
  for (const commit of others) {
    if (rewritten.includes(commit)) continue;
    number += 1;
    identities.set(commit, number === 1 ? key : `${key}.${number}`);
  }
  return seen === 0 ? rewritten : [];
}

/** By committer date; of one second, parents first: `git log` may give such a parent before its child. */
function oldestFirst(candidates: readonly Commit[]): Commit[] {
  const sorted = [...candidates].reverse().sort((a, b) => a.committedSec - b.committedSec);
  const bySha = new Map(sorted.map((commit) => [commit.sha, commit]));
  const ordered = new Set<Commit>();
  // So that a circle of parents, which only a forged commit-graph can show, ends.
  const entered = new Set<string>();
  for (const start of sorted) {
    const path = [start];
    for (let at = path.at(-1); at !== undefined; at = path.at(-1)) {
      const { committedSec, parents } = at;
      entered.add(at.sha);
      const before = parents
        .map((sha) => (entered.has(sha) ? undefined : bySha.get(sha)))
        .find((parent) => parent?.committedSec === committedSec);
      if (before === undefined) ordered.add(at);
      if (before === undefined) path.pop();
      else path.push(before);
    }
  }
  return [...ordered];
}

/** Is a commit the same change as all of these? Only if it was picked from one of them, or one of them from it. */
export type IsSame = (commit: Commit, change: readonly Commit[]) => boolean;

/** Commits that are compared in one scan, the newest; each older one is a change of its own. */
const MAX_COMPARED = 3000;
/** Commits whose ancestry is read to compare them. */
const MAX_ANCESTRY = 20_000;
/** A clock that was wrong may date an ancestor later than its child, by no more than this. */
const SKEW_SEC = 86_400;
/** Commits whose changes are read at once. */
const AT_ONCE = 64;
/** Reads of changes in one scan. */
const MAX_READS = 100;

/** Compares commits by their patch ids; without one (empty, a merge, too large) a commit is like no other. */
export async function picksAmong(git: Git, commits: readonly Commit[]): Promise<IsSame> {
  const shas = commits.slice(-MAX_COMPARED).map(({ sha }) => sha);
  const patches = await patchIds(git, shas);
  const uses = new Map<string, number>();
  for (const id of patches.values()) uses.set(id, (uses.get(id) ?? 0) + 1);
  const isAlike = ({ sha }: Commit): boolean => (uses.get(patches.get(sha) ?? '') ?? 0) > 1;
  const isRelated = await relations(git, commits.filter(isAlike));
  return (commit, change) => {
    const id = patches.get(commit.sha);
    if (id === undefined || !change.some(({ sha }) => patches.get(sha) === id)) return false;
    return change.every(({ sha }) => !isRelated(sha, commit.sha));
  };
}

/** `--always`: an answer that is empty is a failure. Nothing that a repository configures runs or decides. */
const DIFF_TREE = [
  ...[
    'diff-tree',
    '--stdin',
    '-p',
    '-r',
    '--root',
    '--always',
    '--full-index',
    '--unified=3',
    '--no-renames',
  ],
  ...['--diff-algorithm=myers', '--no-ext-diff', '--no-textconv', '--no-color', '--submodule=short'],
  ...['--src-prefix=a/', '--dst-prefix=b/'],
];

/** The patch ids of commits. One that cannot be read (a partial clone lacks files) has none. */
async function patchIds(git: Git, shas: readonly string[]): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  const queue: string[][] = [];
  for (let i = 0; i < shas.length; i += AT_ONCE) queue.push(shas.slice(i, i + AT_ONCE));
  for (let reads = 0; reads < MAX_READS; reads += 1) {
    const batch = queue.pop();
    if (batch === undefined) break;
    const changes = await git(DIFF_TREE, { input: asLines(batch), orEmpty: true });
    if (changes === '') {
      const half = Math.ceil(batch.length / 2);
      if (batch.length > 1) queue.push(batch.slice(half), batch.slice(0, half));
      continue;
    }
    const answer = await git(['patch-id', '--stable'], { input: changes });
    for (const line of answer.split('\n')) {
      const [id, sha] = line.split(' ');
      if (isSha(id) && isSha(sha)) ids.set(sha, id);
    }
  }
  return ids;
}

/** Whether one of two commits is an ancestor of the other; true of all that are not known, too. */
async function relations(git: Git, commits: readonly Commit[]): Promise<(a: string, b: string) => boolean> {
  if (commits.length === 0) return () => true;
  const oldest = Math.min(...commits.map(({ committedSec }) => committedSec));
  const since = `--max-age=${Math.max(0, oldest - SKEW_SEC)}`;
  const answer = await git(
    ['rev-list', '--parents', '--topo-order', since, `--max-count=${MAX_ANCESTRY}`, '--stdin'],
    { input: asLines(commits.map(({ sha }) => sha)) },
  );
  const rows = answer.split('\n').map((line) => line.split(' '));
  const places = new Map(rows.map(([sha], place) => [sha, place]));
  // Children come before their parents, so what lies beyond the older of the two leads to neither.
  return (a, b) => {
    const [from, to] = [places.get(a), places.get(b)].sort((x, y) => (x ?? 0) - (y ?? 0));
    if (from === undefined || to === undefined) return true;
    const open = [from];
    const entered = new Set(open);
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (at === to) return true;
      for (const parent of rows[at]?.slice(1) ?? []) {
        const place = places.get(parent);
        if (place === undefined || place > to || entered.has(place)) continue;
        entered.add(place);
        open.push(place);
      }
    }
    return false;
  };
}

function asLines(shas: readonly string[]): string {
  return shas.map((sha) => `${sha}\n`).join('');
}
