import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { StewardError, unless } from '../../errors';
import { createFile, readText, replaceFile } from './atomic-file';
import { ensureFolder } from './folder';
import { machineStatePath } from './paths';

/**
 * Returns the random id that distinguishes machines with a synced user area. Creates it once; concurrent
 * first runs get the same id.
 */
export function machineId(statePath: string = machineStatePath()): string {
  const path = join(statePath, 'machine-id');
  const stored = readId(path);
  if (stored !== undefined) return stored;
  // A lazy load saves every hook 2 ms.
  const { randomBytes } = process.getBuiltinModule('node:crypto');
  const made = `${randomBytes(6).toString('hex')}\n`;
  ensureFolder(statePath);
  if (!createFile(path, made) && readId(path) === undefined) replaceFile(path, made);
  const id = readId(path);
  if (id !== undefined) return id;
  throw new StewardError('unavailable', `Could not store the machine id in ${path}.`, {
    hint: 'Check the disk and the permissions, and that no other program writes this file.',
  });
}

/** Returns the machine id, or undefined if there is none yet. */
export function knownMachineId(statePath: string = machineStatePath()): string | undefined {
  return readId(join(statePath, 'machine-id'));
}

function readId(path: string): string | undefined {
  const text = readText(path, { maxBytes: 4096 })?.trim();
  return text !== undefined && /^[0-9a-f]{12}$/.test(text) ? text : undefined;
}

/** Names of conflict copies by Syncthing, Dropbox, Nextcloud, ownCloud, Resilio and Seafile. */
const NAMED =
  /\.sync-conflict-\d{8}-\d{6}|conflicted copy|\((?:case|selective sync) conflict\)|[_ (]conflict-\d{8}-\d{6}|\.conflict$|\(SFConflict /i;
/**
 * Google Drive and iCloud append a number, OneDrive the machine name. These are conflict copies only if the
 * original exists.
 */
const BESIDE = /^(.+?)(?: \(\d+\)| \d+|-[A-Z][A-Z0-9-]{2,14})(\.[a-z]+)$/;
const ABSENT = ['ENOENT', 'ENOTDIR', 'EACCES'];
const MAX_NAMES = 20_000;
const MAX_DEPTH = 4;

/** Returns the relative paths of conflict copies that a sync tool created below a folder. */
export function conflictCopies(
  root: string,
  depth = MAX_DEPTH,
  within = '',
  left = { names: MAX_NAMES },
): string[] {
  const folder = join(root, within);
  const entries = unless(ABSENT, () => readdirSync(folder, { withFileTypes: true })) ?? [];
  const names = new Set(entries.map(({ name }) => name));
  return entries.flatMap((entry) => {
    left.names -= 1;
    if (left.names < 0) return [];
    const path = join(within, entry.name);
    if (entry.isDirectory()) return depth > 0 ? conflictCopies(root, depth - 1, path, left) : [];
    const [, start, end] = BESIDE.exec(entry.name) ?? [];
    const isCopy = NAMED.test(entry.name) || (start !== undefined && names.has(`${start}${end ?? ''}`));
    return isCopy ? [path] : [];
  });
}
