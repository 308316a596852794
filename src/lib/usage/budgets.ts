import type { Budget } from '../config/model-prices';
import { repositoryOf } from '../platform/files/git-folder';
import { parseObject, textOf } from '../platform/files/json-object';
import { tokens, usdCell } from '../platform/terminal/format';
import { readPeriod } from '../platform/time/period';
import { dayOf } from '../platform/time/time';
import { CLAUDE_CODE, sessionKey } from '../sessions/session-key';
import type { UsageDeps } from './collect';
import { rowsSince } from './ledger';
import type { Prices } from './prices';
import {
  keyOf,
  rowsBetween,
  tokensIn,
  usageBy,
  type DatedRow,
  type SessionFacts,
  type UsageRow,
} from './rollup';

const PERIODS = { session: '40d', day: 'today', week: 'this week', month: 'this month' } as const;

export const ALERT_PERCENT = 80;

/** The pace is what was spent in this time. */
const PACE_MIN = 20;

/** How much of a budget is spent. `key` identifies the budget in its period; `text` also names what spends most. */
export type BudgetState = Awaited<ReturnType<typeof budgetStates>>[number];

export interface BudgetDeps extends Pick<UsageDeps, 'clock' | 'zone' | 'days' | 'state'> {
  budgets: readonly Budget[];
  prices: Prices;
  sessions: () => Promise<SessionFacts>;
}

/** Returns how much of each budget is spent. A budget per session gives each session that spent much, or the first. */
export async function budgetStates(deps: BudgetDeps) {
  const { clock, zone, budgets, prices } = deps;
  if (budgets.length === 0) return [];
  const facts = await deps.sessions();
  const sinceMs = clock.now() - PACE_MIN * 60_000;
  const recent = rowsSince(deps.state, sinceMs, dayOf(sinceMs, zone));
  const states = budgets.map(async ({ per, repo, issue, usd, tokens: count }) => {
    const period = await readPeriod(PERIODS[per], { nowMs: clock.now(), zone });
    const isOwn = (row: DatedRow): boolean =>
      (repo === undefined || row.repo?.toLowerCase() === repo.toLowerCase()) &&
      (issue === undefined || keyOf(row, 'issue', facts) === issue);
    const [most, show] = usd === undefined ? [count ?? 0, tokens] : [usd, usdCell];
    const usedOf = (sums: Omit<UsageRow, 'key'>): number =>
      usd === undefined ? tokensIn(sums) : (sums.cost ?? 0);
    const sorted = (rows: readonly DatedRow[], by: 'session' | 'model'): UsageRow[] =>
      usageBy(rows, by, prices).rows.sort((a, b) => usedOf(b) - usedOf(a));
    const own = rowsBetween(deps.days, period, []).filter(isOwn);
    const { total } = usageBy(own, 'session', prices);
    const sessions = sorted(own, 'session');
    const who = (unit: UsageRow): string => {
      const name = (key: string): string => facts.get(key)?.name ?? key;
      const now = recent.filter((row) => isOwn(row) && (per !== 'session' || keyOf(row, per) === unit.key));
      const [busy] = sorted(now, 'session');
      if (busy !== undefined && usedOf(busy) > 0) {
        const [model] = sorted(now.filter((row) => keyOf(row, 'session') === busy.key), 'model'); // prettier-ignore
        return `, now ${name(busy.key)}, ${model?.key ?? ''}, ${show(usedOf(busy))} in ${PACE_MIN} min`;
      }
      if (own.length === 0) return where === '' ? '' : `, nothing stored for ${where} since ${period.from}`;
      const top = per === 'session' ? unit : sessions[0];
      return top === undefined ? '' : `, most by ${name(top.key)} (${show(usedOf(top))})`;
    };
    const where = [repo, issue].filter((part) => part !== undefined).join(' ');
    const isPartial = usd !== undefined && total.unpriced > 0;
    const units = per === 'session' && own.length > 0 ? sessions : [{ ...total, key: period.from }];
    const all = units.map((unit) => ({
      key: ['budget', per, unit.key, where, most].join(':'),
      name: `${per} budget${where === '' ? '' : ` of ${where}`}`,
      // The product of two fractions may be just below the percentage that it should be.
      percent: Math.floor((usedOf(unit) / most) * 100 + 1e-6),
      /** Whose work the budget limits; undefined if it limits everybody's. */
      only: { session: per === 'session' ? unit.key : undefined, repo, issue },
      text: `${isPartial ? 'at least ' : ''}${show(usedOf(unit))} of ${show(most)}${usd === undefined ? ' tokens' : ''}${who(unit)}`,
    }));
    return all.filter(({ percent }, at) => at === 0 || percent >= ALERT_PERCENT);
  });
  return (await Promise.all(states)).flat();
}

export function budgetTexts(states: readonly BudgetState[]): string[] {
  return states.map(({ name, percent, text }) => `${name} ${percent}% used: ${text}`);
}

/** Returns the budgets that limit the session of a hook's call, which is its JSON. */
export async function limiting(
  states: readonly BudgetState[],
  call: string,
  { sessions }: Pick<BudgetDeps, 'sessions'>,
): Promise<BudgetState[]> {
  const { session_id: id, cwd } = parseObject(call) ?? {};
  const session = sessionKey(CLAUDE_CODE, textOf(id) ?? '');
  const repo = repositoryOf(textOf(cwd) ?? '')?.name ?? '';
  const issue = (await sessions()).get(session)?.issue;
  return states.filter(
    ({ only }) =>
      (only.session ?? session) === session &&
      (only.repo ?? repo).toLowerCase() === repo.toLowerCase() &&
      (only.issue ?? issue) === issue,
  );
}

/** Formats the refusal of a tool as Claude Code's hook PreToolUse expects it. */
export function denial(over: readonly BudgetState[]): string {
  const permissionDecisionReason = `A budget is used up: ${budgetTexts(over).join('; ')}.`;
  const denied = { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason };
  return JSON.stringify({ hookSpecificOutput: denied });
}
