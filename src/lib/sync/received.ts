import { basename, join } from 'node:path';

import { toStewardError } from '../errors';
import { replaceFile } from '../platform/files/atomic-file';
import { ensureFolder, exists, listFolder, removeFile, removeFolder } from '../platform/files/folder';
import { isMachineId } from '../platform/files/machine';
import { readObject } from '../platform/files/object-file';
import { kindOf, marksOf } from '../platform/files/stat';
import { isDay } from '../platform/time/time';
import type { MachineName } from '../time/machines/model';
import { around } from '../time/machines/read';
import { machinesFolder } from './exchange';
import { mirrorFiles } from './mirror';

/** Where to read the other machines' files: the exchange folder or, if it is not reachable, this machine's copy. */
export type ExchangeSource = ReturnType<typeof sourceOf>;

/** Returns the folder that contains this machine's copy of the exchange folder. */
export function copyFolder(machineState: string): string {
  return join(machineState, 'received');
}

/** Returns the folder in the copy with merged days. A day's file goes when what a machine published for it changes. */
export function mergedFolder(copy: string): string {
  return join(copy, 'merged');
}

/**
 * Returns the exchange folder, or the copy if the exchange folder is not reachable. The folder in a shared user
 * area (`ownFolder`) always is; the first capture creates it.
 */
export function sourceOf(folder: string, copy: string, ownFolder: string | undefined) {
  const isReachable = folder === ownFolder || kindOf(machinesFolder(folder)) === 'folder';
  if (isReachable) return { folder, isCopy: false };
  return { folder: readIndex(copy)['folder'] === folder ? copy : join(copy, 'none'), isCopy: true };
}

/**
 * Copies what all machines have published, so that reports stay complete while the exchange folder is away. Returns
 * the paths of the files that changed since the last copy.
 */
export function keepCopy(folder: string, copy: string): string[] {
  const index = readIndex(copy);
  if (index['folder'] !== folder) removeFolder(copy);
  const known = index['folder'] === folder ? index : {};
  const next: Record<string, unknown> = { folder };
  const ids = listFolder(machinesFolder(folder)).filter(isMachineId);
  for (const id of ids) {
    copyMachine(join(machinesFolder(folder), id), join(machinesFolder(copy), id), { known, next });
  }
  for (const id of listFolder(machinesFolder(copy)))
    if (!ids.includes(id)) removeFolder(join(machinesFolder(copy), id));
  const changed = Object.keys({ ...known, ...next }).filter((source) => known[source] !== next[source]);
  for (const day of changed.map((source) => basename(source).slice(0, 10)).filter(isDay))
    for (const near of around(day)) removeFile(join(mergedFolder(copy), `${near}.json`));
  const text = JSON.stringify(next);
  if (text === JSON.stringify(known)) return [];
  ensureFolder(copy);
  replaceFile(join(copy, 'index.json'), text, { sync: false });
  return changed;
}

function readIndex(copy: string): Record<string, unknown> {
  return readObject(join(copy, 'index.json')) ?? {};
}

function copyMachine(
  from: string,
  to: string,
  { known, next }: Record<'known' | 'next', Record<string, unknown>>,
): void {
  try {
    mirrorFiles(from, to, (name) => {
      const source = join(from, name);
      const mark = marksOf([source]).text.trim();
      next[source] = mark;
      return known[source] === mark && exists(join(to, name));
    });
  } catch (error) {
    // `sync status` names files that can't be read.
    if (toStewardError(error).kind === 'internal') throw error;
  }
}

/**
 * Opens the other machines' files. Without an exchange folder, there is no source. `noteAway` notes how old the copy
 * is, if the exchange folder is not reachable.
 */
export function openReceived(
  folder: string | undefined,
  { machine, exchange }: { machine: string; exchange?: string | undefined },
  localTime: (iso: string) => string,
  note: (text: string) => unknown,
) {
  const source = folder === undefined ? undefined : sourceOf(folder, copyFolder(machine), exchange);
  const noteAway = (others: readonly MachineName[]): void => {
    if (source?.isCopy !== true) return;
    for (const { name, asOf = '' } of others)
      note(`${name}: as of ${localTime(asOf)}, ${folder} not reachable`);
    if (others.length === 0) note(`Exchange folder not reachable: ${folder}. Other machines are missing.`);
  };
  return { source, noteAway };
}
