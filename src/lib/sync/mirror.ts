import { dirname, join } from 'node:path';

import { readBytes, replaceFile } from '../platform/files/atomic-file';
import { ensureFolder, listFolder, removeFile } from '../platform/files/folder';
import { kindOf } from '../platform/files/stat';
import { isDay } from '../platform/time/time';
import { MAX_DAY_BYTES } from './exchange';
import { DAY_FILES } from './format';
import { SHARED_FILE } from './settings';

/** The published files that don't belong to a day. */
export const PUBLISHED_HEADS: readonly string[] = ['machine.json', 'told.jsonl', SHARED_FILE];
export const PUBLISHED_FOLDERS: readonly string[] = Object.keys(DAY_FILES);

/** Returns whether steward publishes a file of this name, which is relative to the machine's folder. */
export function isPublishedName(name: string): boolean {
  const [folder = '', file = '', ...rest] = name.split('/');
  const end = Object.entries(DAY_FILES).find(([kind]) => kind === folder)?.[1];
  if (end === undefined) return PUBLISHED_HEADS.includes(name);
  return rest.length === 0 && file.endsWith(end) && isDay(file.slice(0, -end.length));
}

/** Returns the names of a machine's published files. Ignores other files. */
export function publishedFiles(folder: string): string[] {
  const days = PUBLISHED_FOLDERS.flatMap((kind) =>
    listFolder(join(folder, kind)).map((name) => `${kind}/${name}`),
  );
  return [...PUBLISHED_HEADS, ...days].filter(
    (name) => isPublishedName(name) && kindOf(join(folder, name)) === 'file',
  );
}

/**
 * Makes the published files in `to` match the files in `from`. Replaces files atomically.
 * @param isCurrent returns whether a file is known to match without being read
 */
export function mirrorFiles(from: string, to: string, isCurrent: (name: string) => boolean = () => false) {
  const names = publishedFiles(from);
  for (const name of names) {
    if (isCurrent(name)) continue;
    const data = readBytes(join(from, name), { maxBytes: MAX_DAY_BYTES });
    const path = join(to, name);
    if (data === undefined || readBytes(path)?.equals(data) === true) continue;
    ensureFolder(dirname(path));
    replaceFile(path, data, { sync: false });
  }
  for (const name of publishedFiles(to)) if (!names.includes(name)) removeFile(join(to, name));
}
