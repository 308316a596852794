import {
  isAmount,
  isText,
  listOf,
  nullable,
  oneOf,
  optional,
  shape,
  where,
  type ShapeCheck,
  type ShapeOf,
} from '../../platform/files/shape';

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

/** A day lasts 49 hours at most: 25, and 24 more for who travels west. */
export const MAX_HOURS = 49;
export const isMinutes = where(isAmount, (value) => value <= MAX_HOURS * 60);
/** Minutes of agents that work at the same time. */
const isSumOfMinutes = where(isAmount, (value) => value <= MAX_HOURS * 60 * 1000);
const isName = nullable(isText);
const isPlaces = shape(Object.fromEntries(PLACES.map((place) => [place, optional(isSumOfMinutes)])));
const isCells: ShapeCheck<Cells> = shape(
  Object.fromEntries(AGENT_STATES.map((state) => [state, optional(isPlaces)])),
);

const WORK = {
  /** Null if the repository is unknown or not watched. */
  repo: isName,
  /** Set if the folder is outside the watched repositories. */
  otherFolder: optional(oneOf([true])),
  branch: isName,
  assistant: isName,
};
/** `session` is the one that was in the foreground, if known. */
const ATTENTION = { ...WORK, app: isText, session: isName, minutes: isMinutes };
/**
 * Your time in one application, repository, branch and session. The rows add up to the day's `totalMinutes`.
 */
export type AttentionRow = ShapeOf<typeof ATTENTION>;

const AGENT = { ...WORK, session: isText, cells: isCells };
/** A session's time in one repository and branch. The times of sessions may overlap. */
export type AgentRow = ShapeOf<typeof AGENT>;

const ANSWERS = {
  count: isAmount,
  medianMinutes: nullable(isMinutes),
  longestMinutes: nullable(isMinutes),
  /** In minutes, shortest first. If there are more than 500, only an evenly spaced sample is stored. */
  times: optional(listOf(isMinutes)),
};
export type Answers = ShapeOf<typeof ANSWERS>;

const LEDGER = {
  attention: listOf(shape(ATTENTION)),
  agents: listOf(shape(AGENT)),
  /** Agents' time while each application was in the foreground. */
  apps: listOf(shape({ app: isText, cells: isCells })),
  cells: isCells,
  /** Time that agents waited while you were at the desk with another window in the foreground. */
  heldUpMinutes: isSumOfMinutes,
  answers: shape(ANSWERS),
  /** How many sessions worked at the same time; `mean` covers only the time when at least one was working. */
  parallel: shape({ most: isAmount, mean: isAmount }),
};
/** Your time and your agents' time on one day. */
export type DayLedger = ShapeOf<typeof LEDGER>;
export const isLedger = shape(LEDGER);

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
