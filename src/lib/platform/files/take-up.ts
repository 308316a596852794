import { join } from 'node:path';

import { renameOver, replaceFile } from './atomic-file';
import { ensureFolder, listFolder } from './folder';
import { objectIn } from './object-file';
import { folderOf } from './spool';

const PLACES = ['waiting', 'claimed'] as const;

/**
 * Reassigns the entries of the machines in `ids` to the machine `to`. Moves each file before changing it, so that a
 * crash can't duplicate an entry.
 */
export function takeUp(
  from: { path: string },
  into: { path: string },
  { ids, to }: { ids: readonly string[]; to: string },
): void {
  for (const place of PLACES) {
    const [source, target] = [folderOf(from, place), folderOf(into, place)];
    const isTheirs = (folder: string, name: string): boolean =>
      ids.includes(machineOf(join(folder, name)) ?? '');
    const moving = source === target ? [] : listFolder(source).filter((name) => isTheirs(source, name));
    if (moving.length > 0) ensureFolder(target);
    for (const name of moving) renameOver(join(source, name), join(target, name));
    for (const name of listFolder(target).filter((each) => isTheirs(target, each)))
      assign(join(target, name), to);
  }
}

function assign(path: string, to: string): void {
  const entry = objectIn(path);
  if (entry !== undefined && entry['machine'] !== to)
    replaceFile(path, `${JSON.stringify({ ...entry, machine: to })}\n`);
}

function machineOf(path: string): string | undefined {
  const machine = path.endsWith('.json') ? objectIn(path)?.['machine'] : undefined;
  return typeof machine === 'string' ? machine : undefined;
}

type Spools = { outbox: string; spool: string };

/** Takes over the given machines' pending deliveries and captures. */
export function takeUpAll(from: Spools, into: Spools, machines: { ids: readonly string[]; to: string }) {
  takeUp({ path: from.outbox }, { path: into.outbox }, machines);
  takeUp({ path: from.spool }, { path: into.spool }, machines);
}
