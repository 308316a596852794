import { join } from 'node:path';

import TABLE from '../../../templates/data/prices.json';
import type { ModelPrice } from '../config/model-prices';
import { exists, removeFile } from '../platform/files/folder';
import { isObject } from '../platform/files/json-object';
import { objectIn, writeObject } from '../platform/files/object-file';
import { isAmount, isText, optional, shape, where } from '../platform/files/shape';
import { isDay } from '../platform/time/time';
import type { DayRow } from './days';
import type { Amounts } from './entry';

export type Prices = Readonly<Record<string, ModelPrice>>;

/** Prices and where they are from. */
export interface PriceTable {
  models: Prices;
  asOf: string;
  source: string;
  /** Why the table of the last update is not used. */
  problems: readonly string[];
}

const SHIPPED_ORIGIN = { source: 'steward', asOf: TABLE.asOf };
const SHIPPED: PriceTable = { models: TABLE.models, ...SHIPPED_ORIGIN, problems: [] };

/** More USD per million tokens than any model costs. */
const MAX_USD = 10_000;
const isUsd = where(isAmount, (usd) => usd <= MAX_USD);
const ifSet = optional(isUsd);
const CACHE = { cacheRead: ifSet, cacheWrite: ifSet, cacheWrite1h: ifSet };
const isTier = shape({ input: ifSet, output: ifSet, ...CACHE });
const areTiers = where(isObject, (above) => Object.values(above).every(isTier));
export const isPrice = shape({ input: isUsd, output: isUsd, ...CACHE, above: optional(areTiers) });
const isTable = shape({
  asOf: where(isText, isDay),
  source: isText,
  models: where(isObject, (models) => Object.values(models).every(isPrice)),
});

/** Returns the shipped prices and, over them, those of an update. */
export function tableOf(updated: Omit<PriceTable, 'problems'> = SHIPPED): PriceTable {
  return { ...updated, problems: [], models: { ...SHIPPED.models, ...updated.models } };
}

const fileOf = (state: string): string => join(state, 'prices.json');

export function readTable(state: string): PriceTable {
  const path = fileOf(state);
  if (!exists(path)) return SHIPPED;
  const stored = objectIn(path);
  return isTable(stored)
    ? tableOf(stored as PriceTable)
    : { ...SHIPPED, problems: [`damaged, so prices as of ${SHIPPED.asOf} apply: ${path}`] };
}

/** Returns where a model's price is from: the configuration, an update, or steward. */
export function originOf(model: string, prices: Prices, { models, source, asOf }: PriceTable) {
  if (prices[model] === undefined) return { source: null, asOf: null };
  if (prices[model] !== models[model]) return { source: 'usage.prices', asOf: null };
  return models[model] === SHIPPED.models[model] ? SHIPPED_ORIGIN : { source, asOf };
}

/** Stores the prices of an update; removes them if there are none. */
export function storeTable(state: string, updated: object | undefined): void {
  if (updated === undefined) removeFile(fileOf(state));
  else writeObject(fileOf(state), updated);
}

/** Returns a table's prices, overridden by the user's prices. */
export function pricesWith(own: Prices, { models } = SHIPPED): Prices {
  return { ...models, ...own };
}

/**
 * Returns a row's cost in USD, from the model's price or the assistant's report. Returns null if both are
 * unknown.
 */
export function costOf(row: DayRow, prices: Prices): number | null {
  const name = pricedName(row.model, prices);
  const price = name === undefined ? undefined : prices[name];
  if (price === undefined) return row.cost > 0 ? row.cost : null;
  const { input, output, cacheRead, cacheWrite, cacheWrite1h } = wholePrice(price, TIER.exec(row.model)?.[1]);
  const shortWrites = row.cacheWrite - row.cacheWrite1h;
  const total =
    row.input * input +
    row.output * output +
    row.cacheRead * cacheRead +
    shortWrites * cacheWrite +
    row.cacheWrite1h * cacheWrite1h;
  return total / 1_000_000;
}

const { tiers: TIERS } = TABLE.public;
const TIER = / \(>(\d+k)\)$/;

/** Adds the highest tier that a request's input exceeds to the model's name, such as `gpt-5.5 (>272k)`. */
export function withTier(model: string, [input, , cacheRead, cacheWrite]: Amounts): string {
  const tier = TIERS.findLast((size) => input + cacheRead + cacheWrite > parseInt(size, 10) * 1000);
  return tier === undefined ? model : `${model} (>${tier})`;
}

export function withoutTier(model: string): string {
  return model.replace(TIER, '');
}

/** Returns the price of a request in a tier. By default, the cache is read for a tenth of the input's price. */
export function wholePrice({ above, ...base }: ModelPrice, tier = '') {
  const reached = TIERS.slice(0, TIERS.indexOf(tier) + 1).map((size) => above?.[size]);
  const { input, output, ...cache } = Object.assign({}, base, ...reached) as typeof base;
  const { cacheRead = input / 10, cacheWrite = input * 1.25, cacheWrite1h = input * 2 } = cache;
  return { input, output, cacheRead, cacheWrite, cacheWrite1h };
}

/** Returns the name in the prices that is the model's, if needed without its provider (`anthropic/`) or date. */
export function pricedName(used: string, prices: Prices): string | undefined {
  const model = withoutTier(used);
  const bare = model.slice(model.lastIndexOf('/') + 1);
  return [model, bare, bare.replace(/-\d{4}-?\d{2}-?\d{2}$/, '')].find((candidate) =>
    Object.hasOwn(prices, candidate),
  );
}
