import type { Git } from '../../platform/process/git-process';
import type { Commit } from './identity';
import { isSha } from './queries';

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
