import { basename, dirname, join } from 'node:path';

import { readText, replaceFile } from '../platform/files/atomic-file';
import { ensureFolder } from '../platform/files/folder';
import { gitFolderAt } from '../platform/files/git-folder';
import { isObject, parseObject, textOf } from '../platform/files/json-object';
import { isRestricted } from './restricted';

interface Checked {
  name: string;
  restricted: boolean;
}

/** Returns the path of the file with the results of earlier checks. */
export function checkedRepos(state: string): string {
  return join(state, 'checked-repos.json');
}

/**
 * Checks whether repositories are restricted. Stores the results, which are used if a repository's folder is
 * missing later.
 */
export interface RepoCheck {
  /** Returns whether a repository is restricted. Checks its path or, if the path is unknown, its name. */
  isRestrictedRepo: (repo: string, path?: string) => boolean;
  /** Returns whether a repository with this name was checked and is not restricted. */
  isCheckedRepo: (repo: string) => boolean;
  /** A fingerprint of the results, which changes if a repository becomes restricted or unrestricted. */
  mark: string;
  /** Stores the results for the next run. */
  save: () => void;
}

/**
 * Starts a check. If a repository's folder is missing, uses the last result. A repository without a result
 * counts as restricted unless a watched repository with the same name is unrestricted.
 * @param file The file with the results of earlier checks.
 */
export function checkRepos(file: string, watched: readonly string[]): RepoCheck {
  const before = readChecked(file);
  const found = new Map<string, Checked>();
  const cache = new Map<string, boolean>();
  const inRestrictedFolder = (path: string): boolean => isRestricted(path, cache);
  // Events in a worktree contain the main repository's path, so compare repository ids instead of paths.
  const restrictedIds = new Set(watched.filter(inRestrictedFolder).map((path) => gitFolderAt(path)?.id));
  const check = (path: string): Checked => {
    const repo = found.has(path) ? undefined : gitFolderAt(path);
    if (repo !== undefined) {
      const restricted = restrictedIds.has(repo.id) || inRestrictedFolder(path);
      found.set(path, { name: repo.name, restricted });
    }
    const name = basename(path);
    return found.get(path) ?? before.get(path) ?? { name, restricted: !open.has(name) };
  };
  const open = new Set<string>();
  const ofWatched = watched.map(check);
  for (const { name, restricted } of ofWatched) if (!restricted) open.add(name);
  const isWatched = new Set(watched);
  const closed = new Set(ofWatched.filter(({ restricted }) => restricted).map(({ name }) => name));
  for (const path of before.keys()) {
    if (isWatched.has(path)) continue;
    const { name, restricted } = check(path);
    // A missing repository may have been moved. A watched repository with the same name is then assumed to be
    // the same repository.
    if (restricted && (found.has(path) || !open.has(name))) closed.add(name);
  }
  return {
    mark: JSON.stringify([...closed].sort()),
    isRestrictedRepo: (repo, path) => (path === undefined ? closed.has(repo) : check(path).restricted),
    isCheckedRepo: (repo) =>
      [...before.values(), ...found.values()].some(({ name, restricted }) => name === repo && !restricted),
    save() {
      const all = new Map([...before, ...found]);
      if (JSON.stringify([...all]) === JSON.stringify([...before])) return;
      writeChecked(file, all);
    },
  };
}

/** Adds another file's results. A repository that is restricted in either file is restricted. */
export function mergeChecked(from: string, into: string): void {
  const all = readChecked(into);
  for (const [path, { name, restricted }] of readChecked(from))
    all.set(path, { name, restricted: restricted || all.get(path)?.restricted === true });
  if (all.size > 0) writeChecked(into, all);
}

function writeChecked(file: string, all: ReadonlyMap<string, Checked>): void {
  ensureFolder(dirname(file));
  replaceFile(file, `${JSON.stringify(Object.fromEntries(all))}\n`);
}

function readChecked(file: string): Map<string, Checked> {
  const stored = Object.entries(parseObject(readText(file) ?? '') ?? {});
  return new Map(
    stored.flatMap(([path, value]): [string, Checked][] => {
      const name = isObject(value) ? textOf(value['name']) : undefined;
      return isObject(value) && name !== undefined
        ? [[path, { name, restricted: value['restricted'] !== false }]]
        : [];
    }),
  );
}
