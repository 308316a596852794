import { StewardError, throwIfBug } from '../errors';
import { NO_SQLITE } from '../platform/files/sqlite';
import { localTimes } from '../platform/time/day-words';
import type { Period } from '../platform/time/period';
import { addDays, dayOf, type Day } from '../platform/time/time';
import { budgetStates, budgetTexts, type BudgetDeps } from './budgets';
import { collectUsage, problemsOf, readAt, readState, type UsageDeps } from './collect';
import type { LogSource } from './find-logs';
import { crossedBudgets, currentLimits, forecastTexts, limitTexts } from './limits';
import type { PriceTable } from './prices';
import { purgeUsage, type UsageSelection } from './purge';
import {
  rowsBetween,
  unpricedModels,
  usageBy,
  type DatedRow,
  type Grouping,
  type SessionFacts,
  type Usage,
  type UsageRow,
} from './rollup';
import type { UsageReport } from './view';

export interface UsageReadDeps extends UsageDeps, BudgetDeps {
  /** File with the limits that status lines reported. */
  limits: string;
  enabled: boolean;
  table: PriceTable;
  /** Adds the rows that other machines published. */
  union: (
    period: Days,
    machine: string | undefined,
    readOwn: () => DatedRow[],
    notes: string[],
  ) => Promise<{ rows: DatedRow[]; machines?: Pick<Usage, 'machines'> }>;
}

type Days = Pick<Period, 'from' | 'to'>;

const OF_SESSIONS: readonly Grouping[] = ['session', 'issue', 'branch'];

interface UsageWords {
  by: Grouping;
  period: Days;
  machine?: string | undefined;
}

/** The queries of stored usage. */
export type UsageReads = ReturnType<typeof usageReads>;

export function usageReads(deps: UsageReadDeps) {
  const { prices, enabled } = deps;
  const between = (period: Days, machine: string | undefined, notes: string[]) =>
    deps.union(period, machine, () => rowsBetween(deps.days, period, notes), notes);
  const missing = (): string[] =>
    enabled ? [...readState(deps.state).problems, ...deps.table.problems] : [];
  const summed = async (by: Grouping, period: Days, machine: string | undefined, notes: string[]) => {
    const { rows, machines } = await between(period, machine, notes);
    const names: SessionFacts = OF_SESSIONS.includes(by) ? await deps.sessions() : new Map();
    return { rows, names, usage: { ...usageBy(rows, by, prices, names), ...machines } };
  };
  return {
    /** Reads new lines of the assistants' logs, and returns the usage of a period. */
    async report({ by, period, machine }: UsageWords): Promise<UsageReport> {
      const notes = [...deps.table.problems];
      const sources = enabled ? await collected(deps, notes) : [];
      const { rows, names, usage } = await summed(by, period, machine, notes);
      return {
        usage: withNotes(usage, [...problemsOf(sources), ...notes]),
        by,
        period,
        sources,
        notes,
        limits: await limitLines(deps),
        pricesAsOf: deps.table.asOf,
        unpriced: unpricedModels(rows, prices),
        names,
      };
    },
    /** Returns the stored usage of the last `days` days, without reading the assistants' logs. */
    async stored({ by, days, machine }: Omit<UsageWords, 'period'> & { days: number }): Promise<Usage> {
      const notes = missing();
      return withNotes((await summed(by, lastDays(deps, days), machine, notes)).usage, notes);
    },
    /** Returns the stored usage of a period by assistant. */
    async ofDays(
      period: Days,
      { repo, machine }: { repo?: string | undefined; machine?: string | undefined },
      notes: string[],
    ): Promise<Usage> {
      notes.push(...missing());
      const { rows } = await between(period, machine, notes);
      const wanted = repo?.toLowerCase();
      const shown = wanted === undefined ? rows : rows.filter((row) => row.repo?.toLowerCase() === wanted);
      return usageBy(shown, 'assistant', prices);
    },
    /** Returns the stored usage of the last `days` days by session. */
    bySession: async (days: number): Promise<UsageRow[]> =>
      usageBy((await between(lastDays(deps, days), undefined, [])).rows, 'session', prices).rows,
    /** Returns the limits and budgets, and what the last usage run could not read. */
    limits: async () => ({
      limits: await limitLines(deps),
      problems: missing().filter((text) => !text.endsWith(NO_SQLITE)),
    }),
    /** Removes stored usage. Returns the affected days. */
    purge: (selection: UsageSelection, dryRun: boolean): Promise<Day[]> =>
      purgeUsage(deps, selection, { dryRun, readsLogs: enabled }),
  };
}

/** Returns the budgets of which much is spent, and when usage was last read. */
export async function spentBudgets(deps: UsageReadDeps) {
  const crossed = crossedBudgets(deps.state, await budgetStates(deps));
  return { crossed, asOf: { usage: readAt(deps.state) } };
}

function lastDays({ clock, zone }: UsageReadDeps, days: number): Days {
  const to = dayOf(clock.now(), zone);
  return { from: addDays(to, 1 - checkedDays(days)), to };
}

/** Returns a line for each assistant with a known usage limit, and for each budget. */
async function limitLines(deps: UsageReadDeps): Promise<string[]> {
  const { clock, zone } = deps;
  const limits = currentLimits(deps, clock.now());
  const forecasts = forecastTexts(deps.state, limits, clock.now(), zone);
  return [
    ...limitTexts(limits, localTimes(clock, zone)),
    ...forecasts,
    ...budgetTexts(await budgetStates(deps)),
  ];
}

const MAX_DAYS = 3660;

export function checkedDays(days: number): number {
  if (days >= 1 && days <= MAX_DAYS) return days;
  throw new StewardError('usage', `Invalid number of days: ${days}.`, { hint: `Use 1 to ${MAX_DAYS}.` });
}

function withNotes(usage: Usage, notes: string[]): Usage {
  return notes.length === 0 ? usage : { ...usage, notes };
}

/**
 * Reads new lines of the assistants' logs. If another process is reading the logs, adds a note and returns no
 * sources.
 */
async function collected(deps: UsageDeps, notes: string[]): Promise<LogSource[]> {
  try {
    return await collectUsage(deps);
  } catch (error) {
    const { kind, message } = throwIfBug(error);
    notes.push(
      kind === 'locked'
        ? 'The daemon is still reading the logs, so these figures may be incomplete.'
        : `Cannot store new usage: ${message}`,
    );
    return [];
  }
}
