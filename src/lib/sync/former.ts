import { join } from 'node:path';

import { diskUse, removeEmptyFolder, removeFolder } from '../platform/files/folder';
import { machinesFolder } from './exchange';
import { requireFolder } from './folder';
import type { PublishDeps } from './publish';

/** Removes everything that this machine has published, also under the ids that it abandoned. Counts the files. */
export function unpublish(
  { folder, machine }: Pick<PublishDeps, 'folder' | 'machine'>,
  abandoned: readonly string[],
): number {
  requireFolder(folder);
  const folders = [machine.id, ...abandoned].map((id) => join(machinesFolder(folder), id));
  const files = folders.map((path) => diskUse(path).files);
  folders.forEach((path) => removeFolder(path));
  removeEmptyFolder(machinesFolder(folder));
  return files.reduce((sum, count) => sum + count, 0);
}
