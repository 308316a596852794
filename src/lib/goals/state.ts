import { dirname } from 'node:path';

import type { UserArea } from '../config/user-area';
import { replaceFile } from '../platform/files/atomic-file';
import { ensureFolder } from '../platform/files/folder';
import { toIso, type Clock } from '../platform/time/clock';
import type { DayRange } from '../platform/time/period';
import { addDays, type Day } from '../platform/time/time';
import { readGoals, type Goal } from './record';

const GOALS_STATE_VERSION = 1;
/** Length of the longer of the two observation periods, in days. */
const GOALS_WINDOW_DAYS = 30;

/** The fields of a daily record that are used for goals. */
interface ObservedDay {
  date: Day;
  totalMinutes: number;
  creationMinutes: number;
  commits: { count: number };
  sessions: { items: readonly { session: string }[] };
}

/** Builds the state for the days up to and including `date`. */
export function buildGoalsState(observed: {
  goals: readonly Goal[];
  records: readonly ObservedDay[];
  date: Day;
  generatedAt: string;
}) {
  const { goals, records, date: end, generatedAt } = observed;
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

/** Rewrites the state from the days that it observes. */
export function refreshGoals(
  { area, clock }: { area: Pick<UserArea, 'goals' | 'goalsState'>; clock: Clock },
  today: Day,
  daysIn: (range: DayRange) => Iterable<ObservedDay>,
): void {
  const records = [...daysIn({ from: addDays(today, 1 - GOALS_WINDOW_DAYS), to: today })];
  const generatedAt = toIso(clock.now());
  const state = buildGoalsState({ goals: readGoals(area.goals), records, date: today, generatedAt });
  ensureFolder(dirname(area.goalsState));
  replaceFile(area.goalsState, `${JSON.stringify(state, null, 2)}\n`);
}
