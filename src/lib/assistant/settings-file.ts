import { isUtf8 } from 'node:buffer';
import { basename, dirname } from 'node:path';

import { StewardError, toStewardError } from '../errors';
import { createFile, readBytes, replaceFile, sweepTemps } from '../platform/files/atomic-file';
import { exists, lstatOf, modeOf, removeFile } from '../platform/files/folder';
import { sha256, type Backup } from '../platform/files/install-manifest';
import { kindOf } from '../platform/files/stat';

const MAX_BYTES = 8 * 1024 * 1024;
/** What others may read of a settings file that steward makes: nothing. */
const NEW_MODE = 0o600;

/**
 * The text of an assistant's settings file, a byte order mark included; undefined when there is none. What is
 * no UTF-8 text, no regular file, or a link that is not this user's or leads nowhere, is `config`.
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
      throw new StewardError('config', `${place} is a link to a ${what} that is not there.`, {
        hint: `Make that ${what}, or remove the link.`,
      });
    }
    return undefined;
  }
  if (!isUtf8(bytes)) {
    throw new StewardError('config', `${path} is not UTF-8 text.`, {
      hint: 'Store it as UTF-8; it is as it was.',
    });
  }
  return bytes.toString('utf8');
}

/**
 * Replaces the settings file as a whole, through a link of the user's, with the mode that it has. One that is
 * read-only is meant to stay as it is: `unavailable`.
 */
export function writeSettings(path: string, text: string): void {
  const mode = modeOf(path) ?? NEW_MODE;
  if ((mode & 0o200) === 0) {
    throw new StewardError('unavailable', `${path} is read-only.`, {
      hint: 'Allow it to be written, then run the command again.',
    });
  }
  replaceFile(path, text, { followLink: true, mode });
}

/** What goes wrong with the assistant's own folder is not mended by another user area. */
export function aboutSettings(path: string, error: unknown): unknown {
  const known = toStewardError(error);
  const folder = dirname(path);
  if (!known.message.includes(folder) || known.hint?.includes('STEWARD_HOME') !== true) return error;
  return new StewardError(known.kind, known.message, {
    hint: `It belongs to the assistant, whose settings are ${path}. CLAUDE_CONFIG_DIR names another folder for them.`,
    cause: error,
  });
}

/** Removes a settings file that steward made. One that was moved since and linked to stays: false. */
export function removeSettings(path: string): boolean {
  if (lstatOf(path)?.isFile !== true) return false;
  removeFile(path);
  return true;
}

/** Removes the temp files of an install that was killed. The caller is the only one at work. */
export function sweepSettings(path: string, nowMs: number): void {
  if (exists(dirname(path))) sweepTemps(dirname(path), -1, nowMs, basename(path));
}

/** The copy that is kept of a text, beside the file: its time and the begin of its hash make up the name. */
export function backupOf(path: string, text: string, at: string): Backup {
  const stamp = at.replace(/\.\d+/, '').replace(/[-:]/g, '');
  const hash = sha256(text);
  return { path: `${path}.steward-backup-${stamp}-${hash.slice(0, 8)}`, sha256: hash };
}

/** Writes a backup, private: settings hold tokens. One that is there already is the same. */
export function writeBackup(backup: Backup, text: string): void {
  createFile(backup.path, text);
}

/** The text of a backup that is as it was written; undefined when it is gone, or somebody changed it. */
export function readBackup(backup: Backup): string | undefined {
  const bytes = readBytes(backup.path, { maxBytes: MAX_BYTES });
  return bytes !== undefined && sha256(bytes) === backup.sha256 ? bytes.toString('utf8') : undefined;
}

/** Removes a backup. One that somebody changed stays: false. */
export function removeBackup(backup: Backup): boolean {
  if (!exists(backup.path)) return true;
  if (readBackup(backup) === undefined) return false;
  removeFile(backup.path);
  return true;
}
