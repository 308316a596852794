import { byCodeUnits } from '../platform/files/short-hash';
import { palette, wrap } from '../platform/terminal/format';
import type { Terminal } from '../platform/terminal/stdio';
import { clean } from '../platform/terminal/terminal';
import { originOf, pricedName, wholePrice, withoutTier, type Prices, type PriceTable } from './prices';
import { MIN_COLUMNS, namedTable, WIDE_COLUMNS } from './view';

const UNKNOWN = { input: null, output: null, cacheRead: null, cacheWrite: null, cacheWrite1h: null };

/** A model, its price in USD per million tokens, and where that is from. What isn't known is null. */
export type PricedModel = ReturnType<typeof priceRows>[number];

/** Returns the models whose names contain a word, the used ones first. */
export function priceRows(prices: Prices, table: PriceTable, usedModels: readonly string[], word = '') {
  const used = new Set(usedModels.map((model) => pricedName(model, prices) ?? withoutTier(model)));
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

export function pricesText(rows: readonly PricedModel[], table: PriceTable, terminal: Terminal): string {
  const columns = Math.max(MIN_COLUMNS, terminal.columns);
  const { neutral, strong } = palette(terminal);
  const isWide = columns >= WIDE_COLUMNS;
  const cells = (
    name: string,
    rates: Record<keyof typeof UNKNOWN, number | null>,
    from: string,
  ): string[] => {
    const { input, output, cacheRead, cacheWrite, cacheWrite1h } = rates;
    const shown = isWide ? [input, output, cacheRead, cacheWrite, cacheWrite1h] : [input, output];
    const numbers = shown.map((usd) => (usd === null ? 'unknown' : String(Number(usd.toPrecision(6)))));
    return [name, ...numbers, ...(isWide ? [from] : [])];
  };
  const lines = rows.flatMap(({ model, isUsed, tiers, source, asOf, ...rates }) => [
    cells(`${clean(model)}${isUsed ? ' *' : ''}`, rates, asOf ?? (source === null ? '' : 'yours')),
    ...tiers.map(({ above, ...tier }) => cells(`  above ${above}`, tier, '')),
  ]);
  const heads = ['model', 'input', 'output', ...(isWide ? ['cache read', 'write', 'for 1 h', 'as of'] : [])];
  const [head = '', ...body] = namedTable([heads, ...lines], columns);
  const notes = [
    `USD per million tokens, as of ${table.asOf} from ${table.source}; yours are in usage.prices.`,
    ...(rows.some(({ isUsed }) => isUsed) ? ['* used in the last 30 days'] : []),
  ];
  return [strong(head), ...body, '', ...notes.flatMap((note) => wrap(note, columns)).map(neutral)].join('\n');
}
