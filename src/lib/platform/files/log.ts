import { closeSync, constants, fstatSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

import { StewardError, errnoCode, unless } from '../../errors';
import { ensureFolder, lstatOf } from './folder';
import { naming, openRegular } from './atomic-file';

export interface LogOptions {
  /** A log of this size becomes `rotatedName`, in place of the one before; without it, it is never renamed. */
  rotateBytes?: number;
  /** Wall-clock ms; with it a rotation that a killed process began is given up after a minute. */
  nowMs?: number;
}

const LF = 10;
const CLAIM_STALE_MS = 60_000;

/**
 * Appends one line (without its line feed) to a log that many processes write at once, in one write, and makes
 * the folder where it is missing. Not synced: a line may be lost with the machine's power, never torn into
 * another. What must survive that is planned and completed (jsonl.ts). Returns the size of the log behind the line, bytes.
 */
export function appendLog(path: string, line: string, options: LogOptions = {}): number {
  try {
    const fd = openLog(path);
    let size: number;
    try {
      size = fstatSync(fd).size;
      const bytes = Buffer.from(isTorn(fd, size) ? `\n${line}\n` : `${line}\n`);
      writeWhole(fd, bytes);
      size += bytes.length;
      // While this process stalled the log was rotated twice: nobody reads what it wrote.
      if (fstatSync(fd).nlink === 0) return appendLog(path, line, options);
    } finally {
      closeSync(fd);
    }
    if (options.rotateBytes !== undefined && size > options.rotateBytes) {
      rotate(path, options.rotateBytes, options.nowMs);
    }
    return size;
  } catch (error) {
    throw naming(error, path);
  }
}

/** `events.jsonl` → `events.1.jsonl`, `daemon.log` → `daemon.1.log` */
export function rotatedName(path: string): string {
  return path.replace(/\.(jsonl|log)$/, '.1.$1');
}

function openLog(path: string): number {
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND;
  const fd = openRegular(path, flags);
  if (fd !== undefined) return fd;
  ensureFolder(dirname(path));
  const made = openRegular(path, flags);
  if (made !== undefined) return made;
  throw new StewardError('unavailable', `${dirname(path)} was removed while it was used.`, {
    hint: 'Try again.',
  });
}

function writeWhole(fd: number, bytes: Buffer): void {
  // A disk that is full takes a part at most: the next line is set apart from it.
  for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done);
}

function isTorn(fd: number, size: number): boolean {
  if (size === 0) return false;
  const last = Buffer.allocUnsafe(1);
  return readSync(fd, last, 0, 1, size - 1) === 1 && last[0] !== LF;
}

/** Of several processes that find the log too large, the one with the claim renames it, and looks again first. */
function rotate(path: string, maxBytes: number, nowMs: number | undefined): void {
  const claim = `${path}.rotating`;
  const fd = takeClaim(claim, nowMs);
  if (fd === undefined) return;
  try {
    // A reader on Windows holds it: the next line tries again.
    unless(['EPERM', 'EACCES', 'EBUSY', 'ENOENT'], () => {
      if ((lstatOf(path)?.size ?? 0) > maxBytes) renameSync(path, rotatedName(path));
    });
  } finally {
    closeSync(fd);
    rmSync(claim, { force: true });
  }
}

function takeClaim(claim: string, nowMs: number | undefined): number | undefined {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
  try {
    return openRegular(claim, flags);
  } catch (error) {
    if (errnoCode(error) !== 'EEXIST') throw error;
    const age = nowMs === undefined ? 0 : Math.abs(nowMs - (lstatOf(claim)?.mtimeMs ?? nowMs));
    if (age > CLAIM_STALE_MS) rmSync(claim, { force: true });
    return undefined;
  }
}
