import { createHash } from 'node:crypto';

import type { Git } from '../../platform/process/git-process';
import { picksAmong, type IsSame } from './picks';

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
  for (const commit of ordered) secondOf(seconds, commit).fresh.push(commit);
  for (const commit of known.held) seconds.get(authorSecondOf(commit))?.held.push(commit);
  for (const commit of known.lost) {
    const second = seconds.get(authorSecondOf(commit));
    if (second !== undefined) second.lost += 1;
  }
  for (const key of known.seen) {
    const second = seconds.get(key);
    if (second !== undefined) second.seen += 1;
  }
  const unclear = [...seconds.values()].flatMap(({ held, fresh }) => {
    const all = [...held, ...fresh];
    return isChain(all) ? [] : all;
  });
  const isSame = await picksAmong(git, unclear);
  const identities = new Map<Commit, string>();
  const rewritten: Commit[] = [];
  for (const [key, second] of seconds) settle(key, second, isSame, identities, rewritten);
  const counted = ordered.flatMap((commit) => {
    const identity = identities.get(commit);
    return identity === undefined ? [] : [{ commit, identity }];
  });
  return { counted, rewritten };
}

/** The commits of one author second. */
interface Second {
  fresh: Commit[];
  held: Commit[];
  lost: number;
  seen: number;
}

function secondOf(seconds: Map<string, Second>, commit: Commit): Second {
  const key = authorSecondOf(commit);
  const known = seconds.get(key);
  if (known !== undefined) return known;
  const second: Second = { fresh: [], held: [], lost: 0, seen: 0 };
  seconds.set(key, second);
  return second;
}

/** Does each commit follow the one before? The usual burst of commits; git need not be asked about it. */
function isChain(commits: readonly Commit[]): boolean {
  const parents = new Set(commits.flatMap((commit) => commit.parents));
  return (
    commits.filter(({ sha }) => !parents.has(sha)).length <= 1 &&
    commits.every(({ parents: of }) => of.length <= 1)
  );
}

function settle(
  key: string,
  { fresh, held, lost, seen }: Second,
  isSame: IsSame,
  identities: Map<Commit, string>,
  rewritten: Commit[],
): void {
  const changes: Commit[][] = [];
  const isKnown = (commit: Commit): boolean => {
    const change = changes.find((commits) => isSame(commit, commits));
    if (change === undefined) changes.push([commit]);
    else change.push(commit);
    return change !== undefined;
  };
  for (const commit of held) isKnown(commit);
  // Changes that were counted and are held by no branch: each may have come back as a rewritten commit.
  let gone = seen > 0 ? Math.max(0, seen - changes.length) : lost;
  let number = seen > 0 ? Math.max(seen, changes.length) : changes.length + lost;
  for (const commit of fresh) {
    if (isKnown(commit)) continue;
    if (gone > 0) {
      gone -= 1;
      if (seen === 0) rewritten.push(commit);
      continue;
    }
    number += 1;
    identities.set(commit, number === 1 ? key : `${key}.${number}`);
  }
}

/** By committer date; of one second, parents first: `git log` may give such a parent before its child. */
function oldestFirst(commits: readonly Commit[]): Commit[] {
  const sorted = [...commits].reverse().sort((a, b) => a.committedSec - b.committedSec);
  const bySha = new Map(sorted.map((commit) => [commit.sha, commit]));
  const ordered = new Set<Commit>();
  // So that a circle of parents, which only a forged commit-graph can show, ends.
  const entered = new Set<string>();
  for (const start of sorted) {
    const path = [start];
    for (let at = path[0]; at !== undefined; at = path[path.length - 1]) {
      const { committedSec } = at;
      entered.add(at.sha);
      const before = at.parents
        .filter((sha) => !entered.has(sha))
        .map((sha) => bySha.get(sha))
        .find((parent) => parent?.committedSec === committedSec);
      if (before !== undefined) path.push(before);
      else {
        ordered.add(at);
        path.pop();
      }
    }
  }
  return [...ordered];
}
