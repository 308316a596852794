import { join } from 'node:path';

import { StewardError } from '../../errors';
import type { Clock } from '../time/clock';
import { readObject, writeObject } from './object-file';
import { marksOf } from './stat';

/**
 * A value loaded from files, valid until one of them changes. Because a second change within the same clock
 * tick can't be detected, the value is also reloaded if a file was modified just before it was read.
 */
export interface Cached<T> {
  value: T;
  marks: string;
  isSettled: boolean;
}

/** If a file was modified within this interval before it was read, the next call reads the file again. */
const SETTLED_MS = 100;

/** Returns the cached value if it is still valid; otherwise, loads it. */
export function refreshCached<T>(
  clock: Pick<Clock, 'now'>,
  cached: Cached<T> | undefined,
  paths: readonly string[],
  make: () => T,
  settledMs = SETTLED_MS,
): Cached<T> {
  const marks = marksOf(paths);
  if (cached !== undefined && cached.isSettled && cached.marks === marks.text) return cached;
  const isSettled = Math.abs(clock.now() - marks.newestMs) > settledMs;
  return { value: make(), marks: marks.text, isSettled };
}

export type FileMemory = ReturnType<typeof fileMemory>;

/** If a file was modified within this interval before it was read, its value isn't kept for other processes. */
const UNCHANGED_MS = 3_600_000;

/** The values that processes of one version keep for each other, one file per first word of a key. */
interface KeptValues {
  folder: string;
  version: string;
  /** Whether this process stores values. */
  writes: () => boolean;
}

/** Returns a kept value until one of its files changes; otherwise, makes it. */
function keptValue<T>(
  clock: Pick<Clock, 'now'>,
  { folder, version, writes }: KeptValues,
  { key, paths }: { key: string; paths: readonly string[] },
  make: () => T,
): T {
  const [name = ''] = key.split(' ');
  const file = join(folder, `${name}.json`);
  const stored = readObject(file);
  const made = `${version} ${key}`;
  const known = stored?.['made'] === made ? (stored as unknown as Cached<T>) : undefined;
  const entry = refreshCached(clock, known, paths, make, UNCHANGED_MS);
  if (entry !== known && entry.isSettled && writes()) writeObject(file, { made, ...entry }, { sync: false });
  return entry.value;
}

/** Keeps the `max` values used last, each until one of its files changes. */
export function fileMemory(clock: Pick<Clock, 'now'>, max: number, store?: KeptValues) {
  const kept = new Map<string, Cached<unknown>>();
  return {
    has(key: string, paths: readonly string[]): boolean {
      const entry = kept.get(key);
      return entry?.isSettled === true && entry.marks === marksOf(paths).text;
    },
    get<T>(key: string, paths: readonly string[], make: () => T): T {
      const fresh = () => (store === undefined ? make() : keptValue(clock, store, { key, paths }, make));
      const entry = refreshCached(clock, kept.get(key) as Cached<T> | undefined, paths, fresh);
      kept.delete(key);
      kept.set(key, entry);
      const [oldest = ''] = kept.keys();
      if (kept.size > max) kept.delete(oldest);
      return entry.value;
    },
  };
}

/**
 * Like `refreshCached`, but asynchronous. Concurrent callers share one load, and `config` errors are cached.
 */
export function cachedLoader<T>(clock: Pick<Clock, 'now'>, paths: readonly string[], make: () => Promise<T>) {
  let cached: Cached<Promise<T>> | undefined;
  const begin = (): Promise<T> => {
    const making = make();
    making.catch((error: unknown) => {
      const isKept = error instanceof StewardError && error.kind === 'config';
      if (!isKept && cached?.value === making) cached = undefined;
    });
    return making;
  };
  return () => {
    cached = refreshCached(clock, cached, paths, begin);
    return cached.value;
  };
}

/** Returns a function that calls `load` once. After a failure, the next call retries. */
export function loadedOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  return () => {
    loaded ??= load().catch((error: unknown) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
}
