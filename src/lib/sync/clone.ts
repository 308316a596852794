import { join } from 'node:path';

import { undefinedIf } from '../errors';
import { exists, removeFolder } from '../platform/files/folder';
import { withMachineLock } from '../platform/files/lock';
import type { Machine } from '../config/user-area';

const LOCK_WAIT_MS = 120_000;

/** Returns the folder of this machine's clone of the git repository, which is only a cache. */
export function cloneFolder({ area }: Pick<Machine, 'area'>): string {
  return join(area.machine, 'exchange');
}

/** Runs `work` under the lock for the clone. */
export function withClone<T>(machine: Machine, work: () => T | Promise<T>): Promise<T> {
  return withMachineLock(machine, 'exchange', LOCK_WAIT_MS, work);
}

export async function removeClone(machine: Machine): Promise<void> {
  await removeFolders(machine, [cloneFolder(machine)]);
}

/** Deletes what the clone contains of this machine's published data. The next exchange fetches the rest again. */
export async function purgeClone(machine: Machine): Promise<void> {
  const clone = cloneFolder(machine);
  // While an exchange is running, the clone is busy. The next exchange then deletes the data.
  await removeFolders(machine, [join(clone, 'own'), join(clone, '.git')]).catch(undefinedIf('locked'));
}

async function removeFolders(machine: Machine, paths: readonly string[]): Promise<void> {
  const found = paths.filter((path) => exists(path));
  if (found.length > 0) await withClone(machine, () => found.forEach(removeFolder));
}
