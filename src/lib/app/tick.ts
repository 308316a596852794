import { isDaemonThere } from '../daemon/client';
import { captureJob, hourlyJob, insightJob, NO_REPOSITORY, unsent, type DaemonJob } from '../daemon/jobs';
import { deliverWaiting } from '../notify/deliver';
import { drainWork } from './capture';
import type { Context } from './context';
import { openNotify } from './notify';
import { openInsight, openSense } from './sense';
import { syncJob } from './sync-job';
import { triggersOnce } from './triggers';
import { openWork } from './work';

const DELIVER_MS = 60_000;

/** Returns the jobs that a tick runs once: what the daemon does repeatedly. None while the daemon is running. */
export async function openTick(
  context: Context,
  onProblem: (problem: string) => void,
): Promise<Pick<DaemonJob, 'id' | 'run'>[] | undefined> {
  if (await isDaemonThere(context)) return undefined;
  // A broken configuration fails the whole run.
  await context.loadConfig();
  return [
    captureJob({
      clock: context.clock,
      isSetUp: () => context.area.sense.isSetUp,
      sense: () => openSense(context),
      isWatching: () => false,
      onProblem,
    }),
    syncJob(context),
    { id: 'notify', run: () => deliver(context) },
    { id: 'work', run: () => drain(context) },
    hourlySweepJob(context),
    hourlyInsightJob(context),
  ];
}

async function deliver(context: Context): Promise<undefined> {
  await triggersOnce(context);
  const { deps } = await openNotify(context);
  await deliverWaiting(deps, { patienceMs: 0, longestMs: DELIVER_MS });
}

async function drain(context: Context): Promise<string | undefined> {
  const work = await openWork(context);
  if (work.deps.workRepo().repo === undefined) return NO_REPOSITORY;
  return unsent(await drainWork(context, work));
}

export function hourlySweepJob(context: Context): DaemonJob {
  return hourlyJob('sweep', 'work', {
    clock: context.clock,
    unless: async () =>
      (await openWork(context)).deps.workRepo().repo === undefined ? NO_REPOSITORY : undefined,
    lastMs: async () => (await import('../work/sweep-log')).lastSweepMs(context),
    run: async () => {
      const { runSweep } = await import('./sweep');
      const options = { sinceMs: 24 * 3_600_000, maxCreate: 50, dryRun: false };
      const { result, trouble } = await runSweep(context, options);
      if (trouble !== undefined) throw trouble;
      return result.skipped ?? undefined;
    },
  });
}

export function hourlyInsightJob(context: Context): DaemonJob {
  const isOn = async () => (await context.loadConfig()).config.sense.insight.hourly;
  return insightJob(context.clock, isOn, async () => (await openInsight(context)).deps);
}
