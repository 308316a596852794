import { dirname, join } from 'node:path';

import { unless } from '../errors';
import { createFile } from '../platform/files/atomic-file';
import { exists, lstatOf } from '../platform/files/folder';
import { checkoutOf, gitFolderAt } from '../platform/files/git-folder';
import { realPath } from '../platform/files/stat';

const MARKER = 'RESTRICTED.md';
const UNREADABLE = ['EACCES', 'EPERM', 'ELOOP', 'ENAMETOOLONG'];

/**
 * Returns whether the folder or a parent folder contains the marker file. In a worktree, also checks the
 * repository's main folder. If a path has symbolic links, checks both the path and its target.
 * @param cache Results by parent folder, for callers that check many folders.
 */
export function isRestricted(folder: string, cache?: Map<string, boolean>): boolean {
  const paths = withTarget(folder);
  if (paths.some((path) => isMarked(path, cache))) return true;
  const roots = paths.flatMap((path) => checkoutOf(path)?.mainRoot ?? []);
  const others = roots.filter((root) => !paths.includes(root));
  return others.flatMap(withTarget).some((path) => isMarked(path, cache));
}

function withTarget(path: string): string[] {
  return [...new Set([path, realPath(path) ?? path])];
}

function isMarked(folder: string, cache?: Map<string, boolean>): boolean {
  // A folder that can't be checked counts as restricted.
  if (unless(UNREADABLE, () => exists(join(folder, MARKER))) ?? true) return true;
  const parent = dirname(folder);
  if (parent === folder) return false;
  const answer = cache?.get(parent) ?? isMarked(parent, cache);
  cache?.set(parent, answer);
  return answer;
}

/** Marks a session's folder as restricted if the folder exists. */
export function markRestricted(folder: string): void {
  if (lstatOf(folder)?.isFolder === true)
    createFile(join(folder, MARKER), "This session's work stays on this machine.\n");
}

/** Returns the repositories to watch. If one of a repository's worktrees is restricted, all of them are. */
export function unrestrictedRepos(paths: readonly string[]): string[] {
  const cache = new Map<string, boolean>();
  const closed = new Set(paths.filter((path) => isRestricted(path, cache)));
  if (closed.size === 0) return [...paths];
  const ids = new Set([...closed].map((path) => gitFolderAt(path)?.id));
  return paths.filter((path) => !closed.has(path) && !ids.has(gitFolderAt(path)?.id ?? ''));
}
