import { byCodeUnits } from '../platform/files/short-hash';
import { palette, wrap } from '../platform/terminal/format';
import type { Terminal } from '../platform/terminal/stdio';
import { clean } from '../platform/terminal/terminal';
import type { Period } from '../platform/time/period';
import { originOf, pricedName, wholePrice, withoutTier } from './prices';
import type { UsageReadDeps } from './reads';
import { rowsBetween } from './rollup';
import { MIN_COLUMNS, namedTable, WIDE_COLUMNS } from './view';

const UNKNOWN = { input: null, output: null, cacheRead: null, cacheWrite: null, cacheWrite1h: null };
const RATES = Object.keys(UNKNOWN) as (keyof typeof UNKNOWN)[];
const HEADS = ['input', 'output', 'cache read', 'write', 'for 1 h'];

type ListDeps = Pick<UsageReadDeps, 'days' | 'prices' | 'table'>;

/** A model, its price in USD per million tokens, and where that is from. What isn't known is null. */
type PricedModel = ReturnType<typeof priceRows>[number];

/** Returns the models whose names contain a word, those used in the period first. */
export function priceRows({ days, prices, table }: ListDeps, period: Pick<Period, 'from' | 'to'>, word = '') {
  const rows = rowsBetween(days, period, []);
  const used = new Set(rows.map(({ model }) => pricedName(model, prices) ?? withoutTier(model)));
  const names = [...new Set([...used, ...Object.keys(prices)])].filter((model) =>
    model.toLowerCase().includes(word.toLowerCase()),
  );
  names.sort((a, b) => Number(used.has(b)) - Number(used.has(a)) || byCodeUnits(a, b));
  return names.map((model) => {
    const price = prices[model];
    const at = (above?: string) => (price === undefined ? UNKNOWN : wholePrice(price, above));
    const tiers = Object.keys(price?.above ?? {}).map((above) => ({ above, ...at(above) }));
    return { model, ...at(), tiers, isUsed: used.has(model), ...originOf(model, prices, table) };
  });
}

export function pricesText(rows: readonly PricedModel[], { table }: ListDeps, terminal: Terminal): string {
  const columns = Math.max(MIN_COLUMNS, terminal.columns);
  const { neutral, strong } = palette(terminal);
  const count = columns < WIDE_COLUMNS ? 2 : RATES.length;
  const textOf = (usd: number | null): string =>
    usd === null ? 'unknown' : String(Number(usd.toPrecision(6)));
  const numbers = (rates: Record<keyof typeof UNKNOWN, number | null>): string[] =>
    RATES.slice(0, count).map((rate) => textOf(rates[rate]));
  const lines = rows.flatMap(({ model, isUsed, tiers, source, asOf, ...rates }) => [
    [`${clean(model)}${isUsed ? ' *' : ''}`, ...numbers(rates), asOf ?? (source === null ? '' : 'yours')],
    ...tiers.map(({ above, ...tier }) => [`  above ${above}`, ...numbers(tier), '']),
  ]);
  const heads = ['model', ...HEADS.slice(0, count), 'as of'];
  const [head = '', ...body] = namedTable([heads, ...lines], columns);
  const notes = `USD per million tokens, as of ${table.asOf} from ${table.source}; yours are in usage.prices. *: used in the last 30 days.`;
  return [strong(head), ...body, '', ...wrap(notes, columns).map(neutral)].join('\n');
}
