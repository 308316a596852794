import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
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

import { StewardError, errnoCode } from '../errors';

export interface ReplaceOptions {
  /** Permission bits of the new file; 0600. */
  mode?: number;
  /** Write through a symbolic link that this user owns (config.yaml, settings.json); else a link is refused. */
  followLink?: boolean;
}

/**
 * Replaces a file as a whole: temp file beside it, fsync, rename, fsync of the folder. A reader, or a crash
 * at any point, sees the old content or the new, never a mixture. The folder has to exist.
 */
export function replaceFile(path: string, data: string | Uint8Array, options: ReplaceOptions = {}): void {
  const target = targetOf(path, options.followLink === true);
  const temp = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString('hex')}.tmp`);
  const bytes = typeof data === 'string' ? Buffer.from(data, 'utf8') : data;
  const fd = openSync(temp, 'wx', options.mode ?? 0o600);
  try {
    try {
      writeAll(fd, bytes);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameWithRetry(temp, target);
  } catch (error) {
    rmSync(temp, { force: true });
    throw error;
  }
  syncFolder(dirname(target));
}

/** The text of a regular file, or undefined when there is none. Links are refused unless followed. */
export function readText(
  path: string,
  options: { followLink?: boolean; maxBytes?: number } = {},
): string | undefined {
  const bytes = readBytes(path, options);
  return bytes?.toString('utf8');
}

export function readBytes(
  path: string,
  options: { followLink?: boolean; maxBytes?: number } = {},
): Buffer | undefined {
  if (options.followLink === true) refuseForeignLink(path);
  let fd: number;
  try {
    // O_NONBLOCK: a named pipe in the file's place must not hang the reader.
    const noFollow = options.followLink === true ? 0 : (constants.O_NOFOLLOW ?? 0);
    fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | noFollow);
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return undefined;
    if (errnoCode(error) === 'ELOOP') throw linkRefused(path, error);
    throw error;
  }
  try {
    const facts = fstatSync(fd);
    if (!facts.isFile()) {
      throw new StewardError('config', `${path} is not a regular file.`, { hint: 'Move it away.' });
    }
    if (options.maxBytes !== undefined && facts.size > options.maxBytes) {
      throw new StewardError('config', `${path} is larger than ${options.maxBytes} bytes.`, {
        hint: 'Move it away; steward makes a new one.',
      });
    }
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Removes what `replaceFile` left of runs that were killed before their rename. */
export function sweepTemps(folder: string, olderThanMs: number, nowMs: number): void {
  for (const name of readdirSync(folder)) {
    if (!/^\..+\.[0-9a-f]{12}\.tmp$/.test(name)) continue;
    const path = join(folder, name);
    const facts = lstatSync(path, { throwIfNoEntry: false });
    if (facts?.isFile() === true && nowMs - facts.mtimeMs > olderThanMs) rmSync(path, { force: true });
  }
}

function targetOf(path: string, followLink: boolean): string {
  const facts = lstatSync(path, { throwIfNoEntry: false });
  if (facts === undefined || !facts.isSymbolicLink()) return path;
  const mine = process.getuid === undefined || facts.uid === process.getuid();
  if (!followLink || !mine) throw linkRefused(path);
  return realpathSync(path);
}

/** A link that is followed has to be the user's own, or the administrator's. */
function refuseForeignLink(path: string): void {
  const facts = lstatSync(path, { throwIfNoEntry: false });
  if (facts?.isSymbolicLink() !== true || process.getuid === undefined) return;
  if (facts.uid !== process.getuid() && facts.uid !== 0) throw linkRefused(path);
}

function linkRefused(path: string, cause?: unknown): StewardError {
  return new StewardError('config', `${path} is a symbolic link.`, {
    hint: 'Put the file itself there; steward does not write or read its state through links.',
    cause,
  });
}

export function writeAll(fd: number, bytes: Uint8Array): void {
  let done = 0;
  while (done < bytes.length) done += writeSync(fd, bytes, done);
}

/** Windows refuses a rename while a reader has the file open: tried again, bounded (about a second). */
function renameWithRetry(from: string, to: string): void {
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

/** Makes a rename or a new name durable; systems whose folders cannot be opened or synced need no such step. */
export function syncFolder(path: string): void {
  if (process.platform === 'win32') return;
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } catch (error) {
    if (errnoCode(error) !== 'EINVAL') throw error;
  } finally {
    closeSync(fd);
  }
}
