import { dirname, join } from 'node:path';

import { unless } from '../errors';
import { createFile, readText } from '../platform/files/atomic-file';
import { ensureFolder, exists, lstatOf } from '../platform/files/folder';
import { checkoutOf } from '../platform/files/git-folder';
import { completeAppend, planAppend } from '../platform/files/jsonl';
import { folderHash } from '../platform/files/short-hash';
import { realPath } from '../platform/files/stat';
import type { Session } from './session';

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
  return roots.flatMap(withTarget).some((path) => isMarked(path, cache));
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

/**
 * Returns the path of the list of restricted sessions. Sessions stay listed after their data is deleted.
 * @param path Path of `state/sessions.json`.
 */
export function restrictedList(path: string): string {
  return join(dirname(path), 'restricted-sessions.txt');
}

/** Adds the restricted sessions in `sessions` to the list. */
export function listRestricted(
  path: string,
  sessions: readonly Pick<Session, 'restricted' | 'sessionIds'>[],
): void {
  const restricted = sessions.filter((session) => session.restricted === true);
  addRestricted(
    restrictedList(path),
    restricted.flatMap(({ sessionIds }) => sessionIds),
  );
}

/** Adds sessions to the list, as hashes of their keys. */
export function addRestricted(list: string, keys: Iterable<string>): void {
  addHashes(list, [...keys].map(folderHash));
}

/** Adds all sessions from the list at `from` to the list at `into`. */
export function mergeRestricted(from: string, into: string): void {
  addHashes(into, [...hashesIn(from)]);
}

/** Returns a function that checks whether a session is in the list. */
export function readRestricted(list: string): (key: string) => boolean {
  const hashes = hashesIn(list);
  return (key) => hashes.has(folderHash(key));
}

function addHashes(list: string, hashes: readonly string[]): void {
  const known = hashesIn(list);
  const added = hashes.filter((hash) => !known.has(hash));
  if (added.length === 0) return;
  ensureFolder(dirname(list));
  completeAppend(list, planAppend(list, added));
}

function hashesIn(list: string): Set<string> {
  return new Set(
    readText(list)
      ?.split('\n')
      .filter((line) => line !== ''),
  );
}
