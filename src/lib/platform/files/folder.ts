import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  rmdirSync,
  statSync,
  statfsSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';

import { StewardError, errnoCode, unless } from '../../errors';

/**
 * Makes a private folder (0700) where none is, and those above it. Refuses a symbolic link or a file in its
 * place; `allowLink` is for the root of the user area, which a person may have moved. A place where the
 * system makes no folders is `unavailable`.
 *
 * @returns the folders that it has made, the outermost first
 */
export function ensureFolder(path: string, options: { allowLink?: boolean } = {}): string[] {
  const before = lstatOf(path);
  const made = before === undefined ? makeAll(path) : [];
  // A race with another process may have put something else there than what was made.
  const found = before ?? lstatOf(path);
  if (found?.isLink === true && options.allowLink !== true) {
    throw new StewardError('config', `${path} is a symbolic link.`, {
      hint: 'Replace the link with the folder itself, or link the whole user area instead.',
    });
  }
  const isFolder = found?.isLink === true ? leadsToFolder(path) : found?.isFolder === true;
  if (!isFolder) {
    throw new StewardError('config', `${path} is not a folder.`, { hint: 'Move it away.' });
  }
  return made;
}

function makeAll(path: string): string[] {
  try {
    return makeFolders(path);
  } catch (error) {
    if (errnoCode(error) !== 'ENOENT') throw error;
    throw new StewardError('unavailable', `Cannot create the folder ${path}.`, {
      hint: 'Set STEWARD_HOME, HOME and the XDG variables to folders on a writable disk.',
      cause: error,
    });
  }
}

function leadsToFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Takes a folder's access from everybody else. True when it had to be taken. */
export function makePrivate(path: string): boolean {
  if (process.platform === 'win32' || (statSync(path).mode & 0o077) === 0) return false;
  chmodSync(path, 0o700);
  return true;
}

/** May users other than the owner read, write or list it? A link is followed; no file, and Windows: no. */
export function isOpenToOthers(path: string): boolean {
  if (process.platform === 'win32') return false;
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && (found.mode & 0o077) !== 0;
}

/** Is there anything at the path (a broken link counts)? */
export function exists(path: string): boolean {
  return lstatOf(path) !== undefined;
}

export interface FileFacts {
  size: number;
  mtimeMs: number;
  isFile: boolean;
  isFolder: boolean;
  isLink: boolean;
}

/** What stands at the path, links not followed; undefined when nothing does. */
export function lstatOf(path: string): FileFacts | undefined {
  // Not by an error where nothing is there: one with its stack costs more than the question.
  const found = unless(['ENOTDIR'], () => lstatSync(path, { throwIfNoEntry: false }));
  if (found === undefined) return undefined;
  return {
    size: found.size,
    mtimeMs: found.mtimeMs,
    isFile: found.isFile(),
    isFolder: found.isDirectory(),
    isLink: found.isSymbolicLink(),
  };
}

/** The names in a folder, in no order; none when there is no folder. */
export function listFolder(path: string): string[] {
  return unless(['ENOENT'], () => readdirSync(path)) ?? [];
}

/** Removes a file; one that is not there is removed already. */
export function removeFile(path: string): void {
  rmSync(path, { force: true });
}

/** Removes a folder with all that is in it; links in it are removed, not followed. */
export function removeFolder(path: string): void {
  rmSync(path, { recursive: true, force: true });
}

/** Removes a folder that has nothing in it; false when it has, or is not there. */
export function removeEmptyFolder(path: string): boolean {
  const removed = unless(KEPT, () => {
    rmdirSync(path);
    return true;
  });
  return removed === true;
}

/** What systems say of a folder that has something in it, is none, or is in use. */
const KEPT = ['ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR', 'EBUSY', 'EPERM', 'EACCES'];

/** The permission bits of what is at the end of the path's links; undefined when nothing is. */
export function modeOf(path: string): number | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : found.mode & 0o777;
}

/**
 * Makes a folder and those above it that are missing, each for its user alone (0700). Not by Node's `recursive`:
 * that never returns where the system says of a folder in one that is there that there is no such folder, as /proc
 * does. What stands there already is no error, whatever it is: the caller looks. Throws what the system says.
 *
 * @returns those that it has made, the outermost first
 */
export function makeFolders(path: string): string[] {
  const missing: string[] = [];
  for (let at = resolve(path); !isThere(at) && dirname(at) !== at; at = dirname(at)) missing.push(at);
  return missing.reverse().filter(make);
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function make(folder: string): boolean {
  // Another process was first; or a link that leads nowhere.
  const made = unless(['EEXIST'], () => {
    mkdirSync(folder, { mode: 0o700 });
    return true;
  });
  return made === true;
}

/** What the disk of a path has left for this user. */
export interface FreeSpace {
  bytes: number;
  /** Files that can still be made; null where the file system has no such bound. */
  files: number | null;
}

/** Asks the file system that holds the path, which has to be there. */
export function freeSpace(path: string): FreeSpace {
  const { bavail, bsize, files, ffree } = statfsSync(path);
  return { bytes: bavail * bsize, files: files > 0 ? ffree : null };
}

/** How much lies at a path: files (links are one each, and not followed) and their bytes. */
export interface DiskUse {
  files: number;
  bytes: number;
}

export function diskUse(path: string): DiskUse {
  const facts = lstatOf(path);
  if (facts === undefined) return { files: 0, bytes: 0 };
  if (!facts.isFolder) return { files: 1, bytes: facts.size };
  const uses = readdirSync(path).map((name) => diskUse(join(path, name)));
  return {
    files: uses.reduce((sum, { files }) => sum + files, 0),
    bytes: uses.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** The path without links; undefined when nothing is there. */
export function realPath(path: string): string | undefined {
  return unless(['ENOENT', 'ENOTDIR'], () => realpathSync(path));
}

/**
 * Removes folders when this process ends, after everything else that it keeps for the next run: its own code cache is
 * written at the very end. Each is removed with what is in it; then the folders of `ifEmpty`, in order.
 */
export function removeAtExit(folders: readonly string[], ifEmpty: readonly string[]): void {
  process.once('exit', () => {
    for (const folder of folders) removeFolder(folder);
    for (const folder of ifEmpty) removeEmptyFolder(folder);
  });
}
