import { join } from 'node:path';

import { StewardError, toStewardError } from '../../errors';
import { createFile, renameOver, replaceFile, sweepTemps } from './atomic-file';
import { ensureFolder, exists, listFolder, lstatOf, removeFile } from './folder';
import { bury as buryFile, deadNames, moveInto, pruneDead, type Burial } from './dead-letters';
import { isObject } from './json-object';
import { objectIn } from './object-file';

/**
 * A queue with one file per entry. An entry is in `claimed` while a process is working on it, and moves to
 * `dead` if it fails permanently. Only one process can move an entry.
 */
export interface Spool<T> extends Codec<T> {
  path: string;
}

/** The format of a spool's entries: JSON objects with a `version`. */
export interface Codec<T> {
  version: number;
  /**
   * Parses a stored entry. Returns `newer` for an entry from a later steward version; such an entry is left
   * unchanged.
   */
  parse: (value: Record<string, unknown>) => T | 'newer' | undefined;
  isName: (name: string) => boolean;
  /** Returns an entry's file name, which sorts by time. */
  nameOf: (entry: T) => string;
  /** Returns the id of the machine that created the entry. Only that machine processes the entry. */
  machineOf: (entry: T) => string;
  /** Returns the entry's creation time (ms), parsed from its name. */
  timeOf: (name: string) => number;
  /** Whether entries survive a power failure as well as a crash. */
  durable: boolean;
  /** Maximum number of entries; a full spool rejects new ones. */
  cap: number;
  /** Returns whether an entry counts toward the maximum. Default: all entries count. */
  counts?: (name: string) => boolean;
  /** Returns the error to throw if the spool is full. */
  full: (count: number, path: string) => StewardError;
}

type SpoolPlace = 'waiting' | 'claimed' | 'dead';

const TEMPS_STALE_MS = 60_000;
/** Age at which another machine's unprocessed entry counts as orphaned. */
const FOREIGN_MS = 24 * 3_600_000;
const LOOKED_AT = 1000;

/** Formats a time as sortable text, such as `20261120T081500123Z`. */
export function compactTime(ms: number): string {
  return new Date(ms).toISOString().replace(/[-:.]/g, '');
}

/** Parses the time (ms) at the start of an entry's name; returns NaN if the name has none. */
export function timeOfName(name: string): number {
  const [, year, month, day, hour, minute, second, ms] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z/.exec(name) ?? [];
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`);
}

export function folderOf({ path }: { path: string }, place: SpoolPlace): string {
  return place === 'waiting' ? path : join(path, place);
}

/** Returns the names of the entries, oldest first. */
export function namesIn<T>(spool: Spool<T>, place: SpoolPlace): string[] {
  return listFolder(folderOf(spool, place)).filter(spool.isName).sort();
}

/** Returns an entry, or undefined if it is missing, damaged, a link, or from a newer version. */
export function readEntry<T>(spool: Spool<T>, place: SpoolPlace, name: string): T | undefined {
  return inspect(spool, place, name).entry;
}

/** Returns the readable entries, oldest first. */
export function entriesIn<T>(spool: Spool<T>, place: SpoolPlace, limit = Infinity): T[] {
  return namesIn(spool, place)
    .slice(0, limit)
    .flatMap((name) => inspect(spool, place, name).entry ?? []);
}

function inspect<T>(spool: Spool<T>, place: SpoolPlace, name: string): { entry?: T; damaged?: true } {
  const path = join(folderOf(spool, place), name);
  if (!exists(path)) return {};
  const { version, ...rest } = objectIn(path) ?? {};
  if (typeof version === 'number' && version > spool.version) return {};
  const entry = version === spool.version ? spool.parse(rest) : undefined;
  if (entry === 'newer') return {};
  return entry === undefined ? { damaged: true } : { entry };
}

/** Throws if `more` entries don't fit in the spool. */
export function checkRoom<T>(spool: Spool<T>, more: number): void {
  const count = namesIn(spool, 'waiting').filter(spool.counts ?? (() => true)).length;
  if (count + more > spool.cap) throw spool.full(count, spool.path);
}

/**
 * Adds an entry. If the name is taken, a durable spool throws `unavailable`, and any other spool replaces the
 * existing entry.
 */
export function put<T>(spool: Spool<T>, entry: T): void {
  ensureFolder(spool.path);
  const name = spool.nameOf(entry);
  const path = join(spool.path, name);
  if (!spool.durable) replaceFile(path, entryText(spool, entry), { sync: false });
  else if (!createFile(path, entryText(spool, entry))) {
    throw new StewardError('unavailable', `${name} is already in ${spool.path}.`, { hint: 'Try again.' });
  }
}

function entryText<T>(spool: Spool<T>, entry: T): string {
  return `${JSON.stringify({ version: spool.version, ...entry })}\n`;
}

/** Claims a waiting entry; returns false if another process claimed it first. */
export function claim<T>(spool: Spool<T>, name: string): boolean {
  return moveInto(folderOf(spool, 'claimed'), join(spool.path, name));
}

/** Stores the progress of a claimed entry. */
export function record<T>(spool: Spool<T>, name: string, entry: T): void {
  replaceFile(join(folderOf(spool, 'claimed'), name), entryText(spool, entry), {
    sync: spool.durable ? 'content' : false,
  });
}

/** Returns a claimed entry to the queue, optionally under a new name. */
export function release<T>(spool: Spool<T>, name: string, newName = name): void {
  renameOver(join(folderOf(spool, 'claimed'), name), join(spool.path, newName));
}

/** Removes a claimed entry once it has been processed. */
export function finish<T>(spool: Spool<T>, name: string): void {
  removeFile(join(folderOf(spool, 'claimed'), name));
}

/** Moves an entry to `dead`; returns false if another process took it first. */
export function bury<T>(spool: Spool<T>, place: Exclude<SpoolPlace, 'dead'>, name: string, burial: Burial) {
  return buryFile(folderOf(spool, 'dead'), join(folderOf(spool, place), name), burial);
}

/** Deletes a waiting entry; returns false if another process took it first. */
export function withdraw<T>(spool: Spool<T>, name: string): boolean {
  if (!takeAside(spool, name)) return false;
  removeFile(join(folderOf(spool, 'dead'), name));
  return true;
}

/** Moves a waiting entry to `dead`; returns false if another process took it first. */
export function takeAside<T>(spool: Spool<T>, name: string): boolean {
  return moveInto(folderOf(spool, 'dead'), join(spool.path, name));
}

/** Returns a dead entry to the queue. */
export function revive<T>(spool: Spool<T>, name: string, entry: T): void {
  put(spool, entry);
  removeFile(join(folderOf(spool, 'dead'), name));
}

/**
 * Returns whether another machine's entry is orphaned, because it was created too long ago or is dated too far
 * in the future.
 */
export function isOrphaned<T>(spool: Spool<T>, name: string, nowMs: number): boolean {
  return !(Math.abs(nowMs - spool.timeOf(name)) <= FOREIGN_MS);
}

/** Returns the number of other machines' entries among the oldest 1,000 claimed and 1,000 waiting entries. */
export function countForeign<T>(spool: Spool<T>, machineId: string): number {
  const entries = [...entriesIn(spool, 'claimed', LOOKED_AT), ...entriesIn(spool, 'waiting', LOOKED_AT)];
  return entries.filter((entry) => spool.machineOf(entry) !== machineId).length;
}

/**
 * Lists the entries that processes left in `claimed` when they died: this machine's entries, unreadable files,
 * and other machines' orphaned entries. Only the process that is working on the spool may call this.
 */
export function abandoned<T>(spool: Spool<T>, machineId: string, nowMs: number) {
  return namesIn(spool, 'claimed')
    .filter((name) => lstatOf(join(folderOf(spool, 'claimed'), name))?.isFile === true)
    .map((name) => ({ name, entry: readEntry(spool, 'claimed', name) }))
    .filter(
      ({ name, entry }) =>
        entry === undefined || spool.machineOf(entry) === machineId || isOrphaned(spool, name, nowMs),
    );
}

interface SpoolWork<T> {
  clock: { now: () => number };
  /**
   * Processes the entry. Throws to retry the entry, returns `later` to leave it in the queue, or returns
   * `{refused}` with a reason to move it to `dead`.
   */
  run: (entry: T) => unknown;
  /** Returns the entry for the next attempt, or undefined to give up. */
  again: (entry: T) => T | undefined;
}

/**
 * Claims and processes an entry, then removes it, requeues it or moves it to `dead`. If the work is canceled,
 * requeues the entry and throws. Returns `gone` if another process took the entry.
 */
export async function attempt<T>(
  spool: Spool<T>,
  name: string,
  entry: T,
  work: SpoolWork<T>,
): Promise<'done' | 'failed' | 'later' | 'dead' | 'gone'> {
  if (!claim(spool, name)) return 'gone';
  let outcome: unknown;
  try {
    outcome = await work.run(entry);
  } catch (error) {
    const { kind, message } = toStewardError(error);
    if (kind !== 'canceled')
      return retry(spool, name, work.again(entry), { atMs: work.clock.now(), reason: message });
    release(spool, name);
    throw error;
  }
  if (outcome === 'later') {
    release(spool, name);
    return 'later';
  }
  if (isObject(outcome) && typeof outcome['refused'] === 'string') {
    return retry(spool, name, undefined, { atMs: work.clock.now(), reason: outcome['refused'] });
  }
  finish(spool, name);
  return 'done';
}

/** Requeues a claimed entry as `next`, or moves it to `dead` if `next` is undefined. */
export function retry<T>(
  spool: Spool<T>,
  name: string,
  next: T | undefined,
  burial: Burial,
): 'failed' | 'dead' | 'gone' {
  if (next === undefined) return bury(spool, 'claimed', name, burial) ? 'dead' : 'gone';
  record(spool, name, next);
  release(spool, name, spool.nameOf(next));
  return 'failed';
}

/** Removes old dead entries and the temp files of killed processes. Must not run concurrently. */
export function sweep<T>(spool: Spool<T>, nowMs: number): void {
  for (const place of ['waiting', 'claimed'] as const) {
    if (exists(folderOf(spool, place))) sweepTemps(folderOf(spool, place), TEMPS_STALE_MS, nowMs);
  }
  pruneDead(folderOf(spool, 'dead'), nowMs);
}

export function spoolCounts<T>(spool: Spool<T>) {
  const [waiting, claimed] = [namesIn(spool, 'waiting'), namesIn(spool, 'claimed')];
  const found = [
    ...claimed.map((name) => inspect(spool, 'claimed', name)),
    ...waiting.map((name) => inspect(spool, 'waiting', name)),
  ];
  return {
    waiting: waiting.length,
    claimed: claimed.length,
    /** Number of entries that are damaged or aren't regular files. */
    unreadable: found.filter(({ damaged }) => damaged).length,
    dead: deadNames(folderOf(spool, 'dead')).length,
    /** The oldest waiting or claimed entry. */
    oldest: found.find(({ entry }) => entry !== undefined)?.entry,
  };
}
