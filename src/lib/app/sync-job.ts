import type { DaemonJob } from '../daemon/jobs';
import type { Context } from './context';
import { publishNow } from './sync';

const JOB_SEC = 300;

export function syncJob(context: Context): DaemonJob {
  return {
    id: 'sync',
    everySec: () => JOB_SEC,
    run: async () => {
      if ((await publishNow(context)) === undefined) return 'no exchange folder is set';
      const { isExchangeDue } = await import('../sync/engine');
      if (isExchangeDue(context)) await (await import('./sync-git')).exchangeNow(context);
      return undefined;
    },
  };
}
