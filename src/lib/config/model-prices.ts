import * as v from 'valibot';

import TABLE from '../../../templates/data/prices.json';
import { leaf, mapOf } from './leaf';

const RANGE = 'expected USD per million tokens, from 0 to 10000';
const TOKEN_PRICE = v.pipe(v.number(RANGE), v.minValue(0, RANGE), v.maxValue(10_000, RANGE));
const OPTIONAL = v.optional(TOKEN_PRICE);
const CACHE = { cacheRead: OPTIONAL, cacheWrite: OPTIONAL, cacheWrite1h: OPTIONAL };
const PRICE_KEYS =
  'expected a price with the keys input, output, cacheRead, cacheWrite, cacheWrite1h and above only';
const TIER_SIZE = `expected ${TABLE.public.tiers.join(', ')}`;
const TIER = v.strictObject({ input: OPTIONAL, output: OPTIONAL, ...CACHE }, PRICE_KEYS);
const above = v.optional(v.record(v.picklist(TABLE.public.tiers, TIER_SIZE), TIER));
const MODEL_PRICE = v.strictObject(
  { input: TOKEN_PRICE, output: TOKEN_PRICE, ...CACHE, above },
  ({ expected = '' }) => (expected.startsWith('"') ? RANGE : PRICE_KEYS),
);

/** `above` is what differs for a request whose input, with the cache, exceeds this many tokens, such as `200k`. */
export type ModelPrice = v.InferOutput<typeof MODEL_PRICE>;

/** Defines a key for the user's own prices, by model. */
export function modelPrices() {
  const expected =
    'models with prices in USD per million tokens, such as {"gpt-5": {"input": 1, "output": 10}}';
  return mapOf(expected, MODEL_PRICE);
}

const PERIOD = 'expected session, day, week or month';
const REPO = 'expected the name of a repository';
const USD = 'expected an amount of at least 0.01';
const COUNT = 'expected a whole number above 0';
const ISSUE = 'expected an issue, such as "#12"';
const BUDGET = v.pipe(
  v.strictObject(
    {
      per: v.picklist(['session', 'day', 'week', 'month'], PERIOD),
      usd: v.optional(v.pipe(v.number(USD), v.minValue(0.01, USD))),
      tokens: v.optional(v.pipe(v.number(COUNT), v.integer(COUNT), v.minValue(1, COUNT))),
      repo: v.optional(v.pipe(v.string(REPO), v.regex(/^[^/\\\s][^/\\]*$/, REPO))),
      issue: v.optional(v.pipe(v.string(ISSUE), v.regex(/^(?:.*[^\s#])?#[1-9]\d*$/, ISSUE))),
    },
    ({ expected }) =>
      expected === '"per"' ? PERIOD : 'expected a budget with the keys per, usd, tokens, repo and issue only',
  ),
  v.check(
    ({ usd, tokens }) => (usd === undefined) !== (tokens === undefined),
    'expected either usd or tokens',
  ),
);

/** What you want to spend at most in a period: US dollars or tokens, the cache included. */
export type Budget = v.InferOutput<typeof BUDGET>;

/** Defines a key for the most that your assistants should spend. */
export function budgetList() {
  return leaf<Budget[]>({
    expected:
      'a list of budgets per session, day, week or month, in usd or tokens, such as [{"per": "day", "usd": 20, "repo": "shop"}, {"per": "month", "usd": 50, "issue": "#12"}]',
    check: () => v.array(BUDGET),
    fallback: () => [],
    whole: true,
  });
}
