import type { Budget } from '../config/model-prices';
import { tokens, usdCell } from '../platform/terminal/format';
import { readPeriod } from '../platform/time/period';
import type { UsageDeps } from './collect';
import type { Prices } from './prices';
import { rowsBetween, usageBy, type DatedRow, type UsageRow } from './rollup';

const PERIODS = { session: '40d', day: 'today', week: 'this week', month: 'this month' } as const;

export const ALERT_PERCENT = 80;

/** How much of a budget is spent. `key` identifies the budget in its period; `text` also names what spends most. */
export type BudgetState = Awaited<ReturnType<typeof budgetStates>>[number];

export interface BudgetDeps extends Pick<UsageDeps, 'clock' | 'zone' | 'days'> {
  budgets: readonly Budget[];
  prices: Prices;
  /** Returns the sessions' display names by session id. */
  sessionNames: () => Promise<ReadonlyMap<string, string>>;
}

/** Returns how much of each budget is spent. A budget per session gives each session that spent much, or the first. */
export async function budgetStates(deps: BudgetDeps) {
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
    const all = (per === 'session' ? sorted : [{ ...total, key: period.from }]).map((unit) => {
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
  const permissionDecisionReason = `A budget is used up: ${budgetTexts(over).join('; ')}.`;
  const denied = { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason };
  return JSON.stringify({ hookSpecificOutput: denied });
}
