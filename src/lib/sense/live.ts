import { refreshed, type Kept } from '../platform/files/remembered';
import { dayOf, type Day } from '../platform/time/time';
import { sources, status, today, type ReadDeps } from './read';
import type { DailyRecord } from './record';
import type { SenseStatus, SourceStatus } from './status-types';

/** The reads of the day, for a process that answers them over and over. */
export interface LiveReads {
  today: (deps: ReadDeps) => DailyRecord;
  sources: (deps: ReadDeps) => readonly SourceStatus[];
  status: (deps: ReadDeps) => SenseStatus;
}

/**
 * The same as `today`, `sources` and `status`, made again only when something that they depend on has changed:
 * the configuration and the classification (`deps` is then another object), the date in the configured zone,
 * today's log, the state, the stored days. An unchanged day costs some stats and returns the same object.
 *
 * @param scheduler what runs the captures, for `status`
 */
export function liveReads(scheduler: SenseStatus['scheduler']): LiveReads {
  return {
    today: keeping((deps) => today(deps).record),
    sources: keeping(sources),
    status: keeping(
      (deps) => status(deps, scheduler),
      (deps) => [deps.store.dailyPath],
    ),
  };
}

function keeping<T>(
  make: (deps: ReadDeps) => T,
  more: (deps: ReadDeps) => readonly string[] = () => [],
): (deps: ReadDeps) => T {
  let last: { deps: ReadDeps; day: Day; paths: readonly string[]; kept: Kept<T> | undefined } | undefined;
  return (deps) => {
    const day = dayOf(deps.clock.now(), deps.timezone);
    if (last === undefined || last.deps !== deps || last.day !== day) {
      const paths = [deps.store.logOf(day), deps.store.statePath, ...more(deps)];
      last = { deps, day, paths, kept: undefined };
    }
    last.kept = refreshed(deps.clock, last.kept, last.paths, () => make(deps));
    return last.kept.value;
  };
}
