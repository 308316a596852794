import { addDays, type Day } from '../platform/time';
import type { Goal } from './record';

/** The format of goals/state.json. */
export const GOALS_STATE_VERSION = 1;
/** How far back the observed block looks, in days; the day of the build is the last of them. */
export const GOALS_WINDOW_DAYS = 30;

export interface Observed {
  minutes: number;
  creationMinutes: number;
  commits: number;
  sessions: number;
}

/** Goals with their self-reported values, and beside them what was observed (service.md: Sense day cycle). */
export interface GoalsState {
  version: number;
  /** ISO-8601 UTC. */
  generatedAt: string;
  goals: Goal[];
  /** By goal only once records carry goal tags. */
  observed: { last7Days: Observed; last30Days: Observed };
}

/** What the state needs of a daily record. */
export interface ObservedDay {
  date: Day;
  totalMinutes: number;
  creationMinutes: number;
  commits: { count: number };
  sessions: { count: number };
}

/** Pure: the same goals and records give the same state. Minutes have one decimal. */
export function buildGoalsState(input: {
  goals: readonly Goal[];
  records: readonly ObservedDay[];
  /** The last day of both windows. */
  date: Day;
  generatedAt: string;
}): GoalsState {
  const observe = (days: number): Observed => {
    const from = addDays(input.date, 1 - days);
    return sum(input.records.filter(({ date }) => date >= from && date <= input.date));
  };
  return {
    version: GOALS_STATE_VERSION,
    generatedAt: input.generatedAt,
    goals: [...input.goals],
    observed: { last7Days: observe(7), last30Days: observe(GOALS_WINDOW_DAYS) },
  };
}

function sum(records: readonly ObservedDay[]): Observed {
  const total = (pick: (record: ObservedDay) => number): number =>
    Math.round(records.reduce((all, record) => all + pick(record), 0) * 10) / 10;
  return {
    minutes: total((record) => record.totalMinutes),
    creationMinutes: total((record) => record.creationMinutes),
    commits: total((record) => record.commits.count),
    sessions: total((record) => record.sessions.count),
  };
}
