import { addDays, type Day } from '../platform/time/time';
import type { Goal } from './record';

/** The format of goals/state.json. */
const GOALS_STATE_VERSION = 1;
/** How far back the observed block looks, in days; the day of the build is the last of them. */
export const GOALS_WINDOW_DAYS = 30;

/** What goals take from a daily record: sense's own type has more. */
export interface ObservedDay {
  date: Day;
  totalMinutes: number;
  creationMinutes: number;
  commits: { count: number };
  sessions: { items: readonly { session: string }[] };
}

export interface ObservedTime {
  /** Seen in applications, to one decimal. */
  minutes: number;
  creationMinutes: number;
  commits: number;
  /** Distinct ones: a session of two days counts once. */
  sessions: number;
}

/**
 * goals/state.json: what the person reports, and beside it what was observed. The two stand next to each
 * other and are never joined into a score (service.md: Sense data, privacy and integration rules, 4).
 */
export interface GoalsState {
  version: number;
  /** ISO-8601 UTC. */
  generatedAt: string;
  goals: Goal[];
  /** By goal only once records carry goal tags. */
  observed: { last7Days: ObservedTime; last30Days: ObservedTime };
}

/** Pure. `date` is the last day that is counted; records of other days than the 30 up to it are left out. */
export function buildGoalsState(input: {
  goals: readonly Goal[];
  records: readonly ObservedDay[];
  date: Day;
  /** ISO-8601 UTC. */
  generatedAt: string;
}): GoalsState {
  const last = (days: number): ObservedTime => {
    const first = addDays(input.date, 1 - days);
    return observed(input.records.filter(({ date }) => date >= first && date <= input.date));
  };
  return {
    version: GOALS_STATE_VERSION,
    generatedAt: input.generatedAt,
    goals: input.goals.map(({ id, text, reported, target }) => ({ id, text, reported, target })),
    observed: { last7Days: last(7), last30Days: last(GOALS_WINDOW_DAYS) },
  };
}

function observed(records: readonly ObservedDay[]): ObservedTime {
  const sum = (of: (record: ObservedDay) => number): number =>
    records.reduce((total, record) => total + of(record), 0);
  return {
    minutes: tenths(sum((record) => record.totalMinutes)),
    creationMinutes: tenths(sum((record) => record.creationMinutes)),
    commits: sum((record) => record.commits.count),
    sessions: new Set(records.flatMap((record) => record.sessions.items.map(({ session }) => session))).size,
  };
}

/** Sums of decimals leave crumbs far behind the first one. */
function tenths(minutes: number): number {
  return Math.round(minutes * 10) / 10;
}
