import {
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fstatSync,
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
import { closing, syncFile, syncFolder } from './durable';
import { randomName } from './short-hash';

/** File content. Strings are written as UTF-8. */
type FileData = string | Uint8Array | readonly Uint8Array[];

interface ReplaceOptions {
  /** Permission bits of the new file, regardless of the umask. By default, the umask applies to 0600. */
  mode?: number;
  /** Whether to follow a symbolic link that this user owns. Default: links are refused. */
  followLink?: boolean;
  /**
   * By default, the new content is durable when the function returns. With `content`, a power failure leaves
   * the old or the new content. With `false`, a power failure may lose or empty the file.
   */
  sync?: boolean | 'content';
}

/**
 * Replaces a file atomically: readers see the old or the new content, even after a crash. The folder must
 * exist. Throws `config` if the path isn't a regular file.
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

/** Creates a file durably; returns false if the path already exists. */
export function createFile(path: string, data: FileData): boolean {
  try {
    const temp = writeTemp(path, data, { sync: true });
    let isCreated: boolean;
    try {
      isCreated = linkNew(temp, path);
    } finally {
      rmSync(temp, { force: true });
    }
    if (isCreated) syncFolder(dirname(path));
    return isCreated;
  } catch (error) {
    throw withPath(error, path);
  }
}

/**
 * Creates an empty file. Returns false if the file exists, and undefined if the folder doesn't. Only one of
 * several concurrent callers gets true.
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

interface ReadOptions {
  /** Whether to follow a symbolic link that this user or root owns. Default: links are refused. */
  followLink?: boolean;
  /** Maximum size. Throws `config` if the file is larger. */
  maxBytes?: number;
}

/** Returns the text of a regular file, or undefined if it does not exist. */
export function readText(path: string, options: ReadOptions = {}): string | undefined {
  return readBytes(path, options)?.toString();
}

/** Returns the bytes of a regular file, or undefined if it does not exist. */
export function readBytes(path: string, options: ReadOptions = {}): Buffer | undefined {
  const { followLink = false, maxBytes = Infinity } = options;
  return inFile(
    path,
    (fd) => {
      if (fstatSync(fd).size > maxBytes) {
        throw new StewardError('config', `${path} is larger than ${maxBytes} bytes.`, {
          hint: 'Move or rename the file; steward creates a new one.',
        });
      }
      return readFileSync(fd);
    },
    { followLink },
  );
}

/** Calls `read` with an open regular file. Returns undefined if the file doesn't exist. */
export function inFile<T>(path: string, read: (fd: number) => T, options?: OpenOptions): T | undefined {
  const fd = openRegular(path, constants.O_RDONLY, options);
  return fd === undefined ? undefined : closing(fd, read);
}

/** Returns the path of a hidden temp file in the same folder. `sweepTemps` recognizes such names. */
export function tempOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomName(12)}.tmp`);
}

/**
 * Removes temp files that are older than `olderThanMs` or dated in the future. If `of` is set, removes only
 * the temp files of files whose names start with `of`.
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

/**
 * Creates the hard link `to` in the same folder, or a copy if hard links aren't supported. Returns false if
 * `to` exists.
 */
export function linkNew(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    const code = errnoCode(error) ?? '';
    if (code === 'EEXIST') return false;
    if (!NO_HARD_LINKS.has(code)) throw error;
    const isCopied = unless(['EEXIST'], () => {
      copyFileSync(from, to, constants.COPYFILE_EXCL);
      return true;
    });
    return isCopied === true;
  }
}

const NO_HARD_LINKS = new Set(['EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** Renames a file. On Windows, retries for about a second, because open files block renames. */
export function renameOver(from: string, to: string): void {
  for (let attempt = 0; ; attempt += 1) {
    try {
      renameSync(from, to);
      return;
    } catch (error) {
      const isBusy = ['EPERM', 'EACCES', 'EBUSY'].includes(errnoCode(error) ?? '');
      if (process.platform !== 'win32' || !isBusy || attempt >= 9) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20 * (attempt + 1));
    }
  }
}

export function writeAll(fd: number, bytes: Uint8Array): void {
  let done = 0;
  while (done < bytes.length) done += writeSync(fd, bytes, done);
}

const TEMPS_STALE_MS = 3_600_000;
const sweptFolders = new Set<string>();

/** Removes what killed runs left in a folder more than an hour ago, once per process. */
export function sweepOnce(folder: string): void {
  if (sweptFolders.has(folder)) return;
  sweptFolders.add(folder);
  // If the folder can't be listed, the write itself reports the problem.
  unless(['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'], () => sweepTemps(folder, TEMPS_STALE_MS, Date.now()));
}

function writeTemp(path: string, data: FileData, options: { mode?: number; sync: boolean }): string {
  sweepOnce(dirname(path));
  const temp = tempOf(path);
  const opened = openSync(temp, 'wx', 0o600);
  try {
    closing(opened, (fd) => {
      if (options.mode !== undefined) fchmodSync(fd, options.mode);
      if (data instanceof Array) for (const part of data) writeAll(fd, part);
      else writeAll(fd, typeof data === 'string' ? Buffer.from(data, 'utf8') : data);
      if (options.sync) syncFile(fd);
    });
  } catch (error) {
    rmSync(temp, { force: true });
    throw error;
  }
  return temp;
}

/** Returns the file to replace: the path itself, or its target if it is a link owned by this user. */
function targetOf(path: string, followLink: boolean): string {
  const facts = lstatSync(path, { throwIfNoEntry: false });
  if (facts === undefined || facts.isFile()) return path;
  if (!facts.isSymbolicLink()) throw notRegular(path);
  const isOwn = process.getuid === undefined || facts.uid === process.getuid();
  if (!followLink || !isOwn) throw linkRefused(path);
  const target = unless(['ENOENT', 'ELOOP'], () => realpathSync(path));
  if (target === undefined) {
    throw new StewardError('config', `${path} is a broken symbolic link.`, {
      hint: "Create the link's target, or remove the link.",
    });
  }
  if (!lstatSync(target).isFile()) throw notRegular(target);
  return target;
}

interface OpenOptions {
  /** Whether to follow a symbolic link that this user or root owns. Default: links are refused. */
  followLink?: boolean;
  /** Mode of a new file. Default: 0600. */
  mode?: number;
}

/** O_NONBLOCK is undefined on Windows. */
const NON_BLOCKING = (constants.O_NONBLOCK as number | undefined) ?? 0;
const NO_FOLLOW = (constants.O_NOFOLLOW as number | undefined) ?? 0;

/**
 * Opens a regular file without blocking; returns undefined if it doesn't exist and the flags don't create it.
 * Throws `config` for a link, folder, pipe, socket or device.
 */
export function openRegular(path: string, flags: number, options: OpenOptions = {}): number | undefined {
  const fd = openAnything(path, flags, options);
  if (fd === undefined) return undefined;
  let isRegular = false;
  try {
    isRegular = fstatSync(fd).isFile();
  } finally {
    if (!isRegular) closeSync(fd);
  }
  if (!isRegular) throw notRegular(path);
  return fd;
}

function openAnything(path: string, flags: number, options: OpenOptions): number | undefined {
  const follow = options.followLink === true;
  const noFollow = follow ? 0 : NO_FOLLOW;
  if (noFollow === 0) {
    const facts = lstatSync(path, { throwIfNoEntry: false });
    if (facts?.isSymbolicLink() === true && !(follow && isTrusted(facts.uid))) throw linkRefused(path);
  }
  try {
    return openSync(path, flags | NON_BLOCKING | noFollow, options.mode ?? 0o600);
  } catch (error) {
    const code = errnoCode(error) ?? '';
    if (code === 'ENOENT') return undefined;
    if (!follow && (code === 'ELOOP' || code === 'EMLINK')) throw linkRefused(path, error);
    if (['EISDIR', 'ENXIO', 'EOPNOTSUPP', 'ENOTSUP'].includes(code)) throw notRegular(path, error);
    throw error;
  }
}

function isTrusted(owner: number): boolean {
  return process.getuid === undefined || owner === process.getuid() || owner === 0;
}

function linkRefused(path: string, cause?: unknown): StewardError {
  return new StewardError('config', `${path} is a symbolic link.`, {
    hint: 'Replace the link with a regular file; steward does not follow links to its data.',
    cause,
  });
}

function notRegular(path: string, cause?: unknown): StewardError {
  return new StewardError('config', `${path} is not a regular file.`, { hint: 'Move or rename it.', cause });
}

/** Sets the `path` of a system error. Node may omit the path, or use the path of a temp file. */
export function withPath(error: unknown, path: string): unknown {
  return error instanceof Error && errnoCode(error) !== undefined ? Object.assign(error, { path }) : error;
}
