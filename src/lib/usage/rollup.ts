import { daysIn } from '../platform/files/day-files';
import { byCodeUnits } from '../platform/files/short-hash';
import type { Period } from '../platform/time/period';
import type { Day } from '../platform/time/time';
import { sessionKey } from '../sessions/session-key';
import { readDayRows, type DayRow } from './days';
import { costOf, withoutTier, type Prices } from './prices';

/** What is known of each session, by its key. */
export type SessionFacts = ReadonlyMap<string, { name: string; branch?: string; issue?: string }>;

export const GROUPINGS = [
  'day',
  'session',
  'repo',
  'model',
  'assistant',
  'machine',
  'issue',
  'branch',
] as const;
export type Grouping = (typeof GROUPINGS)[number];

export const COUNTS = ['input', 'output', 'cacheRead', 'cacheWrite'] as const;
type Counts = Record<(typeof COUNTS)[number], number>;

interface Sums extends Counts {
  /** Cost in USD of the tokens whose price is known; null if no price is known. */
  cost: number | null;
}

export interface UsageRow extends Sums {
  key: string;
}

/** The output of `steward usage --json` and `/api/usage`. */
export interface Usage {
  rows: UsageRow[];
  /** `unpriced`: number of tokens without a known price. `cost` doesn't include these tokens. */
  total: Sums & { unpriced: number };
  /** Notes about missing data, such as a day whose file is damaged. Absent if no data is missing. */
  notes?: string[];
  /** The machines whose usage was merged. Absent if there is only one machine. */
  machines?: { id: string; name: string; asOf?: string; state: 'recorded' | 'not-recorded' }[];
}

/** `machine` is the machine's name. Absent if there is only one machine. */
export type DatedRow = DayRow & { day: Day; machine?: string };

/** Returns the rows of a period. Adds a note about each damaged file. */
export function rowsBetween(
  folder: string,
  { from, to }: Pick<Period, 'from' | 'to'>,
  notes: string[],
): DatedRow[] {
  const note = (path: string): unknown => notes.push(`${path} is damaged and was skipped.`);
  return daysIn(folder)
    .filter((day) => day >= from && day <= to)
    .flatMap((day) => readDayRows(folder, day, note).map((row) => ({ ...row, day })));
}

/** Groups rows and adds up each group. Sorts days by date, and other groups by cost, then by tokens. */
export function usageBy(
  rows: readonly DatedRow[],
  by: Grouping,
  prices: Prices,
  facts: SessionFacts = new Map(),
): Usage {
  const groups = new Map<string, Sums>();
  const total = { ...emptySums(), unpriced: 0 };
  for (const row of rows) {
    const key = keyOf(row, by, facts);
    const sums = groups.get(key) ?? emptySums();
    groups.set(key, sums);
    const cost = costOf(row, prices);
    for (const each of [sums, total]) add(each, row, cost);
    if (cost === null) total.unpriced += tokensIn(row);
  }
  const sorted = [...groups].map(([key, sums]) => ({ key, ...rounded(sums) }));
  sorted.sort((a, b) =>
    by === 'day'
      ? byCodeUnits(a.key, b.key)
      : (b.cost ?? 0) - (a.cost ?? 0) || tokensIn(b) - tokensIn(a) || byCodeUnits(a.key, b.key),
  );
  const sums = rounded(total);
  return { rows: sorted, total: rows.length === 0 ? { ...sums, cost: 0 } : sums };
}

/**
 * Returns the key of a row's group. A session's key includes the assistant, because two assistants may use
 * the same session id.
 */
export function keyOf(row: DatedRow, by: Grouping, facts: SessionFacts = new Map()): string {
  const session = sessionKey(row.assistant, row.session);
  if (by === 'session') return session;
  const place = row.repo ?? 'unknown';
  if (by === 'issue') return facts.get(session)?.issue ?? (row.repo === null ? place : 'no issue');
  if (by === 'branch')
    return [place, facts.get(session)?.branch].filter((part) => part !== undefined).join(':');
  if (by === 'model') return withoutTier(row.model);
  return row[by] ?? (by === 'machine' ? 'this machine' : 'unknown');
}

export function unpricedModels(rows: readonly DatedRow[], prices: Prices): string[] {
  const unpriced = rows.filter((row) => costOf(row, prices) === null);
  return [...new Set(unpriced.map(({ model }) => withoutTier(model)))].sort();
}

function emptySums(): Sums {
  return { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: null };
}

function add(sums: Sums, row: DayRow, cost: number | null): void {
  for (const count of COUNTS) sums[count] += row[count];
  if (cost !== null) sums.cost = (sums.cost ?? 0) + cost;
}

/** Rounds the cost to a millionth of a dollar, so that the order of addition doesn't affect the result. */
function rounded<T extends Sums>(sums: T): T {
  return { ...sums, cost: sums.cost === null ? null : Math.round(sums.cost * 1e6) / 1e6 };
}

export function tokensIn(counts: Counts): number {
  return COUNTS.reduce((sum, count) => sum + counts[count], 0);
}
