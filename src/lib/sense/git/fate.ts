import type { Git } from '../../platform/process/git';
import { authorSecondOf } from './identity';
import { isSha, readLog, readRecentLog, type Commit } from './queries';

/**
 * The fate of a commit; null if it can't be read. `kept`: a local branch or the default branch contains it.
 * `merged`: the default branch does. `reverted`: a commit that is not itself reverted reverts it.
 */
export type Fate = Record<'kept' | 'merged' | 'reverted', boolean | null>;

/** Maximum number of commits to read in a repository. */
const LIMIT = 20_000;
/** Tolerated clock skew between a commit and those that follow it, in seconds. */
const SKEW_SEC = 86_400;

/** Returns the fates of commits, by their ids. A rebased or amended commit keeps its identity. */
export async function fatesOf(
  git: Git,
  commits: readonly { sha: string; change: string; ms: number }[],
): Promise<Map<string, Fate>> {
  const sinceSec = Math.floor(Math.min(...commits.map(({ ms }) => ms)) / 1000) - SKEW_SEC;
  const query = { sinceSec, limit: LIMIT };
  const tips = await defaultTips(git);
  const main = await readLog(git, { ...query, tips, not: [] });
  const local = (await readRecentLog(git, query, null)).map(({ commit }) => commit);
  const reverted = await revertedSince(git, sinceSec, tips);
  const isPartial = [main, local].some(({ length }) => length >= LIMIT);
  const onMain = shasIn(main);
  const onBranch = shasIn([...main, ...local]);
  return new Map(
    commits.map(({ sha, change }) => {
      const at = (known: ReturnType<typeof shasIn>): string | undefined =>
        known.get(sha) ?? known.get(change);
      const kept = at(onBranch) !== undefined || (isPartial ? null : false);
      const merged = at(onMain) !== undefined || (isPartial || tips.length === 0 ? null : false);
      const isReverted = [sha, at(onBranch) ?? sha].some((name) => reverted.has(name));
      return [sha, { kept, merged, reverted: isReverted || (isPartial ? null : false) }];
    }),
  );
}

/** Returns the ids of commits, by id and by author and second. */
function shasIn(commits: readonly Commit[]): Map<string, string> {
  return new Map(
    commits.flatMap((commit) => [commit.sha, authorSecondOf(commit)].map((key) => [key, commit.sha])),
  );
}

/** Returns the tips of the default branch, here and at the remote. */
async function defaultTips(git: Git): Promise<string[]> {
  const remote = 'refs/remotes/origin/';
  const head = (await git(['symbolic-ref', '-q', `${remote}HEAD`], { orEmpty: true })).trim();
  const names = head.startsWith(remote) ? [head.slice(remote.length)] : ['main', 'master'];
  const refs = names.flatMap((name) => [`refs/heads/${name}`, remote + name]);
  const listed = await git(['for-each-ref', '--format=%(objectname)', ...refs]);
  return listed.split('\n').filter(isSha);
}

/** Returns the commits that later ones revert, except those whose revert was itself reverted. */
async function revertedSince(git: Git, sinceSec: number, tips: readonly string[]): Promise<Set<string>> {
  const text = await git([
    ...'log -z --encoding=UTF-8 --no-show-signature --no-notes --no-color --no-patch'.split(' '),
    ...['--grep=^This reverts commit ', '--format=%H%x00%b', '--ignore-missing'],
    ...[`--max-age=${sinceSec}`, `--max-count=${LIMIT}`, '--topo-order', '--branches', 'HEAD', ...tips],
  ]);
  const reverted = new Set<string>();
  const fields = text.split('\0');
  // The newest come first, so what reverts a revert is read before it.
  for (let at = 0; at + 1 < fields.length; at += 2)
    if (!reverted.has(fields[at] ?? ''))
      for (const [, sha = ''] of (fields[at + 1] ?? '').matchAll(REVERTS)) reverted.add(sha);
  return reverted;
}

const REVERTS = /^This reverts commit ([0-9a-f]{40,64})\b/gm;
