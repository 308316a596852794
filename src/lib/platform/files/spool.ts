import { join } from 'node:path';

import { StewardError, toStewardError } from '../../errors';
import { createFile, readText, renameOver, replaceFile, sweepTemps } from './atomic-file';
import { ensureFolder, exists, listFolder, lstatOf, removeFile } from './folder';
import { bury as buryFile, deadNames, moveInto, pruneDead, type Burial } from './dead-letters';
import { isObject, parseObject } from './json-object';

/**
 * A queue that survives the process: one file an entry, in one of three folders. An entry waits in the spool's own
 * folder, is in `claimed` while a process works on it, and in `dead` after it was given up. It moves by renames, which
 * one process wins.
 */
export interface Spool<T> extends Codec<T> {
  path: string;
}

/** How the entries of a spool are stored: JSON objects with a `version`. */
export interface Codec<T> {
  version: number;
  /** The entry in a stored object; `newer`: a later version wrote it, and it is left alone. */
  parse: (value: Record<string, unknown>) => T | 'newer' | undefined;
  isName: (name: string) => boolean;
  /** The file's name; in the order of time. */
  nameOf: (entry: T) => string;
  /** The id of the machine that left the entry, and does its work. */
  machineOf: (entry: T) => string;
  /** When the entry was left, wall-clock ms. */
  timeOf: (name: string) => number;
  /** False: an entry survives the end of any process, but not the loss of the machine's power. */
  durable: boolean;
  /** A full spool takes no more. */
  cap: number;
  /** Does an entry with this name count against the cap? All do where it is left out. */
  counts?: (name: string) => boolean;
  /** `unavailable`, in the words of the feature. */
  full: (count: number, path: string) => StewardError;
}

export type Place = 'waiting' | 'claimed' | 'dead';

const MAX_BYTES = 64 * 1024;
const TEMPS_STALE_MS = 60_000;
/** Counting a full spool costs as much as working on some of it. */
const COUNT_MS = 1000;
/** Another machine does its own entries; what it has not done after this, it never will. */
const FOREIGN_MS = 24 * 3_600_000;
const LOOKED_AT = 1000;

/** `20261120T081500123Z`: the beginning of names in the order of time. */
export function compactTime(ms: number): string {
  return new Date(ms).toISOString().replace(/[-:.]/g, '');
}

/** The time that a name begins with, wall-clock ms; NaN without one. */
export function timeOfName(name: string): number {
  const [, year, month, day, hour, minute, second, ms] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z/.exec(name) ?? [];
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`);
}

/** The folder of a place. */
export function folderOf({ path }: { path: string }, place: Place): string {
  return place === 'waiting' ? path : join(path, place);
}

/** Names of the entries, the oldest first; temp files and whatever else lies there are none. */
export function namesIn<T>(spool: Spool<T>, place: Place): string[] {
  return listFolder(folderOf(spool, place)).filter(spool.isName).sort();
}

/** An entry; undefined when it has gone or cannot be read: a folder, a link, damaged, of a newer version. */
export function readEntry<T>(spool: Spool<T>, place: Place, name: string): T | undefined {
  return look(spool, place, name).entry;
}

/** The entries that can be read, the oldest first. */
export function entriesIn<T>(spool: Spool<T>, place: Place, limit = Infinity): T[] {
  return namesIn(spool, place)
    .slice(0, limit)
    .flatMap((name) => look(spool, place, name).entry ?? []);
}

function look<T>(spool: Spool<T>, place: Place, name: string): { entry?: T; damaged?: true } {
  const path = join(folderOf(spool, place), name);
  const facts = lstatOf(path);
  if (facts === undefined) return {};
  const value = facts.isFile && facts.size <= MAX_BYTES ? parseObject(readText(path) ?? '') : undefined;
  const { version, ...rest } = value ?? {};
  if (typeof version === 'number' && version > spool.version) return {};
  const entry = version === spool.version ? spool.parse(rest) : undefined;
  if (entry === 'newer') return {};
  return entry === undefined ? { damaged: true } : { entry };
}

/** A check that so many more entries fit; throws where they do not. It counts at most once a second. */
export function capacityCheck<T>(
  spool: Spool<T>,
  clock: { monotonic: () => number },
): (more: number) => void {
  let count = 0;
  let countedMs = -Infinity;
  return (more) => {
    if (clock.monotonic() - countedMs >= COUNT_MS) {
      count = namesIn(spool, 'waiting').filter(spool.counts ?? (() => true)).length;
      countedMs = clock.monotonic();
    }
    if (count + more > spool.cap) throw spool.full(count, spool.path);
    count += more;
  };
}

/** Leaves an entry. An entry of a durable spool that has the same name is `unavailable`. */
export function put<T>(spool: Spool<T>, entry: T): void {
  ensureFolder(spool.path);
  const name = spool.nameOf(entry);
  const path = join(spool.path, name);
  if (!spool.durable) replaceFile(path, textOf(spool, entry), { sync: false });
  else if (!createFile(path, textOf(spool, entry))) {
    throw new StewardError('unavailable', `${name} is already in ${spool.path}.`, { hint: 'Try again.' });
  }
}

function textOf<T>(spool: Spool<T>, entry: T): string {
  return `${JSON.stringify({ version: spool.version, ...entry })}\n`;
}

/** Takes an entry that waits; false when another process did. */
export function claim<T>(spool: Spool<T>, name: string): boolean {
  return moveInto(folderOf(spool, 'claimed'), join(spool.path, name));
}

/** Notes in a claimed file how far its work has come. */
export function record<T>(spool: Spool<T>, name: string, entry: T): void {
  replaceFile(join(folderOf(spool, 'claimed'), name), textOf(spool, entry), {
    sync: spool.durable ? 'content' : false,
  });
}

/** Lets a claimed entry wait again, as it was last recorded; under another name where it got one. */
export function release<T>(spool: Spool<T>, name: string, newName = name): void {
  renameOver(join(folderOf(spool, 'claimed'), name), join(spool.path, newName));
}

/** Ends a claimed entry whose work is done. */
export function finish<T>(spool: Spool<T>, name: string): void {
  removeFile(join(folderOf(spool, 'claimed'), name));
}

/** Gives an entry up; false when another process took it. */
export function bury<T>(
  spool: Spool<T>,
  place: Exclude<Place, 'dead'>,
  name: string,
  burial: Burial,
): boolean {
  return buryFile(folderOf(spool, 'dead'), join(folderOf(spool, place), name), burial);
}

/** Takes an entry that waits out for good; false when another process took it. */
export function withdraw<T>(spool: Spool<T>, name: string): boolean {
  if (!moveInto(folderOf(spool, 'dead'), join(spool.path, name))) return false;
  removeFile(join(folderOf(spool, 'dead'), name));
  return true;
}

/** Lets a dead entry wait again, as given. */
export function revive<T>(spool: Spool<T>, name: string, entry: T): void {
  put(spool, entry);
  removeFile(join(folderOf(spool, 'dead'), name));
}

/** Was an entry left for another machine so long ago (or by a clock so far ahead) that nobody will do it? */
export function isOrphaned<T>(spool: Spool<T>, name: string, nowMs: number): boolean {
  return !(Math.abs(nowMs - spool.timeOf(name)) <= FOREIGN_MS);
}

/** How many entries another machine has left; of many, only the oldest are looked at. */
export function countForeign<T>(spool: Spool<T>, machineId: string): number {
  const entries = [...entriesIn(spool, 'claimed', LOOKED_AT), ...entriesIn(spool, 'waiting', LOOKED_AT)];
  return entries.filter((entry) => spool.machineOf(entry) !== machineId).length;
}

export interface Claimed<T> {
  name: string;
  /** Undefined: it cannot be read. */
  entry: T | undefined;
}

/**
 * What processes that have ended had claimed: this machine's own, unreadable files, and what another machine has not
 * ended in its time. For the one process of the machine that works on the spool.
 */
export function abandoned<T>(spool: Spool<T>, machineId: string, nowMs: number): Claimed<T>[] {
  return namesIn(spool, 'claimed')
    .filter((name) => lstatOf(join(folderOf(spool, 'claimed'), name))?.isFile === true)
    .map((name) => ({ name, entry: readEntry(spool, 'claimed', name) }))
    .filter(
      ({ name, entry }) =>
        entry === undefined || spool.machineOf(entry) === machineId || isOrphaned(spool, name, nowMs),
    );
}

/** What became of an entry; `gone`: another process took it. */
export type Attempt = 'done' | 'failed' | 'later' | 'dead' | 'gone';

export interface Work<T> {
  clock: { now: () => number };
  /** May throw: the entry is retried. `later`: it waits as it was. `{refused}`: it is given up, with that reason. */
  run: (entry: T) => unknown;
  /** The entry as it is retried; undefined after the last attempt. */
  again: (entry: T) => T | undefined;
}

/** Claims an entry, does its work, and settles it. An interruption (`canceled`) puts it back and throws. */
export async function attempt<T>(spool: Spool<T>, name: string, entry: T, work: Work<T>): Promise<Attempt> {
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

/** Lets a claimed entry wait again as `next`; without one it is given up. */
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

/** Removes the temp files of killed processes, and what was given up long ago. For one process at a time. */
export function sweep<T>(spool: Spool<T>, nowMs: number): void {
  for (const place of ['waiting', 'claimed'] as const) {
    if (exists(folderOf(spool, place))) sweepTemps(folderOf(spool, place), TEMPS_STALE_MS, nowMs);
  }
  pruneDead(folderOf(spool, 'dead'), nowMs);
}

export interface SpoolCounts<T> {
  waiting: number;
  claimed: number;
  /** Of those that wait or are claimed: damaged, or not a regular file. They are skipped. */
  unreadable: number;
  dead: number;
  /** The oldest that waits or is claimed. */
  oldest: T | undefined;
}

/** Reads every entry; `namesIn` only counts. */
export function spoolCounts<T>(spool: Spool<T>): SpoolCounts<T> {
  const [waiting, claimed] = [namesIn(spool, 'waiting'), namesIn(spool, 'claimed')];
  const found = [
    ...claimed.map((name) => look(spool, 'claimed', name)),
    ...waiting.map((name) => look(spool, 'waiting', name)),
  ];
  return {
    waiting: waiting.length,
    claimed: claimed.length,
    unreadable: found.filter(({ damaged }) => damaged).length,
    dead: deadNames(folderOf(spool, 'dead')).length,
    oldest: found.find(({ entry }) => entry !== undefined)?.entry,
  };
}
