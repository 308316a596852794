import { chmodSync, lstatSync, readdirSync, rmSync, rmdirSync, statSync } from 'node:fs';

import { StewardError, errnoCode, unless } from '../../errors';
import { makeFolders } from './make-folders';

/**
 * Makes a private folder (0700) where none is, and those above it. Refuses a symbolic link or a file in its
 * place; `allowLink` is for the root of the user area, which a person may have moved. A place where the
 * system makes no folders is `unavailable`.
 *
 * @returns the folders that it has made, the outermost first
 */
export function ensureFolder(path: string, options: { allowLink?: boolean } = {}): string[] {
  const before = lstatOf(path);
  const made = before === undefined ? make(path) : [];
  // A race with another process may have put something else there than what was made.
  const found = before ?? lstatOf(path);
  if (found?.isLink === true && options.allowLink !== true) {
    throw new StewardError('config', `${path} is a symbolic link.`, {
      hint: 'Folders that steward writes must be real ones: move the folder back, or link the whole user area.',
    });
  }
  const isFolder = found?.isLink === true ? leadsToFolder(path) : found?.isFolder === true;
  if (!isFolder) {
    throw new StewardError('config', `${path} is not a folder.`, { hint: 'Move it away.' });
  }
  return made;
}

function make(path: string): string[] {
  try {
    return makeFolders(path);
  } catch (error) {
    if (errnoCode(error) !== 'ENOENT') throw error;
    throw new StewardError('unavailable', `The system makes no folder ${path}.`, {
      hint: 'Point STEWARD_HOME, HOME and the XDG variables to places on a disk that you can write to.',
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
