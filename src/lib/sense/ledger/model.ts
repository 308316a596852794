/** What an agent does; a session that is over does nothing. */
export const AGENT_STATES = ['working', 'waiting', 'ready'] as const;
export type AgentState = (typeof AGENT_STATES)[number];

/** Where you are: in front of this session, at the desk with something else in front, or away. */
export const PLACES = ['front', 'desk', 'away', 'unknown'] as const;
export type Place = (typeof PLACES)[number];

/** Minutes by what the agent does and where you are, to one decimal; zeros are left out. */
export type Cells = Partial<Record<AgentState, Partial<Record<Place, number>>>>;

/** Your own time. All rows of a day add up to its `totalMinutes`. */
export interface AttentionRow {
  app: string;
  /** Null if it is unknown, or in a folder that is not watched. */
  repo: string | null;
  /** In a folder outside of the watched repositories. */
  otherFolder?: true;
  branch: string | null;
  /** The session that was in front. */
  session: string | null;
  assistant: string | null;
  minutes: number;
}

/** The time of a session in one repository and branch. Sessions overlap. */
export interface AgentRow {
  session: string;
  assistant: string | null;
  repo: string | null;
  branch: string | null;
  cells: Cells;
}

/** Where the time of a day went: yours and that of your agents. */
export interface DayLedger {
  /** Most minutes first. */
  attention: AttentionRow[];
  /** Most minutes first. */
  agents: AgentRow[];
  /** The agents' time while an application was in front. */
  apps: { app: string; cells: Cells }[];
  /** The sums of `agents`. */
  cells: Cells;
  /** An agent waited while you were at the desk with something else in front: `cells.waiting.desk`. */
  heldUpMinutes: number;
  /** How long answered questions had waited. */
  answers: { count: number; medianMinutes: number | null; longestMinutes: number | null };
  /** Sessions that worked at the same time; `mean` is over the time with at least one. */
  parallel: { most: number; mean: number };
}

/** The time of a day that belongs to a goal. Agents' time may overlap. */
export interface GoalTag {
  minutes: number;
  working: number;
  /** The rules that matched, such as `repos: shop`. */
  reasons: string[];
}

/** Returns the minutes of a state, in all places or in one. */
export function minutesIn(cells: Cells, state: AgentState, place?: Place): number {
  const row = cells[state] ?? {};
  if (place !== undefined) return row[place] ?? 0;
  return Math.round(PLACES.reduce((sum, each) => sum + (row[each] ?? 0) * 10, 0)) / 10;
}
