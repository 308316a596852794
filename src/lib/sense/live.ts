import { refreshCached, type Cached } from '../platform/files/file-cache';
import type { Day } from '../platform/time/time';
import { dayDetail, sources, status, today, type ReadDeps } from './read';
import { recordDocument } from '../time/record';
import { todayOf } from './roll';
import type { CaptureScheduler } from './source';

/** Cached queries for a long-running process. A query returns the same object until the data changes. */
export type LiveReads = ReturnType<typeof liveReads>;

/**
 * Creates functions whose results are cached until `deps`, the date or a file changes. `day` caches only one
 * day at a time.
 */
export function liveReads(scheduler: CaptureScheduler) {
  return {
    today: cached((deps) => recordDocument(today(deps).record)),
    sources: cached(sources),
    status: cached((deps) => status(deps, scheduler)),
    day: cached(dayDetail),
  };
}

function cached<T>(read: (deps: ReadDeps, day: Day) => T): (deps: ReadDeps, day?: Day) => T {
  let last: { deps: ReadDeps; today: Day; day: Day; entry: Cached<T> } | undefined;
  return (deps, wanted) => {
    const today = todayOf(deps);
    const day = wanted ?? today;
    const paths = [deps.store.logOf(day), deps.store.statePath, deps.store.dailyPath];
    const all = [...paths, ...(deps.machineFiles?.() ?? [])];
    const isSame = last?.deps === deps && last.today === today && last.day === day;
    const before = isSame ? last?.entry : undefined;
    last = { deps, today, day, entry: refreshCached(deps.clock, before, all, () => read(deps, day)) };
    return last.entry.value;
  };
}
