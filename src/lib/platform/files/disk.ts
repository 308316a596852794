import { statfsSync } from 'node:fs';

/** What the disk of a path has left for this user. */
export interface FreeSpace {
  bytes: number;
  /** Files that can still be made; null where the file system has no such bound. */
  files: number | null;
}

/** Asks the file system that holds the path, which has to be there. */
export function freeSpace(path: string): FreeSpace {
  const { bavail, bsize, files, ffree } = statfsSync(path);
  return { bytes: bavail * bsize, files: files > 0 ? ffree : null };
}
