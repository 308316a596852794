import { join } from 'node:path';

import { replaceFile } from '../platform/files/atomic-file';
import { diskUse, removeEmptyFolder, removeFolder } from '../platform/files/folder';
import { toIso } from '../platform/time/clock';
import { machinesFolder } from './exchange';
import { requireFolder } from './folder';
import { toMinute } from './format';
import { infoIn, machineFolderOf, type PublishDeps } from './publish';

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

/** Tells the other machines that this one stopped publishing, so that they don't wait for more of its days. */
export function markLeft(deps: Pick<PublishDeps, 'folder' | 'machine' | 'clock'>): void {
  const own = machineFolderOf(deps);
  const info = infoIn(own);
  if (info === undefined) return;
  const text = JSON.stringify({ ...info, left: toMinute(toIso(deps.clock.now())) });
  replaceFile(join(own, 'machine.json'), `${text}\n`);
}
