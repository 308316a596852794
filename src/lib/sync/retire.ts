import { join } from 'node:path';

import { exists, removeFile, removeFolder } from '../platform/files/folder';
import { requireFolder } from './folder';
import {
  clockMinute,
  dayFiles,
  infoText,
  machineFolderOf,
  removedFiles,
  write,
  type PublishDeps,
} from './publish';

/**
 * Publishes an adopted machine's remaining days in that machine's folder. If `isWithdrawn` is set, first
 * removes published days that have no local data.
 */
export function publishRetired(deps: PublishDeps, isWithdrawn: boolean): void {
  requireFolder(deps.folder);
  const own = machineFolderOf(deps);
  const local = deps.local();
  const days = local.days();
  if (days.length === 0) {
    if (isWithdrawn) removeFolder(own);
    return;
  }
  if (isWithdrawn) for (const { path } of removedFiles(own, {}, local)) removeFile(join(own, path));
  const result = { files: 0, bytes: 0 };
  for (const day of days)
    for (const file of dayFiles(deps, local, day, { mayShrink: true })) write(own, file, result);
  if (exists(join(own, 'machine.json'))) return;
  const text = infoText(deps, local, { publishedAt: clockMinute(deps) });
  write(own, { path: 'machine.json', text, bytes: 0, change: 'new' }, result);
}
