import type { CommitFacts, DayFacts, ReportCommit } from './model';

export interface Commits {
  count: number;
  /** Those whose raw log is kept, the oldest first. */
  items: ReportCommit[];
  /** Commits by the name of their repository. */
  repos: Map<string, number>;
  /** Commits of days whose raw log is discarded: their subjects are gone. */
  unnamed: number;
}

/** The commits of some days, of one repository where it is named. A change that was captured on two days counts once. */
export function commitsOf(days: readonly DayFacts[], repo: string | undefined): Commits {
  const isWanted = (name: string): boolean => isRepo(name, repo);
  const found = new Map<string, CommitFacts>();
  for (const commit of days.flatMap((day) => day.raw?.commits ?? [])) {
    if (!isWanted(commit.repo)) continue;
    const key = JSON.stringify([commit.path || commit.repo, commit.change]);
    const known = found.get(key);
    if (known === undefined || order(commit, known) < 0) found.set(key, commit);
  }
  const kept = [...found.values()].sort(order);
  const nameOf = namesOf(kept);
  const items = kept.map((commit) => ({
    repo: nameOf(commit),
    sha: commit.sha,
    subject: commit.subject,
    at: commit.at,
  }));
  const repos = new Map<string, number>();
  const count = (name: string, more: number): void => {
    repos.set(name, (repos.get(name) ?? 0) + more);
  };
  for (const item of items) count(item.repo, 1);
  let unnamed = 0;
  for (const row of days.filter(({ raw }) => raw === undefined).flatMap((day) => day.commits)) {
    if (!isWanted(row.repo)) continue;
    count(row.repo, row.commits);
    unnamed += row.commits;
  }
  return { count: items.length + unnamed, items, repos, unnamed };
}

/** Is this the repository that is asked for? Without case, by the name of its folder; any when none is asked for. */
export function isRepo(name: string | null, wanted: string | undefined): boolean {
  if (wanted === undefined) return true;
  const own = name?.toLowerCase();
  return own === wanted.toLowerCase() || own?.endsWith(`/${wanted.toLowerCase()}`) === true;
}

/** The name of a folder; with the folder above where two repositories have the same. */
function namesOf(commits: readonly CommitFacts[]): (commit: CommitFacts) => string {
  const paths = new Map<string, Set<string>>();
  for (const { repo, path } of commits) paths.set(repo, (paths.get(repo) ?? new Set()).add(path));
  return ({ repo, path }) => {
    if ((paths.get(repo)?.size ?? 0) < 2 || path === '') return repo;
    return path
      .split(/[\\/]+/)
      .filter((part) => part !== '')
      .slice(-2)
      .join('/');
  };
}

function order(a: CommitFacts, b: CommitFacts): number {
  const [x, y] = [a, b].map(({ at, sha, repo, path }) => `${at}\n${sha}\n${repo}\n${path}`) as [
    string,
    string,
  ];
  return x < y ? -1 : x > y ? 1 : 0;
}
