import { lstatSync, readdirSync, realpathSync, statSync, type Stats } from 'node:fs';

import { unless } from '../../errors';

/** The metadata of a path. */
export type Stamp = NonNullable<ReturnType<typeof stampOf>>;

/** Returns the metadata of a path without following links, or undefined if the path doesn't exist. */
export function stampOf(path: string) {
  const found = statsOf(lstatSync, path);
  if (found === undefined) return undefined;
  const kind = found.isSymbolicLink() ? 'link' : kindIn(found);
  // `bornMs` is the time of creation, where the file system stores it.
  return { kind, bornMs: found.birthtimeMs, ...datesOf(found) };
}

/**
 * Returns the mark (inode, size and modification time) of a path, following links, or undefined if it doesn't
 * exist.
 */
export function markOfTarget(path: string): string | undefined {
  const found = statsOf(statSync, path);
  return found === undefined ? undefined : datesOf(found).mark;
}

export function marksOf(paths: readonly string[]) {
  const found = paths.map((path) => statsOf(statSync, path));
  const text = found.map((stats) => `${stats === undefined ? '-' : datesOf(stats).mark}\n`).join('');
  return { text, newestMs: Math.max(0, ...found.map((stats) => stats?.mtimeMs ?? 0)) };
}

/** Returns the file or folder at a path, with links followed. `id` is the same for all links to it. */
export function targetOf(path: string) {
  const found = statsOf(statSync, path);
  if (found === undefined) return undefined;
  return { kind: kindIn(found), bytes: found.size, id: idOf(path, found), ...datesOf(found) };
}

export type Target = NonNullable<ReturnType<typeof targetOf>>;

/** Returns the kind of a path's target. Faster than `targetOf`. */
export function kindOf(path: string) {
  const found = statsOf(statSync, path);
  return found === undefined ? undefined : kindIn(found);
}

export interface FolderEntry {
  name: string;
  isFolder: boolean;
}

/** Returns the entries of a folder sorted by name, or an empty list if it doesn't exist. */
export function entriesIn(path: string): FolderEntry[] {
  const entries = unless(ABSENT, () => readdirSync(path, { withFileTypes: true })) ?? [];
  return entries
    .map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Returns the path with links resolved, or undefined if it does not exist. */
export function realPath(path: string): string | undefined {
  return unless(ABSENT, () => realpathSync.native(path));
}

/** Returns `dev:ino`. Uses bigints if the numbers are too large for a double, which happens on Windows. */
function idOf(path: string, found: Stats): string {
  if (Number.isSafeInteger(found.ino) && Number.isSafeInteger(found.dev)) return `${found.dev}:${found.ino}`;
  const whole = statSync(path, { bigint: true });
  return `${whole.dev}:${whole.ino}`;
}

/**
 * Returns the mark: inode, size and modification time. If two marks are equal, the content is the same, unless it
 * changed twice within one clock tick. `changedMs` is when the file was put here or changed, by the clock of the system
 * that has it. No sync tool sets that one.
 */
function datesOf(found: Stats) {
  const { ino, size, mtimeMs, ctimeMs: changedMs } = found;
  return { mark: `${ino}:${size}:${mtimeMs}`, mtimeMs, changedMs };
}

function kindIn(found: Stats): 'file' | 'folder' | 'other' {
  return found.isFile() ? 'file' : found.isDirectory() ? 'folder' : 'other';
}

type StatSync = (path: string, options: { throwIfNoEntry: false }) => Stats | undefined;

function statsOf(stat: StatSync, path: string): Stats | undefined {
  return unless(ABSENT, () => stat(path, { throwIfNoEntry: false }));
}

const ABSENT = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'];
