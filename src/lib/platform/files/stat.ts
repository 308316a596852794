import { lstatSync, readdirSync, realpathSync, statSync, type Stats } from 'node:fs';

import { errnoCode } from '../../errors';

/** What a path showed at one moment, cheap enough to ask for hundreds at every capture. */
export interface Stamp {
  kind: 'file' | 'folder' | 'link' | 'other';
  /**
   * Inode, size and date of change: the same text means the same content, but for a change within one tick of
   * the clock. The date is a double of milliseconds, exact to a quarter of a microsecond.
   */
  mark: string;
  mtimeMs: number;
  facts: Facts;
}

/** What a mark is made of, for those who compare hundreds: to write a date as text takes longer than to ask for it. */
export type Facts = readonly [ino: number, size: number, mtimeMs: number];
export type FolderFacts = readonly [dev: number, ...facts: Facts];

/** Does a path, links not followed, show the same as before? */
export function hasFacts(path: string, [ino, size, mtimeMs]: Facts): boolean {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    return found !== undefined && found.ino === ino && found.size === size && found.mtimeMs === mtimeMs;
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}

/** Does a folder, links followed, show the same as before, on the same device? */
export function hasFolderFacts(path: string, [dev, ino, size, mtimeMs]: FolderFacts): boolean {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined || found.dev !== dev || found.ino !== ino) return false;
    return found.size === size && found.mtimeMs === mtimeMs && found.isDirectory();
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
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
    return { kind, ...datesOf(found), facts: [found.ino, found.size, found.mtimeMs] };
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** How a regular file looked at one moment, for those who keep what they read of it beyond their run. */
export interface Look {
  /** Device, inode, size and both dates: a date of change that was set back, or a file in its place, shows too. */
  mark: string;
  mtimeMs: number;
  /** The later one of the two dates, wall-clock ms. */
  changedMs: number;
  /** When it was looked at, wall-clock ms. */
  nowMs: number;
}

/** The look of a file; undefined where none is, or a link or something else. */
export function lookOf(path: string, nowMs: number): Look | undefined {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isFile() !== true) return undefined;
    const { dev, ino, size, mtimeMs, ctimeMs } = found;
    const mark = `${dev}:${ino}:${size}:${mtimeMs}:${ctimeMs}`;
    return { mark, mtimeMs, changedMs: Math.max(mtimeMs, ctimeMs), nowMs };
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** The mark of what stands at the end of a path's links; undefined when nothing does. */
export function markOfTarget(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : datesOf(found).mark;
}

/** What stands at the ends of several paths, in one text that is the same as long as nothing changes. */
export interface Marks {
  text: string;
  /** The latest date of change among them, wall-clock ms; 0 when nothing is there. */
  newestMs: number;
}

export function marksOf(paths: readonly string[]): Marks {
  let text = '';
  let newestMs = 0;
  for (const path of paths) {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) {
      text += '-\n';
      continue;
    }
    const { mark, mtimeMs } = datesOf(found);
    text += `${mark}\n`;
    if (mtimeMs > newestMs) newestMs = mtimeMs;
  }
  return { text, newestMs };
}

/** What stands at the end of a path's links. */
export interface Target {
  kind: 'file' | 'folder' | 'other';
  bytes: number;
  /** `dev:ino`: the same for every name of one file or folder. */
  id: string;
  /** As of a Stamp. */
  mark: string;
  mtimeMs: number;
  facts: FolderFacts;
}

/** The end of a path's links; undefined when nothing is there. Throws for what cannot be read. */
export function targetOf(path: string): Target | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return undefined;
    const kind = found.isFile() ? 'file' : found.isDirectory() ? 'folder' : 'other';
    const { dev, ino, size, mtimeMs } = found;
    return { kind, bytes: size, id: idOf(path, found), ...datesOf(found), facts: [dev, ino, size, mtimeMs] };
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** A number of a file that a double cannot hold (on Windows) is asked for again, whole. */
function idOf(path: string, found: Stats): string {
  if (Number.isSafeInteger(found.ino) && Number.isSafeInteger(found.dev)) return `${found.dev}:${found.ino}`;
  const whole = statSync(path, { bigint: true });
  return `${whole.dev}:${whole.ino}`;
}

function datesOf(found: Stats): Pick<Stamp, 'mark' | 'mtimeMs'> {
  return { mark: `${found.ino}:${found.size}:${found.mtimeMs}`, mtimeMs: found.mtimeMs };
}

/** What stands at the end of a path's links; cheaper than `targetOf`, which tells more. */
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

/** The entries of a folder that is known to be there, in the order of their names. */
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

/** Where a path leads when all its links are followed; undefined when nothing is there. */
export function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

function isAbsent(error: unknown): boolean {
  const code = errnoCode(error);
  // A circle of links leads nowhere; a name that is too long names nothing.
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP' || code === 'ENAMETOOLONG';
}
