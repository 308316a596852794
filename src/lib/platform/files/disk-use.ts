import { readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';

import { unless } from '../../errors';
import { lstatOf, removeEmptyFolder, removeFolder } from './folder';

/** How much lies at a path: files (links are one each, and not followed) and their bytes. */
export interface DiskUse {
  files: number;
  bytes: number;
}

export function diskUse(path: string): DiskUse {
  const facts = lstatOf(path);
  if (facts === undefined) return { files: 0, bytes: 0 };
  if (!facts.isFolder) return { files: 1, bytes: facts.size };
  const uses = readdirSync(path).map((name) => diskUse(join(path, name)));
  return {
    files: uses.reduce((sum, { files }) => sum + files, 0),
    bytes: uses.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** The path without links; undefined when nothing is there. */
export function realPath(path: string): string | undefined {
  return unless(['ENOENT', 'ENOTDIR'], () => realpathSync(path));
}

/**
 * Removes folders when this process ends, after everything else that it keeps for the next run: its own code cache is
 * written at the very end. Each is removed with what is in it; then the folders of `ifEmpty`, in order.
 */
export function removeAtExit(folders: readonly string[], ifEmpty: readonly string[]): void {
  process.once('exit', () => {
    for (const folder of folders) removeFolder(folder);
    for (const folder of ifEmpty) removeEmptyFolder(folder);
  });
}
