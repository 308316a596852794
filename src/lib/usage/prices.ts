import TABLE from '../../../templates/data/prices.json';
import type { DayRow } from './days';

/** USD per million tokens. */
interface Price {
  input: number;
  output: number;
  /** Default: a tenth of `input`. */
  cacheRead?: number | undefined;
  /** Default: 1.25 times `input`, or twice `input` for writes with a one-hour lifetime. */
  cacheWrite?: number | undefined;
  cacheWrite1h?: number | undefined;
}

export type Prices = Readonly<Record<string, Price>>;

export const PRICES_AS_OF = TABLE.asOf;

/** Returns the built-in prices, overridden by the user's prices. */
export function pricesWith(own: Prices): Prices {
  return { ...(TABLE.models as Prices), ...own };
}

/**
 * Returns a row's cost in USD, from the model's price or the assistant's report. Returns null if both are
 * unknown.
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
