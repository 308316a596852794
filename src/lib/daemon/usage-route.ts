import { checkedDays, type UsageReads } from '../usage/reads';
import { GROUPINGS, type Usage } from '../usage/rollup';
import { machineIn, oneOf, route, wholeNumber, type Route } from './route';

const DEFAULT_DAYS = 7;

/** The response of `GET /api/usage`. */
export interface UsageDocument extends Usage {
  /** The lines about limits and budgets; their texts can name sessions. */
  limits: { text: string }[];
}

/**
 * Handles `GET /api/usage?by=model&days=30`. Returns the output of `steward usage --json` and the limits, as of the
 * usage job's last run.
 */
export function usageRoute(openUsage: () => Promise<UsageReads>): Route {
  return route({
    method: 'GET',
    path: '/api/usage',
    input: ({ query }) => ({
      by: oneOf(query, 'by', GROUPINGS) ?? 'day',
      days: checkedDays(wholeNumber(query, 'days') ?? DEFAULT_DAYS),
      machine: machineIn(query),
    }),
    async run(words): Promise<UsageDocument> {
      const usage = await openUsage();
      const { limits } = await usage.limits();
      return { ...(await usage.stored(words)), limits: limits.map((text) => ({ text })) };
    },
  });
}
