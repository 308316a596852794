import { dirname } from 'node:path';

import { replaceFile } from '../platform/files/atomic-file';
import { ensureFolder } from '../platform/files/folder';
import { addDays, type Day } from '../platform/time/time';
import type { Goal } from './record';

const GOALS_STATE_VERSION = 1;
/** Length of the longer of the two observation periods, in days. */
export const GOALS_WINDOW_DAYS = 30;

/** The fields of a daily record that are used for goals. */
interface ObservedDay {
  date: Day;
  totalMinutes: number;
  creationMinutes: number;
  commits: { count: number };
  sessions: { items: readonly { session: string }[] };
}

/** Builds the state for the days up to and including `date`. */
export function buildGoalsState({
  goals,
  records,
  date: end,
  generatedAt,
}: {
  goals: readonly Goal[];
  records: readonly ObservedDay[];
  date: Day;
  generatedAt: string;
}) {
  const last = (days: number) => {
    const counted = records.filter(({ date }) => date >= addDays(end, 1 - days) && date <= end);
    const sum = (of: (record: ObservedDay) => number): number =>
      Math.round(counted.reduce((total, record) => total + of(record), 0) * 10) / 10;
    const sessions = counted.flatMap((record) => record.sessions.items.map(({ session }) => session));
    return {
      /** Minutes tracked in applications, rounded to one decimal place. */
      minutes: sum((record) => record.totalMinutes),
      creationMinutes: sum((record) => record.creationMinutes),
      commits: sum((record) => record.commits.count),
      /** Number of distinct sessions. A session that spans two days counts once. */
      sessions: new Set(sessions).size,
    };
  };
  return {
    version: GOALS_STATE_VERSION,
    generatedAt,
    goals: goals.map(({ id, text, reported, target }) => ({ id, text, reported, target })),
    observed: { last7Days: last(7), last30Days: last(GOALS_WINDOW_DAYS) },
  };
}

export function writeGoalsState(path: string, observed: Parameters<typeof buildGoalsState>[0]): void {
  ensureFolder(dirname(path));
  replaceFile(path, `${JSON.stringify(buildGoalsState(observed), null, 2)}\n`);
}
