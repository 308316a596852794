import { dirname } from 'node:path';

import { readText, replaceFile } from '../platform/files/atomic-file';
import { ensureFolder } from '../platform/files/folder';
import { isObject, parseObject, textOf } from '../platform/files/json-object';
import { isMachineId } from '../platform/files/machine';
import type { Day } from '../platform/time/time';

/**
 * Purged or forgotten data whose published files must be removed. A day that still has local data is not
 * removed.
 */
export interface Removal {
  day?: Day;
  before?: Day;
  /** Whether to remove session files even if their day has local data. Set if the sessions were forgotten. */
  sessions?: boolean;
}

/** The contents of the machine-local file `sync.json`. */
export interface SyncState {
  /** The machine's name, if the user has renamed it. */
  name?: string;
  /** The exchange folder to which this state applies. */
  folder?: string;
  /** The fingerprint of the local data at the last publication. */
  mark?: string;
  /** The day on which all published files were last compared. */
  checked?: Day;
  publishedMs?: number;
  /** The fingerprint of each published day. */
  days: Record<Day, string>;
  removals: Removal[];
  /** Ids of adopted machines whose published files have not been withdrawn everywhere yet. */
  retire?: string[];
  /** Why the last run failed. */
  problem?: { at: string; message: string; hint?: string };
}

const MAX_BYTES = 4 * 1024 * 1024;

/** Reads the state. If the file is missing or damaged, the next run compares everything. */
export function readState(path: string): SyncState {
  const value = parseObject(readText(path, { maxBytes: MAX_BYTES }) ?? '') ?? {};
  const { days, removals, retire, publishedMs, problem } = value;
  const [name, folder, mark, checked] = ['name', 'folder', 'mark', 'checked'].map((key) =>
    textOf(value[key]),
  );
  return {
    ...(name === undefined ? {} : { name }),
    ...(folder === undefined ? {} : { folder }),
    ...(mark === undefined ? {} : { mark }),
    ...(checked === undefined ? {} : { checked }),
    ...(typeof publishedMs === 'number' ? { publishedMs } : {}),
    days: isObject(days) ? (days as SyncState['days']) : {},
    removals: Array.isArray(removals) ? removals.filter(isObject) : [],
    ...(Array.isArray(retire) ? { retire: retire.map(String).filter(isMachineId) } : {}),
    ...(isObject(problem) ? { problem: problem as unknown as Required<SyncState>['problem'] } : {}),
  };
}

export function writeState(path: string, state: SyncState): void {
  ensureFolder(dirname(path));
  replaceFile(path, `${JSON.stringify(state)}\n`);
}
