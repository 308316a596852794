import { dirname, join } from 'node:path';

import { readBytes, replaceFile } from '../platform/files/atomic-file';
import { ensureFolder, listFolder, removeFile } from '../platform/files/folder';
import { kindOf } from '../platform/files/stat';
import { isDay } from '../platform/time/time';
import { DAY_FILES } from './format';

const MAX_BYTES = 8 * 1024 * 1024;

/** Returns the paths of a machine's published files, relative to its folder. Ignores other files. */
function publishedFiles(folder: string): string[] {
  const days = Object.entries(DAY_FILES).flatMap(([kind, end]) =>
    listFolder(join(folder, kind))
      .filter((name) => name.endsWith(end) && isDay(name.slice(0, -end.length)))
      .map((name) => join(kind, name)),
  );
  return ['machine.json', 'told.jsonl', ...days].filter((name) => kindOf(join(folder, name)) === 'file');
}

/**
 * Makes the published files in `to` match the files in `from`. Replaces files atomically. Returns whether any
 * file changed.
 */
export function mirrorFiles(from: string, to: string): boolean {
  let hasChanged = false;
  const names = publishedFiles(from);
  for (const name of names) {
    const data = readBytes(join(from, name), { maxBytes: MAX_BYTES });
    const path = join(to, name);
    if (data === undefined || readBytes(path)?.equals(data) === true) continue;
    ensureFolder(dirname(path));
    replaceFile(path, data);
    hasChanged = true;
  }
  for (const name of publishedFiles(to)) {
    if (names.includes(name)) continue;
    removeFile(join(to, name));
    hasChanged = true;
  }
  return hasChanged;
}
