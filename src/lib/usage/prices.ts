import { join } from 'node:path';

import TABLE from '../../../templates/data/prices.json';
import { exists, removeFile } from '../platform/files/folder';
import { isObject } from '../platform/files/json-object';
import { objectIn, writeObject } from '../platform/files/object-file';
import { isAmount, isText, optional, shape, where } from '../platform/files/shape';
import { isDay } from '../platform/time/time';
import type { DayRow } from './days';

/** USD per million tokens. */
export interface Price {
  input: number;
  output: number;
  /** Default: a tenth of `input`. */
  cacheRead?: number | undefined;
  /** Default: 1.25 times `input`, or twice `input` for writes with a one-hour lifetime. */
  cacheWrite?: number | undefined;
  cacheWrite1h?: number | undefined;
}

export type Prices = Readonly<Record<string, Price>>;

/** Prices and where they are from. */
export interface PriceTable {
  models: Prices;
  asOf: string;
  source: string;
  /** Why the table of the last update is not used. */
  problems: readonly string[];
}

const SHIPPED: PriceTable = { models: TABLE.models, asOf: TABLE.asOf, source: 'steward', problems: [] };

/** More USD per million tokens than any model costs. */
const MAX_USD = 10_000;
const isUsd = where(isAmount, (usd) => usd <= MAX_USD);
const ifSet = optional(isUsd);
const CACHE = { cacheRead: ifSet, cacheWrite: ifSet, cacheWrite1h: ifSet };
export const isPrice = shape({ input: isUsd, output: isUsd, ...CACHE });
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
  const price = priceOf(row.model, prices);
  if (price === undefined) return row.cost > 0 ? row.cost : null;
  const { input, output, cacheRead, cacheWrite, cacheWrite1h } = wholePrice(price);
  const shortWrites = row.cacheWrite - row.cacheWrite1h;
  const total =
    row.input * input +
    row.output * output +
    row.cacheRead * cacheRead +
    shortWrites * cacheWrite +
    row.cacheWrite1h * cacheWrite1h;
  return total / 1_000_000;
}

/** Returns a price with what its table leaves to the defaults. */
export function wholePrice({ input, output, ...cache }: Price) {
  const { cacheRead = input / 10, cacheWrite = input * 1.25, cacheWrite1h = input * 2 } = cache;
  return { input, output, cacheRead, cacheWrite, cacheWrite1h };
}

/**
 * Finds a model's price by its full name, or by its name without a provider prefix (`anthropic/`) or date.
 */
function priceOf(model: string, prices: Prices): Price | undefined {
  const bare = model.slice(model.lastIndexOf('/') + 1);
  const name = [model, bare, bare.replace(/-\d{4}-?\d{2}-?\d{2}$/, '')].find((candidate) =>
    Object.hasOwn(prices, candidate),
  );
  return name === undefined ? undefined : prices[name];
}
