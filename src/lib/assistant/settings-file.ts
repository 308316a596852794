import { isUtf8 } from 'node:buffer';
import { basename, dirname } from 'node:path';

import { StewardError, withOwnHint } from '../errors';
import { readBytes, replaceFile, sweepTemps } from '../platform/files/atomic-file';
import { exists, lstatOf, modeOf, removeFile } from '../platform/files/folder';
import { sha256, type Backup } from '../platform/files/install-manifest';
import { kindOf } from '../platform/files/stat';

const MAX_BYTES = 8 * 1024 * 1024;
const NEW_MODE = 0o600;

/**
 * Returns the settings file's text, including a byte order mark, or undefined if the file is missing. Throws
 * `config` if the file isn't UTF-8, or if the path is a broken link or a link that another user owns.
 */
export function readSettings(path: string): string | undefined {
  let bytes: Buffer | undefined;
  try {
    bytes = readBytes(path, { followLink: true, maxBytes: MAX_BYTES });
  } catch (error) {
    throw aboutSettings(path, error);
  }
  if (bytes === undefined) {
    for (const place of [path, dirname(path)]) {
      if (lstatOf(place)?.isLink !== true || kindOf(place) !== undefined) continue;
      const what = place === path ? 'file' : 'folder';
      throw new StewardError('config', `${place} is a link to a missing ${what}.`, {
        hint: `Create the ${what} or remove the link.`,
      });
    }
    return undefined;
  }
  if (!isUtf8(bytes)) {
    throw new StewardError('config', `${path} is not UTF-8 text.`, {
      hint: 'Save the file as UTF-8.',
    });
  }
  return bytes.toString('utf8');
}

/** Replaces the settings file, keeping its mode. Follows a link that the user owns. */
export function writeSettings(path: string, text: string): void {
  replaceFile(path, text, { followLink: true, mode: writableMode(path) });
}

/** Returns the settings file's mode. Throws `unavailable` if the file is read-only. */
export function writableMode(path: string): number {
  const mode = modeOf(path) ?? NEW_MODE;
  if ((mode & 0o200) === 0) {
    throw new StewardError('unavailable', `${path} is read-only.`, {
      hint: 'Make the file writable, then retry.',
    });
  }
  return mode;
}

export function aboutSettings(path: string, error: unknown): unknown {
  return withOwnHint(error, dirname(path), "Fix this in the assistant's settings folder, then retry.");
}

/** Removes a settings file that steward created; returns false if the path is now a link. */
export function removeSettings(path: string): boolean {
  if (lstatOf(path)?.isFile !== true) return false;
  removeFile(path);
  return true;
}

/** Removes temp files from interrupted installs. The caller must hold the lock. */
export function sweepSettings(path: string, nowMs: number): void {
  if (exists(dirname(path))) sweepTemps(dirname(path), -1, nowMs, basename(path));
}

/** Returns the path and hash of a settings backup. The file name contains the time and the hash. */
export function backupOf(path: string, text: string, at: string): Backup {
  const stamp = at.replace(/\.\d+/, '').replace(/[-:]/g, '');
  const hash = sha256(text);
  return { path: `${path}.steward-backup-${stamp}-${hash.slice(0, 8)}`, sha256: hash };
}

/** Returns the text of a backup; undefined if the backup is missing or has been changed. */
export function readBackup(backup: Backup): string | undefined {
  const bytes = readBytes(backup.path, { maxBytes: MAX_BYTES });
  return bytes !== undefined && sha256(bytes) === backup.sha256 ? bytes.toString('utf8') : undefined;
}

/** Removes a backup unless the backup has been changed. Returns whether the backup was removed. */
export function removeBackup(backup: Backup): boolean {
  if (!exists(backup.path)) return true;
  if (readBackup(backup) === undefined) return false;
  removeFile(backup.path);
  return true;
}
