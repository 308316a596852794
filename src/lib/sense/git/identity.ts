import { createHash } from 'node:crypto';

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
  /** Identities of commits that were counted. */
  seen: ReadonlySet<string>;
  /** Commits that no branch holds any more: the originals of amended and rebased ones. */
  lost: readonly Commit[];
  /** Commits that branches still hold. */
  held: readonly Commit[];
}

/** One commit is one (repository, author, author date) (decisions.md 3): rewriting keeps all three. */
export function identityOf(commit: Pick<Commit, 'sha' | 'email' | 'authored'>): string {
  const { sha, email, authored } = commit;
  const text = /^\d{1,15}$/.test(authored) ? `${email.toLowerCase()}\n${authored}` : sha;
  return createHash('sha256').update(text).digest('base64url').slice(0, 10);
}

/**
 * Those of the candidates that are new work, oldest first; `candidates` are in the order of `git log`.
 *
 * Git's dates have whole seconds, so commits that follow each other within one second share an identity.
 * They are told from rewritten ones by what a rewrite shows: a committer date later than the author date, an
 * original that its branch dropped, or (a pick onto another branch) the same subject without being its child.
 */
export function newWork(candidates: readonly Commit[], known: Known): Commit[] {
  const lost = new Map<string, number>();
  for (const commit of known.lost) {
    const identity = identityOf(commit);
    lost.set(identity, (lost.get(identity) ?? 0) + 1);
  }
  const held = new Map<string, Commit[]>();
  const hold = (identity: string, commit: Commit): void => {
    const others = held.get(identity);
    if (others === undefined) held.set(identity, [commit]);
    else others.push(commit);
  };
  for (const commit of known.held) hold(identityOf(commit), commit);

  const counted: Commit[] = [];
  for (const commit of oldestFirst(candidates)) {
    const identity = identityOf(commit);
    const gone = lost.get(identity) ?? 0;
    const others = held.get(identity) ?? [];
    hold(identity, commit);
    if (gone > 0) {
      lost.set(identity, gone - 1);
      continue;
    }
    const isNew =
      others.length === 0
        ? !known.seen.has(identity) && !lost.has(identity)
        : isAnotherOfItsSecond(commit, others);
    if (isNew) counted.push(commit);
  }
  return counted;
}

function isAnotherOfItsSecond(commit: Commit, others: readonly Commit[]): boolean {
  if (commit.authored !== String(commit.committedSec)) return false;
  if (others.some((other) => commit.parents.includes(other.sha))) return true;
  return others.every((other) => other.subject !== commit.subject);
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
