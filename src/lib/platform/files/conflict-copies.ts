import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { unless } from '../../errors';

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
