import { tokens, usdCell } from '../platform/terminal/format';
import { readPeriod } from '../platform/time/period';
import type { UsageDeps } from './collect';
import type { Prices } from './prices';
import { rowsBetween, usageBy, type DatedRow, type UsageRow } from './rollup';

const PERIODS = { session: '40d', day: 'today', week: 'this week', month: 'this month' } as const;

export const ALERT_PERCENT = 80;

/** What you want to spend at most in a period: US dollars or tokens, the cache included. */
export interface Budget {
  per: keyof typeof PERIODS;
  usd?: number | undefined;
  tokens?: number | undefined;
  repo?: string | undefined;
}

export interface BudgetState {
  /** Identifies the budget in its period. */
  key: string;
  name: string;
  percent: number;
  /** `$16.20 of $20.00`, and which session spends most. */
  text: string;
}

export interface BudgetDeps extends Pick<UsageDeps, 'clock' | 'zone' | 'days'> {
  budgets: readonly Budget[];
  prices: Prices;
  /** Returns the sessions' display names by session id. */
  sessionNames: () => Promise<ReadonlyMap<string, string>>;
}

/** Returns how much of each budget is spent. A budget per session gives each session that spent much, or the first. */
export async function budgetStates(deps: BudgetDeps): Promise<BudgetState[]> {
  const { clock, zone, days, budgets, prices } = deps;
  const names = budgets.length === 0 ? new Map<string, string>() : await deps.sessionNames();
  const states = budgets.map(async ({ per, repo, usd, tokens: count }) => {
    const period = await readPeriod(PERIODS[per], { nowMs: clock.now(), zone });
    const isOwn = (row: DatedRow): boolean =>
      repo === undefined || row.repo?.toLowerCase() === repo.toLowerCase();
    const { rows, total } = usageBy(rowsBetween(days, period, []).filter(isOwn), 'session', prices);
    const [most, show] = usd === undefined ? [count ?? 0, tokens] : [usd, usdCell];
    const usedOf = ({ cost, input, output, cacheRead, cacheWrite }: Omit<UsageRow, 'key'>): number =>
      usd === undefined ? input + output + cacheRead + cacheWrite : (cost ?? 0);
    const sorted = [...rows].sort((a, b) => usedOf(b) - usedOf(a));
    const isPartial = usd !== undefined && total.unpriced > 0;
    const all = (per === 'session' ? sorted : [{ ...total, key: period.from }]).map((unit): BudgetState => {
      const top = per === 'session' ? unit : sorted[0];
      const by = top === undefined ? '' : `, most by ${names.get(top.key) ?? top.key} (${show(usedOf(top))})`;
      return {
        key: ['budget', per, unit.key, repo, most].join(':'),
        name: `${per} budget${repo === undefined ? '' : ` of ${repo}`}`,
        percent: Math.floor((usedOf(unit) / most) * 100),
        text: `${isPartial ? 'at least ' : ''}${show(usedOf(unit))} of ${show(most)}${by}`,
      };
    });
    return all.filter(({ percent }, at) => at === 0 || percent >= ALERT_PERCENT);
  });
  return (await Promise.all(states)).flat();
}

export function budgetTexts(states: readonly BudgetState[]): string[] {
  return states.map(({ name, percent, text }) => `${name} ${percent}%: ${text}`);
}

/** Formats the refusal of a tool as Claude Code's hook PreToolUse expects it. */
export function denial(over: readonly BudgetState[]): string {
  const reason = `A budget is used up: ${budgetTexts(over).join('; ')}.`;
  const own = { permissionDecision: 'deny', permissionDecisionReason: reason };
  return JSON.stringify({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...own } });
}
