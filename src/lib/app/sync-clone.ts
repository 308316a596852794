import { join } from 'node:path';

import { toStewardError } from '../errors';
import { exists, removeFolder } from '../platform/files/folder';
import { withLock } from '../platform/files/lock';
import type { Context } from './context';

const LOCK_WAIT_MS = 120_000;

/** Returns the folder of this machine's clone of the git repository, which is only a cache. */
export function cloneFolder({ area }: Pick<Context, 'area'>): string {
  return join(area.machine, 'exchange');
}

/** Runs `work` under the lock for the clone. */
export function withClone<T>({ area, clock, machineId }: Context, work: () => Promise<T>): Promise<T> {
  return withLock(join(area.machine, 'exchange.lock'), { clock, machineId, waitMs: LOCK_WAIT_MS }, work);
}

export async function removeClone(context: Context): Promise<void> {
  await removeFolders(context, [cloneFolder(context)]);
}

/** Deletes what the clone contains of this machine's published data. The next exchange fetches the rest again. */
export async function purgeClone(context: Context): Promise<void> {
  const clone = cloneFolder(context);
  try {
    await removeFolders(context, [join(clone, 'own'), join(clone, '.git')]);
  } catch (error) {
    // While an exchange is running, the clone is busy. The next exchange then deletes the data.
    if (toStewardError(error).kind !== 'locked') throw error;
  }
}

async function removeFolders(context: Context, paths: readonly string[]): Promise<void> {
  const found = paths.filter((path) => exists(path));
  if (found.length > 0) await withClone(context, () => Promise.resolve(found.forEach(removeFolder)));
}
