import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  rmdirSync,
  statSync,
  statfsSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';

import { StewardError, errnoCode, unless } from '../../errors';

/**
 * Creates a private folder (0700) and its missing parents. Returns the created folders, outermost first.
 * Throws if the path is a file, or if it is a symbolic link and `allowLink` isn't set.
 */
export function ensureFolder(path: string, options: { allowLink?: boolean } = {}): string[] {
  const before = lstatOf(path);
  const made = before === undefined ? makeAll(path) : [];
  const found = before ?? lstatOf(path);
  if (found?.isLink === true && options.allowLink !== true) {
    throw new StewardError('config', `${path} is a symbolic link.`, {
      hint: 'Replace the link with a folder, or link the whole user area instead.',
    });
  }
  const isFolder =
    found?.isLink === true ? statSync(path, { throwIfNoEntry: false })?.isDirectory() : found?.isFolder;
  if (isFolder !== true) {
    throw new StewardError('config', `${path} is not a folder.`, { hint: 'Move or rename it.' });
  }
  return made;
}

/** Like `ensureFolder`, but throws ENOENT rather than create the parent, whose drive may have been unmounted. */
export function ensureSubfolder(path: string): void {
  if (!exists(path)) make(path);
  ensureFolder(path);
}

function makeAll(path: string): string[] {
  try {
    return makeFolders(path);
  } catch (error) {
    if (errnoCode(error) !== 'ENOENT') throw error;
    throw new StewardError('unavailable', `Could not create the folder ${path}.`, {
      hint: 'Set STEWARD_HOME, HOME and the XDG variables to folders on a writable disk.',
      cause: error,
    });
  }
}

/** Makes a folder private; returns false if it was already private. */
export function makePrivate(path: string): boolean {
  if (process.platform === 'win32' || (statSync(path).mode & 0o077) === 0) return false;
  chmodSync(path, 0o700);
  return true;
}

/** Returns whether other users can access the path. Follows links. Always false on Windows. */
export function isOpenToOthers(path: string): boolean {
  if (process.platform === 'win32') return false;
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && (found.mode & 0o077) !== 0;
}

/** Returns whether the path exists, even as a broken link. */
export function exists(path: string): boolean {
  return lstatOf(path) !== undefined;
}

/** Returns the stats of a path without following links, or undefined if it doesn't exist. */
export function lstatOf(path: string) {
  const found = unless(['ENOTDIR'], () => lstatSync(path, { throwIfNoEntry: false }));
  if (found === undefined) return undefined;
  return {
    size: found.size,
    mtimeMs: found.mtimeMs,
    isFile: found.isFile(),
    isFolder: found.isDirectory(),
    isLink: found.isSymbolicLink(),
    /** Windows has neither: a path is yours, and only you can write to it. */
    isOwn: process.getuid === undefined || found.uid === process.getuid(),
    mode: process.platform === 'win32' ? 0o700 : found.mode & 0o777,
  };
}

/** Returns the unsorted names in a folder, or an empty list if it doesn't exist. */
export function listFolder(path: string): string[] {
  return unless(['ENOENT'], () => readdirSync(path)) ?? [];
}

/** Removes a file if it exists. */
export function removeFile(path: string): void {
  rmSync(path, { force: true });
}

/** Removes a folder and its contents, or a file, without following links. */
export function removeFolder(path: string): void {
  rmSync(path, { recursive: true, force: true });
}

/** Removes an empty folder; returns false if it isn't empty or doesn't exist. */
export function removeEmptyFolder(path: string): boolean {
  const removed = unless(NOT_REMOVABLE, () => {
    rmdirSync(path);
    return true;
  });
  return removed === true;
}

const NOT_REMOVABLE = ['ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR', 'EBUSY', 'EPERM', 'EACCES'];

/** Returns the permission bits of a path, following links, or undefined if it doesn't exist. */
export function modeOf(path: string): number | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : found.mode & 0o777;
}

/**
 * Creates a folder and its missing parents (0700). Returns the created folders, outermost first. Doesn't use
 * Node's `recursive` option, which may hang, for example in /proc.
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
  // EEXIST means that another process created the folder first, or that the path is a broken link.
  const made = unless(['EEXIST'], () => {
    mkdirSync(folder, { mode: 0o700 });
    return true;
  });
  return made === true;
}

export type FreeSpace = ReturnType<typeof freeSpace>;

export function freeSpace(path: string) {
  const { bavail, bsize, files, ffree } = statfsSync(path);
  return { bytes: bavail * bsize, files: files > 0 ? ffree : null };
}

/** The number and total size of the files below a path. A link counts as one file. */
export function diskUse(path: string): { files: number; bytes: number } {
  const facts = lstatOf(path);
  if (facts === undefined) return { files: 0, bytes: 0 };
  if (!facts.isFolder) return { files: 1, bytes: facts.size };
  const uses = readdirSync(path).map((name) => diskUse(join(path, name)));
  return {
    files: uses.reduce((sum, { files }) => sum + files, 0),
    bytes: uses.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** Removes `folders` and their contents at exit. Also removes the folders in `ifEmpty` that are empty. */
export function removeAtExit(folders: readonly string[], ifEmpty: readonly string[]): void {
  process.once('exit', () => {
    for (const folder of folders) removeFolder(folder);
    for (const folder of ifEmpty) removeEmptyFolder(folder);
  });
}
