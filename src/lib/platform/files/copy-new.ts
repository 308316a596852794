import {
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  futimesSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { StewardError, errnoCode } from '../../errors';
import { linkNew, readBytes, tempOf, writeAll, openRegular } from './atomic-file';
import { closing, syncFolder } from './durable';
import { ensureFolder, exists, listFolder, lstatOf, removeFolder } from './folder';
import { randomName } from './short-hash';

const CHUNK_BYTES = 256 * 1024;

/**
 * Copies a regular file atomically to a new private file (0600) and keeps its modification time. Returns
 * false if `to` exists; throws `config` if `from` isn't a regular file.
 */
export function copyNew(from: string, to: string): boolean {
  if (exists(to)) return false;
  const temp = tempOf(to);
  try {
    copyInto(from, temp);
    const made = linkNew(temp, to);
    if (made) syncFolder(dirname(to));
    return made;
  } finally {
    rmSync(temp, { force: true });
  }
}

/** Copies a folder atomically, skipping links; returns false if `to` exists. */
export function copyFolderNew(from: string, to: string): boolean {
  if (exists(to)) return false;
  const temp = join(dirname(to), `.${basename(to)}.${randomName(12)}.import`);
  try {
    copyTree(from, temp);
    if (exists(to)) return false;
    renameSync(temp, to);
    syncFolder(dirname(to));
    return true;
  } catch (error) {
    if (errnoCode(error) === 'ENOTEMPTY' || errnoCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    removeFolder(temp);
  }
}

/** Removes temp folders that interrupted copies left behind. */
export function sweepFolderCopies(folder: string): void {
  for (const name of listFolder(folder)) {
    if (/^\..+\.[0-9a-f]{12}\.import$/.test(name)) removeFolder(join(folder, name));
  }
}

export function sameBytes(a: string, b: string): boolean {
  const [first, second] = [readBytes(a), readBytes(b)];
  return first !== undefined && second !== undefined && first.equals(second);
}

/** Returns whether `whole` contains every file in `part`, with the same content. */
export function holdsAllOf(whole: string, part: string): boolean {
  return listFolder(part).every((name) => {
    const [own, other] = [join(part, name), join(whole, name)];
    const [facts, there] = [lstatOf(own), lstatOf(other)];
    if (facts?.isFolder === true) return there?.isFolder === true && holdsAllOf(other, own);
    if (facts?.isFile !== true) return true;
    return there?.isFile === true && sameBytes(own, other);
  });
}

function copyTree(from: string, to: string): void {
  ensureFolder(to);
  for (const name of listFolder(from)) {
    const facts = lstatOf(join(from, name));
    if (facts?.isFolder === true) copyTree(join(from, name), join(to, name));
    else if (facts?.isFile === true) copyInto(join(from, name), join(to, name));
  }
}

function copyInto(from: string, to: string): void {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
  closing(open(from), (source) => {
    const { atime, mtime } = fstatSync(source);
    closing(openSync(to, flags, 0o600), (target) => {
      fchmodSync(target, 0o600);
      const chunk = Buffer.alloc(CHUNK_BYTES);
      for (let read = 1; read > 0;) {
        read = readSync(source, chunk, 0, CHUNK_BYTES, null);
        writeAll(target, chunk.subarray(0, read));
      }
      futimesSync(target, atime, mtime);
      fsyncSync(target);
    });
  });
}

function open(path: string): number {
  const fd = openRegular(path, constants.O_RDONLY, { followLink: false });
  if (fd !== undefined) return fd;
  throw new StewardError('not_found', `${path} no longer exists.`, { hint: 'Rerun the command.' });
}
