import { acceptRequest, wasAccepted, type AcceptDeps } from '../notify/accept';
import { localTimes } from '../platform/time/day-words';
import { budgetStates } from '../usage/budgets';
import { collectUsage, problemsOf } from '../usage/collect';
import { announceLimits } from '../usage/limits';
import { checkedDays, type UsageReadDeps, type UsageReads } from '../usage/reads';
import { GROUPINGS, type Usage } from '../usage/rollup';
import type { DaemonJob } from './jobs';
import { machineIn, oneOf, route, wholeNumber, type Route } from './route';

type OpenUsage = () => Promise<UsageReads & { deps: UsageReadDeps }>;

const JOB_SEC = 120;
const DEFAULT_DAYS = 7;

/** Returns the job that reads the assistants' logs and notifies you about usage limits. */
export function usageJob(open: OpenUsage, notify: AcceptDeps): DaemonJob {
  return {
    id: 'usage',
    everySec: () => JOB_SEC,
    async run() {
      const { deps } = await open();
      if (!deps.enabled) return 'usage.enabled is false';
      const sources = await collectUsage(deps);
      const nowMs = deps.clock.now();
      const localTime = localTimes(deps.clock, deps.zone);
      await announceLimits(
        { ...deps, nowMs, localTime, budgets: await budgetStates(deps) },
        async ({ message, dedupe }) => {
          // After a kill, the text may have changed, and only the same text counts as a duplicate.
          if (wasAccepted(notify, dedupe)) return;
          const about = { event: 'limit', message, dedupe } as const;
          await acceptRequest(notify, { ...about, voiceEnabled: false, source: 'job', tags: [] });
        },
      );
      return problemsOf(sources)[0];
    },
  };
}

/** The response of `GET /api/usage`. */
export interface UsageDocument extends Usage {
  /** The lines about limits and budgets; their texts can name sessions. */
  limits: { text: string }[];
}

/**
 * Handles `GET /api/usage?by=model&days=30`. Returns the output of `steward usage --json` and the limits, as of the
 * usage job's last run.
 */
export function usageRoute(open: OpenUsage): Route {
  return route({
    method: 'GET',
    path: '/api/usage',
    input: ({ query }) => ({
      by: oneOf(query, 'by', GROUPINGS) ?? 'day',
      days: checkedDays(wholeNumber(query, 'days') ?? DEFAULT_DAYS),
      machine: machineIn(query),
    }),
    async run(words): Promise<UsageDocument> {
      const usage = await open();
      const { limits } = await usage.limits();
      return { ...(await usage.stored(words)), limits: limits.map((text) => ({ text })) };
    },
  });
}
