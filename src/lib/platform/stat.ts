import { lstatSync, readdirSync, statSync } from 'node:fs';

import { errnoCode } from '../errors';

/** What a path showed at one moment, cheap enough to ask for hundreds at every capture. */
export interface Stamp {
  kind: 'file' | 'folder' | 'link' | 'other';
  /**
   * Inode, size and date of change: the same text means the same content, but for a change within one tick of
   * the clock. The date is a double of milliseconds, exact to a quarter of a microsecond.
   */
  mark: string;
  mtimeMs: number;
}

/** The stamp of a path, links not followed; undefined when nothing is there. Throws for what cannot be read. */
export function stampOf(path: string): Stamp | undefined {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return undefined;
    const kind = found.isFile()
      ? 'file'
      : found.isDirectory()
        ? 'folder'
        : found.isSymbolicLink()
          ? 'link'
          : 'other';
    return { kind, mark: `${found.ino}:${found.size}:${found.mtimeMs}`, mtimeMs: found.mtimeMs };
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** The mark of what stands at the end of a path's links; undefined when nothing does. */
export function markOfTarget(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.ino}:${found.size}:${found.mtimeMs}`;
}

/** What stands at the end of a path's links. */
export interface Target {
  kind: 'file' | 'folder' | 'other';
  bytes: number;
  /** `dev:ino`: the same for every name of one file or folder. */
  id: string;
}

/** The end of a path's links; undefined when nothing is there. Throws for what cannot be read. */
export function targetOf(path: string): Target | undefined {
  try {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (found === undefined) return undefined;
    const kind = found.isFile() ? 'file' : found.isDirectory() ? 'folder' : 'other';
    return { kind, bytes: Number(found.size), id: `${found.dev}:${found.ino}` };
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** What stands at the end of a path's links; a third of the price of `targetOf`, which tells more. */
export function kindOf(path: string): Target['kind'] | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return undefined;
    return found.isFile() ? 'file' : found.isDirectory() ? 'folder' : 'other';
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

export interface FolderEntry {
  name: string;
  isFolder: boolean;
}

/** A folder's entries in the order of their names; none when there is no folder. */
export function entriesOf(path: string): FolderEntry[] {
  // Asked first: an exception costs ten times as much, and most folders that are asked for are not there.
  return stampOf(path) === undefined ? [] : entriesIn(path);
}

/** The same of a folder that is known to be there: a stat less. */
export function entriesIn(path: string): FolderEntry[] {
  try {
    return readdirSync(path, { withFileTypes: true })
      .map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

function isAbsent(error: unknown): boolean {
  const code = errnoCode(error);
  // A circle of links leads nowhere; a name that is too long names nothing.
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP' || code === 'ENAMETOOLONG';
}
