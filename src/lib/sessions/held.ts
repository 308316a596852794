import { dirname, join } from 'node:path';

import DATA from '../../../templates/data/held-files.json';
import type { UserArea } from '../config/user-area';
import { exists, listFolder, lstatOf } from '../platform/files/folder';
import { rotatedName } from '../platform/files/journal';

/** The commands that delete files: `sessions forget`, and `sense purge --all --records`. */
type Remover = 'forget' | 'purge';

/**
 * Every file that holds a session's id, a path or a title, and that a command deletes as a whole, as SECURITY.md
 * names it; `own` is the user area. The records and logs of sense, the token usage by day and the positions in
 * `sense/state.json` are rewritten instead.
 */
export const HELD = (['own', 'machine'] as const).flatMap((place) =>
  Object.entries(DATA[place]).map(([name, by]) => ({
    name,
    by: by as readonly Remover[],
    /** Returns the path of a log, or of a folder with all files in it. */
    at: (area: UserArea) => join(area[place], name.replace(/\/$/, '')),
  })),
);

/** Returns the files that a command deletes, with rotated logs, damaged copies and temp files. */
export function heldFiles(area: UserArea, by: Remover): string[] {
  const found = HELD.filter((held) => held.by.includes(by)).flatMap(({ at }) => filesAt(at(area)));
  return [...new Set(found)];
}

/** Returns the files at a path: all in a folder, or the file itself with its copies. */
export function filesAt(path: string): string[] {
  if (lstatOf(path)?.isFolder === true) return listFolder(path).flatMap((name) => filesAt(join(path, name)));
  const rotated = rotatedName(path);
  const copies = listFolder(dirname(path))
    .map((name) => join(dirname(path), name))
    .filter((other) => isCopy(other, path));
  return [path, rotated, ...copies].filter((file) => exists(file));
}

/** Returns whether a file is a temp file or a damaged copy of `path`. */
function isCopy(file: string, path: string): boolean {
  const hidden = join(dirname(path), `.${path.slice(dirname(path).length + 1)}.`);
  return file.startsWith(`${path}.`) || (file.startsWith(hidden) && file.endsWith('.tmp'));
}
