import { readInstallManifest } from '../platform/files/install-manifest';
import { exists } from '../platform/files/folder';
import { processHost } from '../platform/files/paths';
import { onceEach } from '../platform/process/process';
import { createScheduler, type JobStatus, type Scheduler, type SchedulerKind } from '../schedule';
import { install, jobFor, type Scheduled } from '../schedule/installer';
import { DAEMON_JOB, tickJob, type JobId } from '../schedule/job';
import { beginScheduled, endDaemon, waitForRuns, type Running } from '../schedule/running';
import type { CaptureScheduler } from '../sense/source';
import { installerDeps, type Context } from './context';
import { isDaemonThere, stopDaemon } from '../daemon/client';

/** Returns the scheduler given with `--scheduler`, or this machine's default. */
export function schedulerOf(context: Context, kind?: SchedulerKind): Promise<Scheduler> {
  return createScheduler(installerDeps(context), kind);
}

export interface JobsHere {
  kind: SchedulerKind;
  jobs: JobStatus[];
}

/** Returns the status of this machine's jobs, or undefined if the scheduler isn't running and has no jobs. */
export async function jobsHere(
  context: Context,
  sense: { pollIntervalSec: number },
): Promise<JobsHere | undefined> {
  const scheduler = await createScheduler(
    Object.assign(installerDeps(context), { run: onceEach(context.run) }),
  );
  const jobs = await Promise.all([DAEMON_JOB, tickJob(sense)].map((job) => scheduler.status(job)));
  const isUsed = scheduler.available || jobs.some(({ installed }) => installed);
  return isUsed ? { kind: scheduler.kind, jobs } : undefined;
}

/** Installs the tick or the daemon; a dry run shows what would change. */
export async function installJob(
  context: Context,
  what: Scheduled,
  options: { scheduler?: SchedulerKind | undefined; dryRun?: boolean; insight?: boolean | undefined } = {},
): ReturnType<typeof install> {
  const { sense } = (await context.loadConfig()).config;
  const deps = {
    scheduler: await schedulerOf(context, options.scheduler),
    sense,
    captured: context.area.sense.root,
    setUpSense: async () => (await import('./sense')).setUpSense(context),
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

/** Returns the scheduler of a job and the job's state, or undefined if the job was never installed. */
export async function schedulerWith(
  context: Context,
  id: JobId,
): Promise<{ kind: SchedulerKind; installed: boolean; loaded: boolean } | undefined> {
  const { installManifest } = context.area;
  if (!exists(installManifest)) return undefined;
  const entries = readInstallManifest(installManifest, context.machineId);
  if (!entries.some((entry) => entry.id === `schedule:${id}`)) return undefined;
  // Only the tick needs the configuration, so an invalid configuration doesn't affect the daemon.
  const job = id === 'daemon' ? DAEMON_JOB : tickJob((await context.loadConfig()).config.sense);
  const { scheduler: kind, installed, loaded } = await (await schedulerOf(context)).status(job);
  return { kind, installed, loaded };
}

/** Reported as the scheduler if the daemon runs the captures. */
export const DAEMON_SCHEDULER: CaptureScheduler = { kind: 'the daemon', installed: true };

/** Returns what runs captures on this machine: a scheduler or the daemon. */
export async function currentScheduler(context: Context): Promise<CaptureScheduler> {
  const found = await schedulerWith(context, 'tick');
  const job = found && { kind: found.kind, installed: found.installed && found.loaded };
  if (job?.installed === true) return job;
  return (await isDaemonThere(context)) ? DAEMON_SCHEDULER : (job ?? null);
}

/**
 * Returns whether to run this command: false if a scheduler started it for a job that is no longer installed.
 */
export function mayRun(context: Context): boolean {
  return beginScheduled(context, processHost().env);
}

/** Waits up to a minute for uninstalled jobs to finish. Returns the jobs that are still running. */
export function waitForRunsOf(context: Context, onWait: (running: readonly Running[]) => void) {
  return waitForRuns(context, { stopDaemon: () => stopDaemon(context), onWait });
}

/** Stops the daemon and waits for its job to exit. Returns false if no daemon was running. */
export function endDaemonOf(context: Context): Promise<boolean> {
  return endDaemon(context, { stopDaemon: () => stopDaemon(context) });
}
