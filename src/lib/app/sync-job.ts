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
      const { folder, repo, engine } = (await context.loadConfig()).config.user.sync;
      if (engine !== 'git' || folder === undefined || repo === undefined) return undefined;
      const { exchange, isExchangeDue } = await import('../sync/engine');
      if (isExchangeDue(context))
        await exchange((await import('./sync-git')).openExchange(context, folder, repo));
      return undefined;
    },
  };
}
