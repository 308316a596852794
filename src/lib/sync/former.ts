import { isAbsolute, join } from 'node:path';

import { throwIfBug } from '../errors';
import { diskUse, exists, removeEmptyFolder, removeFolder } from '../platform/files/folder';
import { kindOf } from '../platform/files/stat';
import { machinesFolder } from './exchange';
import { requireFolder } from './folder';
import { applyRemovals, dayFiles, machineFolderOf, write, type PublishDeps } from './publish';
import { readState, withFolder, writeState, type Removal, type SyncState } from './state';

/** Returns the former folders and git repositories from which purged data was not removed yet. */
export function pendingFormer({ others = {} }: SyncState): string[] {
  return Object.keys(others).filter((former) => (others[former]?.removals.length ?? 0) > 0);
}

/** Removes purged data from the former folders that are reachable. `folder` is the current folder. */
export function purgeFormer(deps: PublishDeps, folder: string | undefined): void {
  for (const former of pendingFormer(withFolder(readState(deps.state), folder))) {
    if (!isAbsolute(former) || kindOf(machinesFolder(former)) !== 'folder') continue;
    const { others = {}, ...state } = withFolder(readState(deps.state), folder);
    const { [former]: pending, ...rest } = others;
    const moved = { ...deps, folder: former, former: () => [] };
    try {
      rewrite(moved, pending?.removals ?? []);
    } catch (error) {
      // A read-only or full folder stays pending, and the status names it.
      throwIfBug(error);
      continue;
    }
    const isEmpty = !exists(machineFolderOf(moved)) && pending?.retire === undefined;
    writeState(deps.state, {
      ...state,
      others: isEmpty ? rest : { ...others, [former]: { ...pending, removals: [] } },
    });
  }
}

/** Rewrites the published files without purged data. Publishes no new file. */
function rewrite(deps: PublishDeps, removals: readonly Removal[]): void {
  const own = machineFolderOf(deps);
  if (!exists(own)) return;
  const local = deps.local();
  applyRemovals(own, removals, local);
  const result = { files: 0, bytes: 0 };
  for (const day of local.days())
    for (const file of dayFiles(deps, local, day, { mayShrink: true }))
      if (file.change !== 'new') write(own, file, result);
}

/**
 * Removes everything that this machine has published for itself and the adopted machines. Returns the number of
 * removed files.
 */
export function unpublish(
  { folder, machine }: Pick<PublishDeps, 'folder' | 'machine'>,
  adopted: readonly string[],
): number {
  requireFolder(folder);
  const folders = [machine.id, ...adopted].map((id) => join(machinesFolder(folder), id));
  const files = folders.map((path) => diskUse(path).files);
  folders.forEach((path) => removeFolder(path));
  removeEmptyFolder(machinesFolder(folder));
  return files.reduce((sum, count) => sum + count, 0);
}
