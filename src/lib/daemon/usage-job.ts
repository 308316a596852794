import { acceptRequest, wasAccepted, type AcceptDeps } from '../notify/accept';
import { localTimes } from '../platform/time/day-words';
import { budgetStates } from '../usage/budgets';
import { collectUsage, problemsOf } from '../usage/collect';
import { announceLimits } from '../usage/limits';
import type { UsageReadDeps } from '../usage/reads';
import type { DaemonJob } from './jobs';

const JOB_SEC = 120;

/** Returns the job that reads the assistants' logs and notifies you about usage limits. */
export function usageJob(openUsage: () => Promise<{ deps: UsageReadDeps }>, notify: AcceptDeps): DaemonJob {
  return {
    id: 'usage',
    everySec: () => JOB_SEC,
    async run() {
      const { deps } = await openUsage();
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
