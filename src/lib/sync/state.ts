import { dirname } from 'node:path';

import { readText, replaceFile } from '../platform/files/atomic-file';
import { ensureFolder } from '../platform/files/folder';
import { isObject, parseObject, textOf } from '../platform/files/json-object';
import type { Day } from '../platform/time/time';

/** Purged or forgotten data whose published files must be removed. Files that still have local data stay. */
export interface Removal {
  day?: Day;
  before?: Day;
  /** Also removes session files that have local data, because the sessions were forgotten. */
  sessions?: boolean;
}

/** `sync.json` in the machine-local state. */
export interface SyncState {
  /** The machine's name, if it was renamed. */
  name?: string;
  /** The exchange folder that the other fields refer to. */
  folder?: string;
  /** The fingerprint of the local data when it was last published. */
  mark?: string;
  /** The day on which every published file was last compared. */
  checked?: Day;
  publishedMs?: number;
  /** The fingerprint of each published day. */
  days: Record<Day, string>;
  /** Removals that have not been applied yet. */
  removals: Removal[];
  /** Why the last run failed. */
  problem?: { at: string; message: string; hint?: string };
}

const MAX_BYTES = 4 * 1024 * 1024;

/** Reads the state. A missing or damaged file makes the next run compare everything. */
export function readState(path: string): SyncState {
  const value = parseObject(readText(path, { maxBytes: MAX_BYTES }) ?? '') ?? {};
  const { days, removals, publishedMs, problem } = value;
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
    ...(isObject(problem) ? { problem: problem as unknown as Required<SyncState>['problem'] } : {}),
  };
}

export function writeState(path: string, state: SyncState): void {
  ensureFolder(dirname(path));
  replaceFile(path, `${JSON.stringify(state)}\n`);
}
