import {
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { StewardError, errnoCode, unless } from '../../errors';
import { randomName } from './short-hash';

/** Text, as UTF-8; bytes; or bytes in several pieces. */
export type FileData = string | Uint8Array | readonly Uint8Array[];

export interface ReplaceOptions {
  /** Permission bits of the new file, whatever the umask; 0600 at most when left out. */
  mode?: number;
  /** Write through a symbolic link that this user owns (config.yaml, settings.json); else a link is refused. */
  followLink?: boolean;
  /**
   * False: not waited for until it is on the disk. It survives the end of any process, not that of the machine's
   * power; then it may be lost or empty. `content`: such an end leaves the old content or the new, whole, and
   * either may be there.
   */
  sync?: boolean | 'content';
}

/**
 * Replaces a file as a whole: temp file beside it, fsync, rename, fsync of the folder. A reader, or a crash
 * at any point, sees the old content or the new, never a mixture. The folder has to exist. What is no
 * regular file is `config` and stays; a system error (disk full, no permission) leaves the old content.
 */
export function replaceFile(path: string, data: FileData, options: ReplaceOptions = {}): void {
  const target = targetOf(path, options.followLink === true);
  try {
    const { sync = true } = options;
    const temp = writeTemp(target, data, { ...options, sync: sync !== false });
    try {
      renameOver(temp, target);
    } catch (error) {
      rmSync(temp, { force: true });
      throw error;
    }
    if (sync === true) syncFolder(dirname(target));
  } catch (error) {
    throw withPath(error, target);
  }
}

/** Makes a file, whole and durable, if nothing stands there yet; false when something does. */
export function createFile(path: string, data: FileData): boolean {
  try {
    const temp = writeTemp(path, data, { sync: true });
    let made: boolean;
    try {
      made = linkNew(temp, path);
    } finally {
      rmSync(temp, { force: true });
    }
    if (made) syncFolder(dirname(path));
    return made;
  } catch (error) {
    throw withPath(error, path);
  }
}

/**
 * Makes an empty file: true. False: it is there already; undefined: its folder is not. Of several processes one
 * makes it. It survives the end of any process, not that of the machine's power.
 */
export function claimFile(path: string): boolean | undefined {
  try {
    closeSync(openSync(path, 'wx', 0o600));
    return true;
  } catch (error) {
    const code = errnoCode(error);
    if (code === 'EEXIST') return false;
    if (code === 'ENOENT') return undefined;
    throw withPath(error, path);
  }
}

/** The text of a regular file, or undefined when there is none. Links are refused unless followed. */
export function readText(
  path: string,
  options: { followLink?: boolean; maxBytes?: number } = {},
): string | undefined {
  const bytes = readBytes(path, options);
  // UTF-8; to name it would have each run compile what looks encodings up.
  return bytes?.toString();
}

/** The bytes of a regular file, or undefined when there is none; a file over `maxBytes` is `config`. */
export function readBytes(
  path: string,
  options: { followLink?: boolean; maxBytes?: number } = {},
): Buffer | undefined {
  const fd = openRegular(path, constants.O_RDONLY, { followLink: options.followLink === true });
  if (fd === undefined) return undefined;
  try {
    if (options.maxBytes !== undefined && fstatSync(fd).size > options.maxBytes) {
      throw new StewardError('config', `${path} is larger than ${options.maxBytes} bytes.`, {
        hint: 'Move it away; steward makes a new one.',
      });
    }
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** The name of a temp file for `path`: hidden, beside it, and known to `sweepTemps`. */
export function tempOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomName(12)}.tmp`);
}

/**
 * Removes the temp files of processes that were killed before their rename: those older than `olderThanMs`
 * at the wall-clock time `nowMs`, or as far in its future. In a folder that is not steward's alone, `of` is
 * what the names of the files begin with that the temp files were for.
 */
export function sweepTemps(folder: string, olderThanMs: number, nowMs: number, of = ''): void {
  for (const name of readdirSync(folder)) {
    if (!/^\..+\.[0-9a-f]{12}\.tmp$/.test(name) || !name.startsWith(`.${of}`)) continue;
    const path = join(folder, name);
    const facts = lstatSync(path, { throwIfNoEntry: false });
    if (facts?.isFile() === true && Math.abs(nowMs - facts.mtimeMs) > olderThanMs) {
      rmSync(path, { force: true });
    }
  }
}

/** Gives the file `from` the second name `to`, unless that is taken: false. Both are in one folder. */
export function linkNew(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    const code = errnoCode(error) ?? '';
    if (code === 'EEXIST') return false;
    if (!NO_HARD_LINKS.has(code)) throw error;
    return copyNew(from, to);
  }
}

/** A file system without hard links: exclusive creation is the next best. */
const NO_HARD_LINKS = new Set(['EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

function copyNew(from: string, to: string): boolean {
  const copied = unless(['EEXIST'], () => {
    copyFileSync(from, to, constants.COPYFILE_EXCL);
    return true;
  });
  return copied === true;
}

/** Windows refuses a rename while a reader has the file open: tried again, bounded (about a second). */
export function renameOver(from: string, to: string): void {
  for (let attempt = 0; ; attempt += 1) {
    try {
      renameSync(from, to);
      return;
    } catch (error) {
      const code = errnoCode(error);
      const busy = code === 'EPERM' || code === 'EACCES' || code === 'EBUSY';
      if (process.platform !== 'win32' || !busy || attempt >= 9) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20 * (attempt + 1));
    }
  }
}

export function writeAll(fd: number, bytes: Uint8Array): void {
  let done = 0;
  while (done < bytes.length) done += writeSync(fd, bytes, done);
}

/** Makes a rename or a new name durable; systems whose folders cannot be opened or synced need no such step. */
export function syncFolder(path: string): void {
  if (process.platform === 'win32') return;
  const fd = openSync(path, 'r');
  try {
    // Some network and FUSE file systems know no sync of a folder.
    unless(['EINVAL', 'ENOTSUP'], () => fsyncSync(fd));
  } finally {
    closeSync(fd);
  }
}

/** A temp file beside `path` that holds all of the data (durably, with `sync`); none is left where it fails. */
function writeTemp(path: string, data: FileData, options: { mode?: number; sync: boolean }): string {
  const temp = tempOf(path);
  const fd = openSync(temp, 'wx', 0o600);
  try {
    try {
      if (options.mode !== undefined) fchmodSync(fd, options.mode);
      if (data instanceof Array) for (const part of data) writeAll(fd, part);
      else writeAll(fd, typeof data === 'string' ? Buffer.from(data, 'utf8') : data);
      if (options.sync) fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    rmSync(temp, { force: true });
    throw error;
  }
  return temp;
}

/** The file to replace: the path, or what this user's link at the path points to. */
function targetOf(path: string, followLink: boolean): string {
  const facts = lstatSync(path, { throwIfNoEntry: false });
  if (facts === undefined || facts.isFile()) return path;
  if (!facts.isSymbolicLink()) throw notRegular(path);
  const mine = process.getuid === undefined || facts.uid === process.getuid();
  if (!followLink || !mine) throw linkRefused(path);
  const target = endOfLink(path);
  if (!lstatSync(target).isFile()) throw notRegular(target);
  return target;
}

function endOfLink(path: string): string {
  const end = unless(['ENOENT', 'ELOOP'], () => realpathSync(path));
  if (end !== undefined) return end;
  throw new StewardError('config', `${path} is a symbolic link that leads to no file.`, {
    hint: 'Make the file that it points to, or remove the link.',
  });
}

export interface OpenOptions {
  /** Go through a symbolic link of this user or the administrator; else a link is refused. */
  followLink?: boolean;
  /** Permission bits of a file that is created; 0600. */
  mode?: number;
}

/** Systems that have no such flag have no such number. */
const NON_BLOCKING = (constants.O_NONBLOCK as number | undefined) ?? 0;
const NO_FOLLOW = (constants.O_NOFOLLOW as number | undefined) ?? 0;

/**
 * Opens a regular file. Undefined when there is none (and the flags create none); a link, a folder, a pipe,
 * a socket or a device in its place is `config`, and none of them makes the call wait.
 */
export function openRegular(path: string, flags: number, options: OpenOptions = {}): number | undefined {
  const fd = openAnything(path, flags, options);
  if (fd === undefined) return undefined;
  let regular = false;
  try {
    regular = fstatSync(fd).isFile();
  } finally {
    if (!regular) closeSync(fd);
  }
  if (!regular) throw notRegular(path);
  return fd;
}

function openAnything(path: string, flags: number, options: OpenOptions): number | undefined {
  // Windows knows neither flag: there the link is looked for first, and no pipe can stand in a folder.
  const nonBlocking = NON_BLOCKING;
  const follow = options.followLink === true;
  const noFollow = follow ? 0 : NO_FOLLOW;
  if (noFollow === 0) {
    const facts = lstatSync(path, { throwIfNoEntry: false });
    if (facts?.isSymbolicLink() === true && !(follow && isTrusted(facts.uid))) throw linkRefused(path);
  }
  try {
    return openSync(path, flags | nonBlocking | noFollow, options.mode ?? 0o600);
  } catch (error) {
    const code = errnoCode(error) ?? '';
    if (code === 'ENOENT') return undefined;
    if (!follow && (code === 'ELOOP' || code === 'EMLINK')) throw linkRefused(path, error);
    if (code === 'EISDIR' || code === 'ENXIO' || code === 'EOPNOTSUPP' || code === 'ENOTSUP') {
      throw notRegular(path, error);
    }
    throw error;
  }
}

/** A link that is followed has to be the user's own, or the administrator's. */
function isTrusted(owner: number): boolean {
  return process.getuid === undefined || owner === process.getuid() || owner === 0;
}

export function linkRefused(path: string, cause?: unknown): StewardError {
  return new StewardError('config', `${path} is a symbolic link.`, {
    hint: 'Put the file itself there; steward does not write or read its state through links.',
    cause,
  });
}

export function notRegular(path: string, cause?: unknown): StewardError {
  return new StewardError('config', `${path} is not a regular file.`, { hint: 'Move it away.', cause });
}

/** A system error that names the file that the caller meant, where it has a temp file's name or none at all. */
export function withPath(error: unknown, path: string): unknown {
  return error instanceof Error && errnoCode(error) !== undefined ? Object.assign(error, { path }) : error;
}
