import type { DaemonJob } from '../daemon/jobs';
import { prepareDays, type ReadDeps } from '../sense/read';
import type { Context } from './context';
import { publishNow } from './sync';

const JOB_SEC = 300;

/** Publishes what is new, and merges days that the next command may show, for a process that keeps them. */
export function syncJob(context: Context, sense?: () => Promise<ReadDeps>): DaemonJob {
  return {
    id: 'sync',
    everySec: () => JOB_SEC,
    run: async () => {
      if ((await publishNow(context)) === undefined) return 'no exchange folder is set';
      const { isExchangeDue } = await import('../sync/engine');
      if (isExchangeDue(context)) await (await import('./sync-git')).exchangeNow(context);
      const deps = await sense?.();
      if (deps !== undefined) await prepareDays(deps, deps.machines?.()?.days() ?? []);
      return undefined;
    },
  };
}
