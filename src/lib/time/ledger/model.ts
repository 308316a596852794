/** The states of an agent. A session that has exited has no state. */
export const AGENT_STATES = ['working', 'waiting', 'ready'] as const;
export type AgentState = (typeof AGENT_STATES)[number];

/**
 * Where you are while a session runs. `desk` means that you are at the computer, with another window in the
 * foreground.
 */
export const PLACES = ['front', 'desk', 'away', 'unknown'] as const;
export type AttentionPlace = (typeof PLACES)[number];

/** Minutes by agent state and by where you were, rounded to one decimal place. Zeros are omitted. */
export type Cells = Partial<Record<AgentState, Partial<Record<AttentionPlace, number>>>>;

/**
 * Your time in one application, repository, branch and session. The rows add up to the day's `totalMinutes`.
 */
export interface AttentionRow {
  app: string;
  /** Null if the repository is unknown or not watched. */
  repo: string | null;
  /** Set if the folder is outside the watched repositories. */
  otherFolder?: true;
  branch: string | null;
  /** The session that was in the foreground, if known. */
  session: string | null;
  assistant: string | null;
  minutes: number;
}

/** A session's time in one repository and branch. The times of sessions may overlap. */
export interface AgentRow {
  session: string;
  assistant: string | null;
  /** Null if the repository is unknown or not watched. */
  repo: string | null;
  /** Set if the folder is outside the watched repositories. Absent in records from earlier versions. */
  otherFolder?: true;
  branch: string | null;
  cells: Cells;
}

export interface Answers {
  count: number;
  medianMinutes: number | null;
  longestMinutes: number | null;
  /**
   * Answer times in minutes, shortest first. If there are more than 500, only an evenly spaced sample is
   * stored.
   */
  times?: number[];
}

/** Your time and your agents' time on one day. */
export interface DayLedger {
  attention: AttentionRow[];
  agents: AgentRow[];
  /** Agents' time while each application was in the foreground. */
  apps: { app: string; cells: Cells }[];
  cells: Cells;
  /** Time that agents waited while you were at the desk with another window in the foreground. */
  heldUpMinutes: number;
  answers: Answers;
  /**
   * Number of sessions that worked at the same time. `mean` covers only the time when at least one session
   * was working.
   */
  parallel: { most: number; mean: number };
}

/** The time assigned to a goal. Agents' times may overlap. */
export interface GoalTag {
  minutes: number;
  working: number;
  /** The matching rules, such as `repos: shop`. */
  reasons: string[];
}

/**
 * Returns the minutes that agents spent in a state. If `place` is set, counts only the minutes while you were
 * in that place.
 */
export function minutesIn(cells: Cells, state: AgentState, place?: AttentionPlace): number {
  const row = cells[state] ?? {};
  if (place !== undefined) return row[place] ?? 0;
  return Math.round(PLACES.reduce((sum, each) => sum + (row[each] ?? 0) * 10, 0)) / 10;
}
