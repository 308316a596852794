import { StewardError } from '../../errors';
import type { Clock } from '../time/clock';
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
): Cached<T> {
  const marks = marksOf(paths);
  if (cached !== undefined && cached.isSettled && cached.marks === marks.text) return cached;
  const isSettled = Math.abs(clock.now() - marks.newestMs) > SETTLED_MS;
  return { value: make(), marks: marks.text, isSettled };
}

/**
 * Like `refreshCached`, but asynchronous. Concurrent callers share one load, and `config` errors are cached.
 */
export function cachedLoader<T>(
  clock: Pick<Clock, 'now'>,
  paths: readonly string[],
  make: () => Promise<T>,
): () => T | Promise<T> {
  type Outcome = { value: T } | { error: unknown };
  let cached: Cached<Promise<Outcome>> | undefined;
  let settled: { of: Cached<Promise<Outcome>>; outcome: Outcome } | undefined;
  const forget = (load: Promise<Outcome>): void => {
    if (cached?.value === load) cached = undefined;
  };
  const begin = (): Promise<Outcome> => {
    const making: Promise<Outcome> = make().then(
      (value) => ({ value }),
      (error: unknown) => {
        if (!(error instanceof StewardError && error.kind === 'config')) forget(making);
        return { error };
      },
    );
    return making;
  };
  const valueOf = (outcome: Outcome): T => {
    if ('error' in outcome) throw outcome.error;
    return outcome.value;
  };
  return () => {
    const current = refreshCached(clock, cached, paths, begin);
    cached = current;
    if (settled?.of === current) return valueOf(settled.outcome);
    return current.value.then((outcome) => {
      if (cached === current) settled = { of: current, outcome };
      return valueOf(outcome);
    });
  };
}
