import { installerDeps, type Context } from '../app/context';
import { schedulerOf } from '../app/schedule';
import { isDaemonThere } from '../daemon/client';
import { onceEach } from '../platform/process/process';
import { createScheduler, type SchedulerKind } from '../schedule';
import { install, jobFor, type Scheduled } from '../schedule/installer';
import { DAEMON_JOB, tickJob } from '../schedule/job';

/** Returns the status of this machine's jobs, or undefined if the scheduler isn't running and has no jobs. */
export async function jobsHere(context: Context, sense: { pollIntervalSec: number }) {
  const scheduler = await createScheduler(
    Object.assign(installerDeps(context), { run: onceEach(context.run) }),
  );
  const jobs = await Promise.all([DAEMON_JOB, tickJob(sense)].map((job) => scheduler.status(job)));
  const isUsed = scheduler.available || jobs.some(({ installed }) => installed);
  return isUsed ? { kind: scheduler.kind, jobs } : undefined;
}

export type JobsHere = NonNullable<Awaited<ReturnType<typeof jobsHere>>>;

/** Installs the tick or the daemon; a dry run shows what would change. */
export async function installJob(
  context: Context,
  what: Scheduled,
  options: { scheduler?: SchedulerKind | undefined; dryRun?: boolean; insight?: boolean | undefined },
) {
  const { sense } = (await context.loadConfig()).config;
  const deps = {
    sense,
    scheduler: await schedulerOf(context, options.scheduler),
    captured: context.area.sense.root,
    setUpSense: async () => (await import('../app/sense')).setUpSense(context),
    async setHourly() {
      if (sense.insight.hourly) return;
      await (await import('../config/write')).setKeys(context, { 'sense.insight.hourly': true });
    },
    isDaemonThere: () => isDaemonThere(context),
  };
  return install(deps, what, options);
}

/** Removes the tick or the daemon from every scheduler; a dry run shows from which. */
export async function uninstallJob(context: Context, what: Scheduled, dryRun: boolean) {
  const { defaultConfig } = await import('../config/load');
  const scheduler = await schedulerOf(context);
  // A job is found by its id, so an invalid configuration doesn't prevent an uninstall.
  const job = what === 'daemon' ? DAEMON_JOB : tickJob(defaultConfig(context.area).sense);
  if (!dryRun) return scheduler.uninstall(job);
  const { installed, scheduler: kind } = await scheduler.status(job);
  return { job: job.id, removedFrom: installed ? [kind] : [], files: [] };
}

/** Returns the job that the tick or the daemon runs as, and its status. */
export async function statusOfJob(context: Context, what: Scheduled) {
  const scheduler = await schedulerOf(context);
  const job = await jobFor(what, { scheduler, sense: (await context.loadConfig()).config.sense });
  return { job, status: await scheduler.status(job) };
}
