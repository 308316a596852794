import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { StewardError, unless } from '../../errors';
import { createFile, readText, replaceFile } from './atomic-file';
import { ensureFolder } from './folder';
import { machineStatePath } from './paths';

/**
 * The id of this machine: random, made once, kept in machine-local state. It tells events
 * and locks of machines apart that share a synced user area, and says nothing else about the machine.
 * Of any number of first runs at once, all get the same one.
 */
export function machineId(statePath: string = machineStatePath()): string {
  const path = join(statePath, 'machine-id');
  const stored = readId(path);
  if (stored !== undefined) return stored;
  // Loaded once in the life of a machine: every hook would wait 2 ms for it.
  const { randomBytes } = process.getBuiltinModule('node:crypto');
  const made = `${randomBytes(6).toString('hex')}\n`;
  ensureFolder(statePath);
  if (!createFile(path, made) && readId(path) === undefined) replaceFile(path, made);
  const id = readId(path);
  if (id !== undefined) return id;
  throw new StewardError('unavailable', `${path} does not keep the machine id.`, {
    hint: 'Check the disk, and that no other program writes this file.',
  });
}

/** The same where it was made already: for what only reads. */
export function knownMachineId(statePath: string = machineStatePath()): string | undefined {
  return readId(join(statePath, 'machine-id'));
}

function readId(path: string): string | undefined {
  const text = readText(path, { maxBytes: 4096 })?.trim();
  return text !== undefined && /^[0-9a-f]{12}$/.test(text) ? text : undefined;
}

/** Syncthing, Dropbox, Nextcloud and ownCloud, Resilio, Seafile: names that nobody gives by hand. */
const NAMED =
  /\.sync-conflict-\d{8}-\d{6}|conflicted copy|\((?:case|selective sync) conflict\)|[_ (]conflict-\d{8}-\d{6}|\.conflict$|\(SFConflict /i;
/** Google Drive and iCloud count, OneDrive adds the machine: told only where the file itself is there, too. */
const BESIDE = /^(.+?)(?: \(\d+\)| \d+|-[A-Z][A-Z0-9-]{2,14})(\.[a-z]+)$/;
const ABSENT = ['ENOENT', 'ENOTDIR', 'EACCES'];
const MAX_NAMES = 20_000;
const MAX_DEPTH = 4;

/**
 * Copies that a sync tool made below a folder because two machines wrote the same file; paths within it. `depth`: how
 * many folders deep; 0 is the folder alone.
 */
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
