import { join } from 'node:path';
import * as v from 'valibot';

import { definedOnly } from '../platform/files/json-object';
import { readObject, writeObject } from '../platform/files/object-file';
import type { DayRange } from '../platform/time/period';
import { isDay } from '../platform/time/time';

const TEXT = v.string();
const MS = v.number();
const DAY = v.pipe(v.string(), v.check(isDay));
/** An invalid value counts as missing. */
const maybe = <T>(schema: v.GenericSchema<T>) => v.fallback(v.optional(schema), undefined);

/**
 * Purged or forgotten data whose published files must be removed. A day that still has local data is not removed.
 * `sessions`: session files are removed even so, because the sessions were forgotten.
 */
const REMOVAL = v.object({ from: maybe(DAY), to: maybe(DAY), sessions: maybe(v.boolean()) });
export type Removal = DayRange & { sessions?: boolean };

/** The contents of the machine-local file `sync.json`. */
const STATE = v.object({
  /** What must still be removed from the exchange folder. */
  removals: v.fallback(v.array(REMOVAL), []),
  /** The machine's name, if the user has renamed it. */
  name: maybe(TEXT),
  /** The exchange folder to which this state applies. */
  folder: maybe(TEXT),
  /** The fingerprint of the local data at the last publication. */
  mark: maybe(TEXT),
  /** The day on which all published files were last compared. */
  checked: maybe(TEXT),
  publishedMs: maybe(MS),
  /** Whether published files may contain details; absent if unknown. */
  details: maybe(v.boolean()),
  /** Whether this machine shares settings, and the fingerprint of their files when it last did. */
  settings: maybe(v.boolean()),
  settingsMark: maybe(TEXT),
  /** The fingerprint of each published day. */
  days: v.fallback(v.record(DAY, TEXT), {}),
  /**
   * The former exchange folders and git repositories (OWNER/REPO) that may contain published data, oldest first,
   * with the number of removals since then.
   */
  others: maybe(v.record(TEXT, v.number())),
  /** Days that this machine has lost in part. Their published files have the rest. */
  kept: maybe(v.array(DAY)),
  /** The runs of machine.json that this machine wrote or has seen; the last one is the next to write. */
  runs: maybe(v.array(TEXT)),
  /** When another machine's run was found in this machine's file, in epoch ms. */
  foreign: maybe(v.array(MS)),
  /** When this machine got a new id. */
  renewedMs: maybe(MS),
  /** Why the last run failed. */
  problem: maybe(v.object({ at: TEXT, message: TEXT, hint: v.optional(TEXT) })),
});
type Stored = v.InferOutput<typeof STATE>;
export type SyncState = Pick<Stored, 'days'> & { removals: Removal[] } & {
  [K in Exclude<keyof Stored, 'days' | 'removals'>]?: Exclude<Stored[K], undefined>;
};

/** @param machine the folder of what this machine alone stores */
export function stateFile({ machine }: { machine: string }): string {
  return join(machine, 'sync.json');
}

/** Reads the state. If the file is missing or damaged, the next run compares everything. */
export function readState(path: string): SyncState {
  const { removals, ...state } = v.parse(STATE, readObject(path) ?? {});
  return { ...definedOnly(state), days: state.days, removals: removals.map(definedOnly) };
}

const MAX_OTHERS = 10;

/**
 * Returns the state after a switch to another exchange folder, or to none. In a folder that was used before
 * something was purged, everything is rewritten from the local data.
 */
export function withFolder(state: SyncState, folder: string | undefined): SyncState {
  const { name, folder: previous, removals, others = {}, runs, renewedMs, settings } = state;
  if (previous === folder) return state;
  const { [folder ?? '']: count = 0, ...rest } = others;
  if (previous !== undefined) rest[previous] = removals.length;
  return {
    ...definedOnly({ name, folder, runs, renewedMs, settings: folder === undefined ? undefined : settings }),
    removals: count > 0 ? [{ sessions: true }] : [],
    days: {},
    others: Object.fromEntries(Object.entries(rest).slice(-MAX_OTHERS)),
  };
}

/** Records what must be removed from the exchange folder, and that the former ones still contain it. */
export function withPending(state: SyncState, removal: Removal): SyncState {
  const isSame = (each: Removal): boolean => JSON.stringify(each) === JSON.stringify(removal);
  const removals = [...state.removals.filter((each) => !isSame(each)), removal];
  const counts = Object.entries(state.others ?? {}).map(([place, count]) => [place, count + 1] as const);
  return { ...state, others: Object.fromEntries(counts), removals };
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
  writeObject(path, state);
}
