import { basename, resolve, sep } from 'node:path';

import { unless } from '../errors';
import { exists } from '../platform/files/folder';
import { checkoutOf, gitFolderAt, repositoryOf } from '../platform/files/git-folder';
import { textOf } from '../platform/files/json-object';
import { realPath } from '../platform/files/stat';
import type { SenseEvent } from '../time/event';
import { repositoryIds } from './git/memory';
import { lastTwo, type DailyRecord } from '../time/record';
import type { SenseStore } from './store';

/** Whether data belongs to the repository. `named` data has its name, but no path. */
type Belongs = 'yes' | 'named' | 'no';

/** The repository whose data a purge removes. */
export interface RepoMatch {
  /** Path of the main checkout, or null if the repository was selected by name. */
  path: string | null;
  /** The known paths of its checkouts and worktrees. */
  paths: string[];
  names: string[];
  /** Other repositories with the same name, which `named` data may belong to. */
  others: string[];
  ofEvent: (event: SenseEvent) => Belongs;
  ofRecord: (record: DailyRecord) => Belongs;
}

interface MatchDeps {
  store: SenseStore;
  /** The watched repositories. */
  repos: readonly string[];
  nowMs: number;
}

/** Selects a repository by its name, or by the path of any folder in it or in one of its worktrees. */
export function matchRepo(deps: MatchDeps, wanted: string): RepoMatch {
  const isPath = /[/\\]/.test(wanted) || /^\.\.?$/.test(wanted);
  return isPath ? matchPath(deps, resolve(wanted)) : matchName(wanted);
}

function matchName(wanted: string): RepoMatch {
  const name = wanted.toLowerCase();
  const isNamed = (repo: string): boolean => repo === name || repo.endsWith(`/${name}`);
  return {
    path: null,
    paths: [],
    names: [wanted],
    others: [],
    ofEvent: ({ repo }) => (repo?.toLowerCase() === name ? 'yes' : 'no'),
    ofRecord: (record) => (reposIn(record).some(isNamed) ? 'yes' : 'no'),
  };
}

function matchPath({ store, repos, nowMs }: MatchDeps, wanted: string): RepoMatch {
  const idOf = repositoryIds(store.readState().state.cursors['git'], nowMs);
  const found = exists(wanted) ? checkoutOf(wanted) : undefined;
  const path = found?.mainRoot ?? wanted;
  const id = found?.id ?? idOf(wanted);
  const isOwn = (at: string): boolean =>
    at === path || at === wanted || (id !== undefined && idOf(at) === id);
  const real = realPath(path) ?? path;
  const roots = [real, ...repos.filter(isOwn)];
  const names = new Set(roots.map(nameAt));
  const stored = storedPaths(store);
  for (const [at, { repo }] of stored) if (isOwn(at) && repo !== undefined) names.add(repo);
  const lower = new Set([...names].map((name) => name.toLowerCase()));
  const isNamed = (repo: string | undefined): boolean => repo !== undefined && lower.has(repo.toLowerCase());
  // A stored path without a repository may be a deleted worktree, except for commits.
  const isElsewhere = (at: string, isCommit: boolean): boolean => idOf(at) !== undefined || isCommit;
  const others = [
    ...repos.filter((at) => !isOwn(at) && isNamed(nameAt(at))),
    ...[...stored].flatMap(([at, { repo, isCommit }]) =>
      !isOwn(at) && isNamed(repo) && isElsewhere(at, isCommit) ? [at] : [],
    ),
  ];
  const paths = [...roots, ...[...stored.keys()].filter(isOwn)];
  const labels = new Set(paths.map((at) => lastTwo(at).toLowerCase()));
  return {
    path: real,
    paths,
    names: [...names],
    others: [...new Set(others.map((at) => (exists(at) ? repositoryOf(at)?.root : undefined) ?? at))],
    ofEvent({ type, repo, detail }) {
      const at = textOf(detail?.['path']);
      if (at !== undefined && isOwn(at)) return 'yes';
      if (!isNamed(repo)) return 'no';
      if (at === undefined) return 'named';
      if (isElsewhere(at, type === 'git-commit')) return 'no';
      return roots.some((root) => at.startsWith(root + sep)) ? 'yes' : 'named';
    },
    ofRecord(record) {
      const shown = reposIn(record);
      return shown.some((repo) => labels.has(repo)) ? 'yes' : shown.some(isNamed) ? 'named' : 'no';
    },
  };
}

function nameAt(path: string): string {
  return unless(['EACCES', 'EPERM'], () => gitFolderAt(path))?.name ?? basename(path);
}

function storedPaths(store: SenseStore): Map<string, { repo: string | undefined; isCommit: boolean }> {
  const paths = new Map<string, { repo: string | undefined; isCommit: boolean }>();
  for (const log of [...store.loggedDays(), 'late' as const])
    store.scanLog(log, ({ type, repo, detail }) => {
      const path = textOf(detail?.['path']);
      const isCommit = type === 'git-commit';
      if (path !== undefined && (isCommit || !paths.has(path))) paths.set(path, { repo, isCommit });
    });
  return paths;
}

function reposIn({ commits, ledger }: DailyRecord): string[] {
  const { attention, agents } = ledger;
  return [...commits.repos, ...attention, ...agents].flatMap(({ repo }) => textOf(repo)?.toLowerCase() ?? []);
}
