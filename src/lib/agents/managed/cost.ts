import { parseIso } from '../../platform/time/clock';
import { isObject } from '../../platform/files/json-object';
import { textOf, type ManagedEvent } from './event';

/** USD for each hour in which a session is running (service.md: Limits). */
const ACTIVE_HOUR_USD = 0.08;

/** USD for a million tokens; undefined where nobody said. */
export interface Prices {
  input: number | undefined;
  output: number | undefined;
}

/** What a session has used. Tokens that come from the cache, or go there, are kept apart and priced as input. */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
  cacheTokens: number;
  activeSeconds: number;
  /** USD of everything, as the service counts it; undefined where it does not tell. */
  listCost: number | undefined;
}

export interface Cost extends Usage {
  activeUsd: number;
  /** USD; undefined while tokens are used whose price is not known. */
  tokenUsd: number | undefined;
  /** The best figure there is: what the service counts, else active time and the tokens with a price. */
  totalUsd: number;
}

/** Adds up usage, event by event in the order of the log. */
export interface UsageMeter {
  add: (event: ManagedEvent) => void;
  usage: () => Usage;
}

export function usageMeter(): UsageMeter {
  const summed = { inputTokens: 0, outputTokens: 0, cacheTokens: 0 };
  let told: Usage | undefined;
  let runningSince: number | undefined;
  let seconds = 0;
  return {
    add: (event) => {
      if (event.type === 'session.usage') {
        told = usageOf(event['usage'], seconds);
      } else if (event.type === 'span.model_request_end') {
        const used = usageOf(event['model_usage'], 0);
        summed.inputTokens += used.inputTokens;
        summed.outputTokens += used.outputTokens;
        summed.cacheTokens += used.cacheTokens;
      } else if (event.type.startsWith('session.status_')) {
        const at = parseIso(textOf(event, 'processed_at') ?? '');
        if (at === undefined) return;
        if (event.type === 'session.status_running') runningSince ??= at;
        else if (runningSince !== undefined) {
          seconds += Math.max(0, at - runningSince) / 1000;
          runningSince = undefined;
        }
      }
    },
    usage: () => ({
      inputTokens: Math.max(summed.inputTokens, told?.inputTokens ?? 0),
      outputTokens: Math.max(summed.outputTokens, told?.outputTokens ?? 0),
      cacheTokens: Math.max(summed.cacheTokens, told?.cacheTokens ?? 0),
      activeSeconds: Math.max(seconds, told?.activeSeconds ?? 0),
      listCost: told?.listCost,
    }),
  };
}

/** Usage as the service writes it, in an event or on a session; `activeSeconds` where it does not tell them. */
export function usageOf(value: unknown, activeSeconds: number): Usage {
  const from = isObject(value) ? value : {};
  const creation = isObject(from['cache_creation']) ? from['cache_creation'] : {};
  return {
    inputTokens: count(from['input_tokens']),
    outputTokens: count(from['output_tokens']),
    cacheTokens:
      count(from['cache_read_input_tokens']) +
      count(from['cache_creation_input_tokens']) +
      count(creation['ephemeral_5m_input_tokens']) +
      count(creation['ephemeral_1h_input_tokens']),
    activeSeconds: from['active_seconds'] === undefined ? activeSeconds : count(from['active_seconds']),
    listCost: dollars(from['list_cost']),
  };
}

export function costOf(usage: Usage, prices: Prices): Cost {
  const activeUsd = (usage.activeSeconds / 3600) * ACTIVE_HOUR_USD;
  const input = priced(usage.inputTokens + usage.cacheTokens, prices.input);
  const output = priced(usage.outputTokens, prices.output);
  const tokenUsd = input === undefined || output === undefined ? undefined : input + output;
  return {
    ...usage,
    activeUsd,
    tokenUsd,
    totalUsd: usage.listCost ?? activeUsd + (input ?? 0) + (output ?? 0),
  };
}

function priced(tokens: number, perMillion: number | undefined): number | undefined {
  if (tokens === 0) return 0;
  return perMillion === undefined ? undefined : (tokens / 1_000_000) * perMillion;
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
}

/** `{amount: "250", currency: "USD"}` is 2.50: the amount is in the smallest unit, as a text. */
function dollars(value: unknown): number | undefined {
  const amount = textOf(value, 'amount');
  if (amount === undefined || !/^\d{1,15}$/.test(amount) || textOf(value, 'currency') !== 'USD')
    return undefined;
  return Number(amount) / 100;
}
