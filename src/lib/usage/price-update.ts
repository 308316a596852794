import TABLE from '../../../templates/data/prices.json';
import type { ModelPrice } from '../config/model-prices';
import { StewardError } from '../errors';
import { isObject, parseObject } from '../platform/files/json-object';
import { getUrl } from '../platform/net/fetch';
import { clean } from '../platform/terminal/terminal';
import { isPrice, wholePrice, type Prices } from './prices';

const { vendors, modes, tiers, fields } = TABLE.public;
/** What the table puts before the names of a vendor's models; a reseller's or region's prices differ. */
const OWN_PREFIX = new RegExp(`^(?:${vendors.join('|')})/`);

const LIMITS = { timeoutMs: 60_000, maxBytes: 8 * 1024 * 1024 };
const TIER = /_above_(\d+k)_tokens$/;

/** Fetches the table that LiteLLM publishes, with one request. Returns the prices of the vendors' own models. */
export async function fetchPrices(env: NodeJS.ProcessEnv, url: string): Promise<Prices> {
  const refuse = (why: string): never => {
    const hint = 'The prices are unchanged. Check usage.priceTable; redirects are not followed.';
    throw new StewardError('unavailable', `${new URL(url).host} ${why}.`, { hint });
  };
  const { status, text } = await getUrl(env, url, {}, LIMITS);
  if (status !== 200) return refuse(`answered with status ${status}`);
  const table = parseObject(text) ?? refuse('sent no complete price table');
  const prices: Record<string, ModelPrice> = {};
  for (const [name, entry] of Object.entries(table)) {
    const price = isObject(entry) && clean(name) === name ? priceIn(entry) : undefined;
    if (price === undefined) continue;
    if (!isPrice(price)) return refuse(`sent an invalid price of ${name}`);
    prices[name.replace(OWN_PREFIX, '')] = price as ModelPrice;
  }
  return Object.keys(prices).length === 0 ? refuse('sent a table without prices') : prices;
}

/** Returns an entry's prices per million tokens, unchecked. Undefined if they aren't known for each size of a prompt. */
function priceIn(entry: Record<string, unknown>): object | undefined {
  const { litellm_provider: vendor, mode } = entry;
  const isKnown = (key: string): boolean => (entry[key] ?? 0) !== 0;
  const isOdd = Object.keys(entry).some((key) => {
    const [, size] = TIER.exec(key) ?? [];
    return size !== undefined && isKnown(key) && !tiers.includes(size);
  });
  if (isOdd || !vendors.includes(String(vendor)) || !modes.includes(String(mode))) return undefined;
  // The product of two fractions may be just beside the price.
  const usd = (key: string): number => Number((Number(entry[key]) * 1e6).toPrecision(12));
  const rates = (suffix: string): object => {
    const keys = Object.entries(fields).map(([field, key]) => [field, key + suffix] as const);
    return Object.fromEntries(
      keys.filter(([, key]) => isKnown(key)).map(([field, key]) => [field, usd(key)]),
    );
  };
  const above = tiers
    .map((size) => [size, rates(`_above_${size}_tokens`)] as const)
    .filter(([, tier]) => Object.keys(tier).length > 0);
  const price = { ...rates(''), ...(above.length > 0 && { above: Object.fromEntries(above) }) };
  return 'input' in price && 'output' in price ? price : undefined;
}

/** Returns which models have another price, added ones first and removed ones last. */
export function priceChanges(before: Prices, after: Prices) {
  const [old, now] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  const models = [...new Set([...old.keys(), ...now.keys()])].sort();
  const changes = models.map((model) => {
    const kind: (typeof KINDS)[number] = !old.has(model) ? 'added' : now.has(model) ? 'changed' : 'removed';
    return { model, kind, before: old.get(model) ?? null, after: now.get(model) ?? null };
  });
  return changes
    .filter((change) => textOf(change.before) !== textOf(change.after))
    .sort((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind));
}

const KINDS = ['added', 'changed', 'removed'] as const;

function textOf(price: ModelPrice | null): string {
  if (price === null) return '';
  const texts = [undefined, ...Object.keys(price.above ?? {})].map((tier) => {
    const [input, output, ...cache] = Object.values(wholePrice(price, tier)).map((usd) =>
      Number(usd.toPrecision(6)),
    );
    return `${tier === undefined ? '' : `above ${tier} `}${input} in, ${output} out, cache ${cache.join('/')}`;
  });
  return texts.join('; ');
}

/** Formats a line for each change, and their number. */
export function changesText(changes: ReturnType<typeof priceChanges>): string {
  const lines = changes.map(({ kind, model, before, after }) => {
    const prices = [before, after].map(textOf).filter((text) => text !== '');
    return `${kind} ${model}: ${prices.join(' -> ')}`;
  });
  const counts = KINDS.map((kind) => `${changes.filter((change) => change.kind === kind).length} ${kind}`);
  const unit = 'USD per million tokens; cache: read, write, write for an hour';
  return [...lines, `${counts.join(', ')} (${unit}).`].join('\n');
}
