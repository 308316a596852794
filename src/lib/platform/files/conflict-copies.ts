import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { unless } from '../../errors';
import { listFolder } from './folder';

/** Suffixes that sync tools add to the names of conflict copies. */
const ADDED: readonly RegExp[] = [
  // Syncthing
  /\.sync-conflict-\d{8}-\d{6}(?:-[A-Z0-9]{7})?/,
  // Dropbox, Nextcloud, ownCloud, Seafile
  / \([^()]*(?:conflicted copy|(?:case|selective sync) conflict)[^()]*\)/i,
  / \(SFConflict [^()]*\)/i,
  /[_ ]conflict-\d{8}-\d{6}/,
  // Resilio
  /\.Conflict(?=\.[a-z]+$|$)/i,
];
/**
 * Google Drive and iCloud append a number; OneDrive appends the machine name. A file with such a name is a
 * conflict copy only if the original exists.
 */
const BESIDE = /^(.+?)(?: \(\d+\)| \d+|-[A-Z][A-Z0-9-]{2,14})(\.[a-z]+)$/;
const ABSENT = ['ENOENT', 'ENOTDIR', 'EACCES'];
const MAX_NAMES = 20_000;
const MAX_DEPTH = 6;

export interface ConflictCopy {
  /** Path of the copy, relative to the searched folder. */
  path: string;
  original: string;
}

/**
 * Returns the original's name if `name` is a conflict copy. `exists` checks for a file in the same folder.
 */
export function originalOf(name: string, exists: (name: string) => boolean): string | undefined {
  const added = ADDED.find((pattern) => pattern.test(name));
  if (added !== undefined) return originalOf(name.replace(added, ''), exists) ?? name.replace(added, '');
  const [, start, end] = BESIDE.exec(name) ?? [];
  const original = start === undefined ? '' : `${start}${end ?? ''}`;
  return original !== '' && exists(original) ? original : undefined;
}

/** Returns the paths of a file's conflict copies. */
export function copiesOf(path: string): string[] {
  const names = listFolder(dirname(path));
  const copies = names.filter(
    (name) => originalOf(name, (other) => names.includes(other)) === basename(path),
  );
  return copies.map((name) => join(dirname(path), name));
}

/** Returns the conflict copies that a sync tool created below a folder. */
export function conflictCopies(root: string, depth = MAX_DEPTH, within = '', budget = { names: MAX_NAMES }) {
  const entries = unless(ABSENT, () => readdirSync(join(root, within), { withFileTypes: true })) ?? [];
  const names = new Set(entries.map(({ name }) => name));
  return entries.flatMap((entry): ConflictCopy[] => {
    budget.names -= 1;
    if (budget.names < 0) return [];
    const path = join(within, entry.name);
    if (entry.isDirectory()) return depth > 0 ? conflictCopies(root, depth - 1, path, budget) : [];
    const original = originalOf(entry.name, (name) => names.has(name));
    return original === undefined ? [] : [{ path, original: join(within, original) }];
  });
}
