import { join } from 'node:path';

import type { Day } from '../platform/time/time';
import { dayParts } from '../time/day-parts';
import { boundsOf, type DailyRecord } from '../time/record';
import type { ReadDeps } from './read';
import { readDay, todayOf } from './roll';

/** Returns this machine's days as other machines get them. The merged records get the goals. */
export function storedDays(deps: ReadDeps) {
  const { store, config, classify } = deps;
  const build = (day: Day): DailyRecord =>
    readDay({ ...deps, goalTags: undefined }, store.readState().state, day).record;
  return {
    loggedDays: store.loggedDays,
    recordedDays: store.recordedDays,
    readRecord: (day: Day) => store.readRecord(day, () => undefined),
    readLogged(day: Day, record = build(day)) {
      const options = { ...boundsOf(record), pollIntervalSec: config.pollIntervalSec, classify };
      return { record, parts: dayParts(store.readLog(day).events, options) };
    },
    today: () => todayOf(deps),
    logOf: store.logOf,
    /** Returns a function that tells in which time zone a day was recorded. */
    zones: () => {
      const { zones } = store.readState().state;
      return (day: Day): string => zones[day] ?? deps.timezone;
    },
    filesOf: (day: Day) => [
      store.logOf(day),
      join(store.dailyPath, `${day}.json`),
      ...(day < todayOf(deps) ? [] : [store.statePath]),
    ],
  };
}
