import { dirname, join, sep } from 'node:path';

import { unless } from '../errors';
import { createFile } from '../platform/files/atomic-file';
import { exists, lstatOf } from '../platform/files/folder';
import { checkoutOf, gitFolderAt, type GitFolder } from '../platform/files/git-folder';
import { realPath } from '../platform/files/stat';

const MARKER = 'RESTRICTED.md';
const UNREADABLE = ['EACCES', 'EPERM', 'ELOOP', 'ENAMETOOLONG'];

/**
 * Returns whether the folder or a parent folder contains the marker file. In a worktree, also checks the
 * repository's main folder. If a path has symbolic links, checks both the path and its target.
 */
export function isRestricted(folder: string): boolean {
  return check(folder, new Map()).isClosed;
}

/** @param cache Results by parent folder, for callers that check many folders. */
function check(
  folder: string,
  cache: Map<string, boolean>,
): { isClosed: boolean; checkout?: GitFolder | undefined } {
  const paths = withTarget(folder);
  if (paths.some((path) => isMarked(path, cache))) return { isClosed: true };
  const checkouts = paths.map(checkoutOf);
  const roots = checkouts.flatMap((checkout) => checkout?.mainRoot ?? []);
  const others = roots.filter((root) => !paths.includes(root));
  const isClosed = others.flatMap(withTarget).some((path) => isMarked(path, cache));
  return { isClosed, checkout: checkouts[0] };
}

function withTarget(path: string): string[] {
  return [...new Set([path, realPath(path) ?? path])];
}

function isMarked(folder: string, cache: Map<string, boolean>): boolean {
  // A folder that can't be checked counts as restricted.
  if (unless(UNREADABLE, () => exists(folder + sep + MARKER)) ?? true) return true;
  const parent = dirname(folder);
  if (parent === folder) return false;
  const answer = cache.get(parent) ?? isMarked(parent, cache);
  cache.set(parent, answer);
  return answer;
}

/** Marks a session's folder as restricted if the folder exists. */
export function markRestricted(folder: string): void {
  if (lstatOf(folder)?.isFolder === true)
    createFile(join(folder, MARKER), "This session's work stays on this machine.\n");
}

/**
 * Returns the repositories to watch, by path; undefined if a path is unreadable or not a repository. If one of a
 * repository's worktrees is restricted, all of them are.
 */
export function unrestrictedRepos(paths: readonly string[]): Map<string, GitFolder | undefined> {
  const cache = new Map<string, boolean>();
  const checked = paths.map((path) => ({ path, ...check(path, cache) }));
  const ids = new Set(
    checked.flatMap(({ path, isClosed }) => (isClosed ? (gitFolderAt(path)?.id ?? []) : [])),
  );
  const open = checked.filter(({ isClosed, checkout }) => !isClosed && !ids.has(checkout?.id ?? ''));
  return new Map(open.map(({ path, checkout }) => [path, checkout?.root === path ? checkout : undefined]));
}
