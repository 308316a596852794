/** What an agent is doing. Exited sessions have no state. */
export const AGENT_STATES = ['working', 'waiting', 'ready'] as const;
export type AgentState = (typeof AGENT_STATES)[number];

/** Where you are: in front of this session, at the desk with something else in front, or away. */
export const PLACES = ['front', 'desk', 'away', 'unknown'] as const;
export type Place = (typeof PLACES)[number];

/** Minutes by an agent's state and your place, to one decimal. Zeros are omitted. */
export type Cells = Partial<Record<AgentState, Partial<Record<Place, number>>>>;

/** Your own time. A day's rows add up to its `totalMinutes`. */
export interface AttentionRow {
  app: string;
  /** The repository; null if unknown or not watched. */
  repo: string | null;
  /** Set if the folder is outside the watched repositories. */
  otherFolder?: true;
  branch: string | null;
  /** The session that was in front. */
  session: string | null;
  assistant: string | null;
  minutes: number;
}

/** A session's time in one repository and branch. Sessions can overlap. */
export interface AgentRow {
  session: string;
  assistant: string | null;
  repo: string | null;
  branch: string | null;
  cells: Cells;
}

export interface Answers {
  count: number;
  medianMinutes: number | null;
  longestMinutes: number | null;
  /** Answer times, shortest first. Of more than 500 times, an evenly spaced selection. */
  times?: number[];
}

/** How you and your agents spent a day. */
export interface DayLedger {
  /** Rows with the most minutes first. */
  attention: AttentionRow[];
  /** Sessions with the most minutes first. */
  agents: AgentRow[];
  /** The agents' time while each application was in front. */
  apps: { app: string; cells: Cells }[];
  /** Totals over `agents`. */
  cells: Cells;
  /** How long agents waited while you were at the desk with something else in front (`cells.waiting.desk`). */
  heldUpMinutes: number;
  /** How long questions waited before they were answered. */
  answers: Answers;
  /** Number of sessions that worked at the same time. `mean` only includes time when a session worked. */
  parallel: { most: number; mean: number };
}

/** The part of a day's time that is assigned to a goal. Agents' times may overlap. */
export interface GoalTag {
  minutes: number;
  working: number;
  /** The rules that matched, such as `repos: shop`. */
  reasons: string[];
}

/** Returns the minutes that agents were in a state, for one place or for all places. */
export function minutesIn(cells: Cells, state: AgentState, place?: Place): number {
  const row = cells[state] ?? {};
  if (place !== undefined) return row[place] ?? 0;
  return Math.round(PLACES.reduce((sum, each) => sum + (row[each] ?? 0) * 10, 0)) / 10;
}
