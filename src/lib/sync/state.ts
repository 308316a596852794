import { dirname } from 'node:path';

import { readText, replaceFile } from '../platform/files/atomic-file';
import { ensureFolder } from '../platform/files/folder';
import { definedOnly, isObject, parseObject, textOf } from '../platform/files/json-object';
import { isMachineId } from '../platform/files/machine';
import type { DayRange } from '../platform/time/period';
import { addDays, isDay, type Day } from '../platform/time/time';

/**
 * Purged or forgotten data whose published files must be removed. A day that still has local data is not
 * removed.
 */
export interface Removal extends DayRange {
  /** Whether to remove session files even if their day has local data. Set if the sessions were forgotten. */
  sessions?: boolean;
}

/** Why a machine needs a new id: another machine has the same one, or has adopted this machine. */
export type Renewal = 'cloned' | 'retired';

/** The contents of the machine-local file `sync.json`. */
export interface SyncState {
  /** What must still be removed from the exchange folder. */
  removals: Removal[];
  /** Ids of adopted machines whose published files have not been withdrawn yet. */
  retire?: string[];
  /** The machine's name, if the user has renamed it. */
  name?: string;
  /** The exchange folder to which this state applies. */
  folder?: string;
  /** The fingerprint of the local data at the last publication. */
  mark?: string;
  /** The day on which all published files were last compared. */
  checked?: Day;
  publishedMs?: number;
  /** Whether published files may contain details; absent if unknown. */
  details?: boolean;
  /** The fingerprint of each published day. */
  days: Record<Day, string>;
  /**
   * The former exchange folders and git repositories (OWNER/REPO) that may contain published data, oldest first,
   * with the number of removals since then.
   */
  others?: Record<string, number>;
  /** Days that this machine has lost in part. Their published files have the rest. */
  kept?: readonly Day[];
  /** The runs of machine.json that this machine wrote or has seen; the last one is the next to write. */
  runs?: string[];
  /** When another machine's run was found in this machine's file, in epoch ms. */
  foreign?: number[];
  /** The id that this machine is giving up, and why, until its new id is in place. */
  renewing?: { from: string; why: Renewal };
  /** When this machine got a new id. */
  renewedMs?: number;
  /** Why the last run failed. */
  problem?: { at: string; message: string; hint?: string };
}

const MAX_BYTES = 4 * 1024 * 1024;

/** Reads the state. If the file is missing or damaged, the next run compares everything. */
export function readState(path: string): SyncState {
  const value = parseObject(readText(path, { maxBytes: MAX_BYTES }) ?? '') ?? {};
  const {
    days,
    others,
    publishedMs,
    details,
    problem,
    kept,
    runs,
    foreign,
    renewing,
    renewedMs,
    removals,
    retire,
  } = value;
  const listOf = (list: unknown): string[] | undefined =>
    Array.isArray(list) ? list.map(String) : undefined;
  const numberOf = (item: unknown): number | undefined => (typeof item === 'number' ? item : undefined);
  return {
    ...definedOnly({
      name: textOf(value['name']),
      folder: textOf(value['folder']),
      mark: textOf(value['mark']),
      checked: textOf(value['checked']),
      publishedMs: numberOf(publishedMs),
      details: typeof details === 'boolean' ? details : undefined,
      kept: listOf(kept)?.filter(isDay),
      runs: listOf(runs),
      foreign: listOf(foreign)?.map(Number),
      renewing: asRenewing(renewing),
      renewedMs: numberOf(renewedMs),
      retire: listOf(retire)?.filter(isMachineId),
      others: isObject(others) ? (others as Required<SyncState>['others']) : undefined,
      problem: isObject(problem) ? (problem as unknown as Required<SyncState>['problem']) : undefined,
    }),
    days: isObject(days) ? (days as SyncState['days']) : {},
    removals: Array.isArray(removals) ? removals.filter(isObject).map(asRemoval) : [],
  };
}

/** Reads a removal; earlier builds stored one day, or the day before which everything was removed. */
function asRemoval({ day, before, from, to, sessions }: Record<string, unknown>): Removal {
  const dayOf = (value: unknown): Day | undefined =>
    typeof value === 'string' && isDay(value) ? value : undefined;
  const end = dayOf(before);
  return definedOnly({
    from: dayOf(from ?? day),
    to: dayOf(to ?? day) ?? (end === undefined ? undefined : addDays(end, -1)),
    sessions: sessions === true ? true : undefined,
  });
}

function asRenewing(value: unknown): SyncState['renewing'] {
  if (!isObject(value)) return undefined;
  const { from, why } = value;
  if (typeof from !== 'string' || !isMachineId(from)) return undefined;
  return why === 'cloned' || why === 'retired' ? { from, why } : undefined;
}

const MAX_OTHERS = 10;

/**
 * Returns the state after a switch to another exchange folder, or to none. In a folder that was used before
 * something was purged, everything is rewritten from the local data.
 */
export function withFolder(state: SyncState, folder: string | undefined): SyncState {
  const { name, folder: previous, removals, retire, others = {}, runs, renewing, renewedMs } = state;
  if (previous === folder) return state;
  const { [folder ?? '']: count = 0, ...rest } = others;
  if (previous !== undefined) rest[previous] = removals.length + (retire?.length ?? 0);
  return {
    ...definedOnly({ name, folder, runs, renewing, renewedMs, retire }),
    removals: count > 0 ? [{ sessions: true }] : [],
    days: {},
    others: Object.fromEntries(Object.entries(rest).slice(-MAX_OTHERS)),
  };
}

/** Records what must be removed from the exchange folder, and that the former ones still contain it. */
export function withPending(state: SyncState, removal: Removal): SyncState {
  const isSame = (each: Removal): boolean => JSON.stringify(each) === JSON.stringify(removal);
  const removals = [...state.removals.filter((each) => !isSame(each)), removal];
  return { ...withRemainder(state), removals };
}

/** Records that an adopted machine's published files must be withdrawn from the exchange folder. */
export function withRetired(state: SyncState, id: string): SyncState {
  return { ...withRemainder(state), retire: [...new Set([...(state.retire ?? []), id])] };
}

function withRemainder({ others = {}, ...state }: SyncState): SyncState {
  const counts = Object.entries(others).map(([place, count]): [string, number] => [place, count + 1]);
  return { ...state, others: Object.fromEntries(counts) };
}

/** Returns the former folders and git repositories that contain purged data. */
export function pendingFormer({ others = {} }: SyncState): string[] {
  return Object.keys(others).filter((place) => (others[place] ?? 0) > 0);
}

/** Returns the state with a git repository in which published data may remain. */
export function withFormer(state: SyncState, repo: string): SyncState {
  return { ...state, others: { [repo]: 0, ...state.others } };
}

/** Returns the state without former folders and git repositories in which nothing remains. */
export function withoutFormer(state: SyncState, former: readonly string[]): SyncState {
  const others = Object.entries(state.others ?? {}).filter(([path]) => !former.includes(path));
  return { ...state, others: Object.fromEntries(others) };
}

export function writeState(path: string, state: SyncState): void {
  ensureFolder(dirname(path));
  replaceFile(path, `${JSON.stringify(state)}\n`);
}
