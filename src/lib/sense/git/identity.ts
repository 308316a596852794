import type { Commit } from './queries';
import { createHash } from 'node:crypto';

import { throwIfBug } from '../../errors';
import type { Git } from '../../platform/process/git';
import { isSha } from './queries';

/** The commits that earlier scans found. */
export interface KnownCommits {
  /** One hash of the author and author date per counted change. */
  seen: readonly string[];
  /** Commits that are no longer reachable from a branch, such as the originals of rebased commits. */
  lost: readonly Commit[];
  /** Commits that are still reachable from a branch. */
  held: readonly Commit[];
}

export interface CountedCommit {
  commit: Commit;
  identity: string;
  /** Distinguishes the change from other machines' changes of the same author and second, if it could be read. */
  patch?: string;
}

export type NewWork = Awaited<ReturnType<typeof newWork>>;

/**
 * Returns a hash of the author and the author date, which a rewrite preserves. The hash may not be unique.
 */
export function authorSecondOf({ sha, email, authored }: Pick<Commit, 'sha' | 'email' | 'authored'>): string {
  const text = /^\d{1,15}$/.test(authored) ? `${email.toLowerCase()}\n${authored}` : sha;
  return createHash('sha256').update(text).digest('base64url').slice(0, 10);
}

/** Commits with the same author and author date. */
interface Second {
  key: string;
  fresh: Commit[];
  held: Commit[];
  lost: Commit[];
  seen: number;
}

/**
 * Returns the candidates that count as new work, oldest first. Rewrites and cherry-picks of counted commits
 * aren't counted again.
 */
export async function newWork(git: Git, candidates: readonly Commit[], known: KnownCommits) {
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
  const isSame = await comparePatches(git, [...seconds.values()].flatMap(ambiguous));
  const identities = new Map<Commit, string>();
  const rewritten = [...seconds.values()].flatMap((second) => identify(second, isSame, identities));
  const counted = ordered.flatMap((commit) => {
    const identity = identities.get(commit);
    return identity === undefined ? [] : [{ commit, identity }];
  });
  return { counted: await withPatches(git, counted), rewritten };
}

async function withPatches(git: Git, counted: readonly CountedCommit[]): Promise<CountedCommit[]> {
  const shas = counted.slice(-MAX_COMPARED).map(({ commit }) => commit.sha);
  const patches = await patchIds(git, shas).catch((error: unknown) => {
    // A patch that takes too long to read must not keep its commit from counting.
    if (throwIfBug(error).kind !== 'unavailable') throw error;
    return new Map<string, string>();
  });
  return counted.map((item) => {
    const { sha } = item.commit;
    const patch = patches.get(sha);
    return patch === undefined ? item : { ...item, patch: (patch || sha).slice(0, PATCH_LENGTH) };
  });
}

/**
 * Returns the commits whose patches must be compared. Commits in a linear history are distinct, so they
 * aren't compared.
 */
function ambiguous({ fresh, held, lost }: Second): Commit[] {
  if (lost.length > 0 && fresh.length > lost.length) return [...lost, ...held, ...fresh];
  return isChain([...held, ...fresh]) ? [] : [...held, ...fresh];
}

function isChain(commits: readonly Commit[]): boolean {
  const parents = new Set(commits.flatMap((commit) => commit.parents));
  return (
    commits.filter(({ sha }) => !parents.has(sha)).length <= 1 &&
    commits.every((commit) => commit.parents.length <= 1)
  );
}

/**
 * Assigns an identity to each new commit. Returns the rewritten commits whose originals were never counted.
 */
function identify({ key, fresh, held, lost, seen }: Second, isSame: IsSame, identities: Map<Commit, string>) {
  const changes: Commit[][] = [];
  const isNewChange = (commit: Commit): boolean => {
    const change = changes.find((commits) => isSame(commit, commits));
    if (change === undefined) changes.push([commit]);
    else change.push(commit);
    return change === undefined;
  };
  for (const commit of held) isNewChange(commit);
  // Number of counted changes that are no longer reachable from a branch. New commits may be rewrites of
  // these changes.
  const lostCount = seen > 0 ? Math.max(0, seen - changes.length) : lost.length;
  let number = seen > 0 ? Math.max(seen, changes.length) : changes.length + lostCount;
  const changed = fresh.filter(isNewChange);
  const originals = [...lost];
  const copies = changed.filter((commit) => {
    const index = originals.findIndex((original) => isSame(commit, [original]));
    if (index >= 0) originals.splice(index, 1);
    return index >= 0;
  });
  // Treat up to `lostCount` commits as rewritten. Prefer commits with the same patch as a lost commit, then
  // the oldest commits.
  const rewritten = [...new Set([...copies, ...changed])].slice(0, lostCount);
  for (const commit of changed) {
    if (rewritten.includes(commit)) continue;
    number += 1;
    identities.set(commit, number === 1 ? key : `${key}.${number}`);
  }
  return seen === 0 ? rewritten : [];
}

/**
 * Sorts by committer date. Within the same second, parents come before children (`git log` doesn't guarantee
 * this).
 */
function oldestFirst(candidates: readonly Commit[]): Commit[] {
  const sorted = [...candidates].reverse().sort((a, b) => a.committedSec - b.committedSec);
  const bySha = new Map(sorted.map((commit) => [commit.sha, commit]));
  const ordered = new Set<Commit>();
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

/** Returns whether a commit makes the same change as other commits, for example after a cherry-pick. */
type IsSame = (commit: Commit, change: readonly Commit[]) => boolean;

/** Maximum number of commits to compare in a scan, newest first. Older commits count as separate changes. */
const MAX_COMPARED = 3000;
/** Maximum number of commits to read when checking ancestry. */
const MAX_ANCESTRY = 20_000;
const PATCH_LENGTH = 16;
/** Tolerated clock skew between a commit and its ancestors, in seconds. */
const SKEW_SEC = 86_400;
/** Number of patches to read per git call, and maximum number of calls per scan. */
const BATCH = 64;
const MAX_READS = 100;

/** Returns a function that compares commits by patch id. Commits without a patch id never match. */
async function comparePatches(git: Git, commits: readonly Commit[]): Promise<IsSame> {
  const shas = commits.slice(-MAX_COMPARED).map(({ sha }) => sha);
  const patches = await patchIds(git, shas);
  for (const [sha, id] of patches) if (id === '') patches.delete(sha);
  const uses = new Map<string, number>();
  for (const id of patches.values()) uses.set(id, (uses.get(id) ?? 0) + 1);
  const isShared = ({ sha }: Commit): boolean => (uses.get(patches.get(sha) ?? '') ?? 0) > 1;
  const isRelated = await readAncestry(git, commits.filter(isShared));
  return (commit, change) => {
    const id = patches.get(commit.sha);
    if (id === undefined || !change.some(({ sha }) => patches.get(sha) === id)) return false;
    return change.every(({ sha }) => !isRelated(sha, commit.sha));
  };
}

/**
 * `--always` prints every commit, so empty output means failure. The other flags override the repository's
 * configuration.
 */
const DIFF_TREE = (
  'diff-tree --stdin -p -r --root --always --full-index --unified=3 --no-renames --diff-algorithm=myers ' +
  '--no-ext-diff --no-textconv --no-color --submodule=short --src-prefix=a/ --dst-prefix=b/'
).split(' ');

/**
 * Returns the patch ids by commit. The id is empty for a commit without changes to files, such as a merge. Omits
 * unreadable commits, such as missing objects in a partial clone.
 */
async function patchIds(git: Git, shas: readonly string[]): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  const queue: string[][] = [];
  for (let i = 0; i < shas.length; i += BATCH) queue.push(shas.slice(i, i + BATCH));
  for (let reads = 0; reads < MAX_READS; reads += 1) {
    const batch = queue.pop();
    if (batch === undefined) break;
    const patches = await git(DIFF_TREE, { input: asLines(batch), orEmpty: true });
    if (patches === '') {
      // A commit made the batch fail, so split the batch in half repeatedly to isolate that commit.
      const half = Math.ceil(batch.length / 2);
      if (batch.length > 1) queue.push(batch.slice(half), batch.slice(0, half));
      continue;
    }
    for (const sha of batch) ids.set(sha, '');
    const answer = await git(['patch-id', '--stable'], { input: patches });
    for (const line of answer.split('\n')) {
      const [id, sha] = line.split(' ');
      if (isSha(id) && isSha(sha)) ids.set(sha, id);
    }
  }
  return ids;
}

/**
 * Returns a predicate that is true if one commit is an ancestor of the other, or if the ancestry is unknown.
 */
async function readAncestry(
  git: Git,
  commits: readonly Commit[],
): Promise<(a: string, b: string) => boolean> {
  if (commits.length === 0) return () => true;
  const oldest = Math.min(...commits.map(({ committedSec }) => committedSec));
  const since = `--max-age=${Math.max(0, oldest - SKEW_SEC)}`;
  const answer = await git(
    ['rev-list', '--parents', '--topo-order', since, `--max-count=${MAX_ANCESTRY}`, '--stdin'],
    { input: asLines(commits.map(({ sha }) => sha)) },
  );
  const rows = answer.split('\n').map((line) => line.split(' '));
  const places = new Map(rows.map(([sha], place) => [sha, place]));
  return (a, b) => {
    const [from, to] = [places.get(a), places.get(b)].sort((x, y) => (x ?? 0) - (y ?? 0));
    if (from === undefined || to === undefined) return true;
    const queue = [from];
    const entered = new Set(queue);
    for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
      if (at === to) return true;
      for (const parent of rows[at]?.slice(1) ?? []) {
        const place = places.get(parent);
        if (place === undefined || place > to || entered.has(place)) continue;
        entered.add(place);
        queue.push(place);
      }
    }
    return false;
  };
}

function asLines(shas: readonly string[]): string {
  return shas.map((sha) => `${sha}\n`).join('');
}
