import { join } from 'node:path';

import type { Clock } from '../../platform/time/clock';
import { gitFolderAt } from '../../platform/files/git-folder';
import { errnoCode } from '../../errors';
import { entriesIn } from '../../platform/files/stat';

export interface Found {
  /** Absolute, in the order of their names. */
  repositories: string[];
  /** True: a bound was reached, so there may be more. */
  cut: boolean;
}

export interface ScanBounds {
  /** Folders below the first one. */
  depth: number;
  folders: number;
  repositories: number;
  ms: number;
}

export const SCAN: ScanBounds = { depth: 4, folders: 20_000, repositories: 200, ms: 5_000 };

/** Where nobody keeps repositories of his own, and where there is much to look through. */
const SKIPPED = new Set(['node_modules', 'vendor', 'target', 'dist', 'build', 'Library', 'AppData', 'snap']);

/**
 * The git repositories at or below a folder, nearest first: bounded in depth, number and time. Links are not followed, hidden
 * folders and what package managers fill are passed over, and what lies inside of a repository is part of it.
 */
export function findRepositories(
  clock: Pick<Clock, 'monotonic'>,
  folder: string,
  bounds: ScanBounds = SCAN,
): Found {
  const until = clock.monotonic() + bounds.ms;
  const repositories: string[] = [];
  let level = [folder];
  let seen = 0;
  for (let depth = 0; depth <= bounds.depth && level.length > 0; depth += 1) {
    const next: string[] = [];
    for (const path of level) {
      seen += 1;
      if (seen > bounds.folders || repositories.length >= bounds.repositories || clock.monotonic() > until) {
        return { repositories: repositories.sort(), cut: true };
      }
      if (isRepository(path)) repositories.push(path);
      else next.push(...foldersIn(path));
    }
    level = next;
  }
  return { repositories: repositories.sort(), cut: false };
}

function isRepository(path: string): boolean {
  return readable(() => gitFolderAt(path) !== undefined) ?? false;
}

function foldersIn(path: string): string[] {
  const entries = readable(() => entriesIn(path)) ?? [];
  return entries
    .filter(({ name, isFolder }) => isFolder && !name.startsWith('.') && !SKIPPED.has(name))
    .map(({ name }) => join(path, name));
}

/** A folder that may not be looked into holds no repository of this user. */
function readable<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (['EACCES', 'EPERM', 'EIO', 'ENOTCONN'].includes(errnoCode(error) ?? '')) return undefined;
    throw error;
  }
}
