import TABLE from '../../../templates/data/prices.json';
import type { DayRow } from './days';

/** USD per million tokens. */
export interface Price {
  input: number;
  output: number;
  /** Default: a tenth of `input`. */
  cacheRead?: number | undefined;
  /** Default: 1.25 times `input`, or twice `input` for a one-hour lifetime. */
  cacheWrite?: number | undefined;
  cacheWrite1h?: number | undefined;
}

export type Prices = Readonly<Record<string, Price>>;

/** When the shipped prices were last updated. */
export const PRICES_AS_OF = TABLE.asOf;

/** Returns the shipped prices, overridden by your own. */
export function pricesWith(own: Prices): Prices {
  return { ...(TABLE.models as Prices), ...own };
}

/**
 * Returns a row's cost in USD, by the model's price or as reported by the assistant; null if neither is
 * known.
 */
export function costOf(row: DayRow, prices: Prices): number | null {
  const price = priceOf(row.model, prices);
  if (price === undefined) return row.cost > 0 ? row.cost : null;
  const {
    input,
    output,
    cacheRead = input / 10,
    cacheWrite = input * 1.25,
    cacheWrite1h = input * 2,
  } = price;
  const shortWrites = row.cacheWrite - row.cacheWrite1h;
  const total =
    row.input * input +
    row.output * output +
    row.cacheRead * cacheRead +
    shortWrites * cacheWrite +
    row.cacheWrite1h * cacheWrite1h;
  return total / 1_000_000;
}

/** Finds a model by its full name, or by its name without the provider (`anthropic/`) or date. */
function priceOf(model: string, prices: Prices): Price | undefined {
  const bare = model.slice(model.lastIndexOf('/') + 1);
  const name = [model, bare, bare.replace(/-\d{4}-?\d{2}-?\d{2}$/, '')].find((candidate) =>
    Object.hasOwn(prices, candidate),
  );
  return name === undefined ? undefined : prices[name];
}
