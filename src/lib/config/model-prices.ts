import * as v from 'valibot';

import { leaf } from './leaf';

/** A price in USD per million tokens. */
const TOKEN_PRICE = v.pipe(v.number(), v.minValue(0), v.maxValue(10_000));

const MODEL_PRICE = v.strictObject({
  input: TOKEN_PRICE,
  output: TOKEN_PRICE,
  cacheRead: v.optional(TOKEN_PRICE),
  cacheWrite: v.optional(TOKEN_PRICE),
  cacheWrite1h: v.optional(TOKEN_PRICE),
});

/** Defines a key for the user's own prices, by model. */
export function modelPrices() {
  return leaf<Record<string, v.InferOutput<typeof MODEL_PRICE>>>({
    expected: 'models with prices in USD per million tokens, such as {"gpt-5": {"input": 1, "output": 10}}',
    check: v.record(v.string(), MODEL_PRICE),
    fallback: () => ({}),
  });
}
