import type { GoalMatch } from '../../goals/match';
import { byCodeUnits } from '../../platform/files/short-hash';
import type { Day } from '../../platform/time/time';
import { loopTurn } from '../../platform/time/wait';
import { assistantOfKey } from '../../sessions/session-key';
import { commonSpelling } from '../focus-tally';
import type { MachineRow } from '../machines/model';
import { appOf, siteOf } from '../site';
import { minutesIn, type AttentionRow, type Cells, type DayLedger, type GoalTag } from './model';

export const TIME_KEYS = [
  'repo',
  'branch',
  'session',
  'assistant',
  'issue',
  'goal',
  'app',
  'site',
  'machine',
] as const;
export type TimeKey = (typeof TIME_KEYS)[number];

/** Your time (`minutes`) and your agents' time for one key. Agents' times may overlap. */
export interface TimeRow {
  key: string;
  minutes: number;
  working: number;
  waiting: number;
  heldUp: number;
}

/** The output of `steward time --json`. The rows' minutes add up to `totalMinutes`. */
export interface TimeReport {
  from: Day;
  to: Day;
  timezone: string;
  /** Null if no day was recorded. */
  totalMinutes: number | null;
  rows: TimeRow[];
  /** The merged machines, or absent if this is the only machine. */
  machines?: MachineRow[];
}

/** Identifies the repository, branch and session that you or an agent worked in. */
export type Work = Pick<AttentionRow, 'repo' | 'branch' | 'session' | 'assistant'> & {
  /** What was in front, in your time. */
  app?: string;
  otherFolder?: boolean;
  /** The machine's id, set if several machines are merged. */
  machine?: string;
};

/** Functions that return the display names of issues, goals and sessions. */
export interface WorkNames {
  session: (id: string) => string;
  /** Returns `#12` for an issue of the work repository, and `website#12` for one that a branch names. */
  issue: (work: Work) => string | undefined;
  goal: (work: Work) => GoalMatch | undefined;
  machine?: (id: string) => string;
}

/** Returns whether rows are named after the application, or after the site in it. */
export function isAppKey(by: TimeKey): by is 'app' | 'site' {
  return by === 'app' || by === 'site';
}

const NO_SITE = 'no site';

/** Returns a function that names an application's row, with one spelling for each. */
export function appNames(
  by: TimeKey,
  times: readonly (readonly [app: string, time: number])[],
): (app: string) => string {
  const nameOf = by === 'site' ? (app: string) => siteOf(app) ?? NO_SITE : appOf;
  const spelling = commonSpelling(times.map(([app, time]) => [nameOf(app), time]));
  return (app) => spelling(nameOf(app));
}

const OTHER = 'other folders';
const UNKNOWN = 'unknown';

/** Returns the key of the row that the work belongs to. */
export function keyOf(work: Work, by: Exclude<TimeKey, 'app' | 'site'>, names: WorkNames): string {
  const { repo, branch, session, assistant } = work;
  const place = work.otherFolder === true ? OTHER : UNKNOWN;
  switch (by) {
    case 'repo':
      return repo ?? place;
    case 'branch':
      return repo === null ? place : branch === null ? repo : `${repo}:${branch}`;
    case 'session':
      return session === null ? place : names.session(session);
    case 'assistant':
      return session === null ? place : (assistant ?? assistantOfKey(session));
    case 'issue': {
      const issue = names.issue(work);
      return issue === undefined ? (repo === null ? place : 'no issue') : issue;
    }
    case 'machine':
      return (work.machine !== undefined && names.machine?.(work.machine)) || 'this machine';
    case 'goal':
      return names.goal(work)?.goal ?? (repo === null ? place : 'no goal');
  }
}

/** Adds up the days' ledgers by key. Uses tenths of a minute to avoid floating-point errors. */
export function timeRows(ledgers: readonly DayLedger[], by: TimeKey, names: WorkNames): TimeRow[] {
  const rows = new Map<string, Omit<TimeRow, 'key'>>();
  const rowOf = (key: string) => {
    const row = rows.get(key) ?? { minutes: 0, working: 0, waiting: 0, heldUp: 0 };
    rows.set(key, row);
    return row;
  };
  const addCells = (key: string, cells: Cells): void => {
    const row = rowOf(key);
    row.working = plus(row.working, minutesIn(cells, 'working'));
    row.waiting = plus(row.waiting, minutesIn(cells, 'waiting'));
    row.heldUp = plus(row.heldUp, minutesIn(cells, 'waiting', 'desk'));
  };
  const nameOf = appNames(by, isAppKey(by) ? ledgers.flatMap(timesByApp) : []);
  for (const { attention, agents, apps } of ledgers) {
    for (const work of attention) {
      const row = rowOf(isAppKey(by) ? nameOf(work.app) : keyOf(work, by, names));
      row.minutes = plus(row.minutes, work.minutes);
    }
    if (isAppKey(by)) for (const { app, cells } of apps) addCells(nameOf(app), cells);
    else for (const work of agents) addCells(keyOf(work, by, names), work.cells);
  }
  const rank = (key: string): number => ([UNKNOWN, NO_SITE].includes(key) ? 2 : key === OTHER ? 1 : 0);
  return [...rows]
    .filter(([, { minutes, working, waiting }]) => minutes + working + waiting > 0)
    .sort(
      ([a, x], [b, y]) =>
        rank(a) - rank(b) || y.minutes - x.minutes || y.working - x.working || byCodeUnits(a, b),
    )
    .map(([key, row]) => ({ key, ...row }));
}

function timesByApp({ attention, apps }: DayLedger): [app: string, minutes: number][] {
  return [...apps.map(({ app }) => ({ app, minutes: 0 })), ...attention].map(({ app, minutes }) => [
    app,
    minutes,
  ]);
}

/** Returns a day's goal times, with the rules that assigned them, in the form that the day's record stores. */
export function goalTagsOf(
  { attention, agents }: DayLedger,
  names: Pick<WorkNames, 'goal'>,
): Record<string, GoalTag> {
  const tags = new Map<string, GoalTag>();
  const add = (work: Work, minutes: number, working: number): void => {
    const match = names.goal(work);
    if (match === undefined || plus(minutes, working) === 0) return;
    const known = tags.get(match.goal) ?? { minutes: 0, working: 0, reasons: [] };
    tags.set(match.goal, {
      minutes: plus(known.minutes, minutes),
      working: plus(known.working, working),
      reasons: [...new Set([...known.reasons, match.reason])].sort(byCodeUnits),
    });
  };
  for (const row of attention) add(row, row.minutes, 0);
  for (const { cells, ...work } of agents) add(work, 0, minutesIn(cells, 'working'));
  return Object.fromEntries([...tags].sort(([a], [b]) => byCodeUnits(a, b)));
}

/** Returns a function that returns a ledger's time per goal. All days of a request share the names. */
export function goalTagger(readNames: () => WorkNames) {
  let last: { turn: number; names: WorkNames } | undefined;
  return (ledger: DayLedger) => {
    const turn = loopTurn();
    if (last?.turn !== turn) last = { turn, names: readNames() };
    return goalTagsOf(ledger, last.names);
  };
}

function plus(sum: number, minutes: number): number {
  return (Math.round(sum * 10) + Math.round(minutes * 10)) / 10;
}
