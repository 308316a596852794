import { readInstallManifest } from '../platform/files/install-manifest';
import { exists } from '../platform/files/folder';
import { processHost } from '../platform/files/paths';
import { createScheduler, type JobStatus, type Scheduler, type SchedulerKind } from '../schedule';
import { runInstaller } from '../schedule/installer';
import { JOB_IDS, jobOf, type Job, type JobId } from '../schedule/job';
import {
  beginScheduled,
  endDaemon,
  runDeps,
  waitForRuns,
  type RunDeps,
  type Running,
} from '../schedule/running';
import type { SenseStatus } from '../sense/source';
import { installerDeps, type Context } from './context';
import { isDaemonThere, stopDaemon } from '../daemon/client';

/** Returns the scheduler given with `--scheduler`, or this machine's default. */
export function schedulerOf(context: Context, kind?: SchedulerKind): Promise<Scheduler> {
  return createScheduler(installerDeps(context), kind);
}

async function configuredJob(context: Context, id: JobId): Promise<Job> {
  return jobOf(id, (await context.loadConfig()).config.sense);
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
  const scheduler = await schedulerOf(context);
  const jobs = await Promise.all(JOB_IDS.map((id) => scheduler.status(jobOf(id, sense))));
  const isUsed = scheduler.available || jobs.some(({ installed }) => installed);
  return isUsed ? { kind: scheduler.kind, jobs } : undefined;
}

/** Runs `sense install`, `work install` or `daemon install`. */
export async function install(
  context: Context,
  id: JobId,
  flags: { status: boolean; uninstall: boolean; scheduler?: SchedulerKind | undefined },
): ReturnType<typeof runInstaller> {
  const { config } = await context.loadConfig();
  const deps = {
    scheduler: await schedulerOf(context, flags.scheduler),
    sense: config.sense,
    captured: context.area.sense.root,
    setUpSense: async () => (await import('./sense')).setUpSense(context),
    hasRepository: config.workRepo.repo !== undefined,
    isDaemonThere: () => isDaemonThere(context),
    endDaemon: () => endDaemonOf(context),
  };
  return runInstaller(deps, jobOf(id, config.sense), flags);
}

/** Starts the daemon through its job. Returns the scheduler, or undefined if the job isn't installed. */
export async function startDaemonJob(context: Context): Promise<SchedulerKind | undefined> {
  return (await schedulerOf(context)).start(await configuredJob(context, 'daemon'));
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
  // Only the capture job reads the configuration, so an invalid configuration doesn't affect other jobs.
  const job = id === 'sense' ? await configuredJob(context, id) : jobOf(id);
  const { scheduler: kind, installed, loaded } = await (await schedulerOf(context)).status(job);
  return { kind, installed, loaded };
}

/** Reported as the scheduler if the daemon runs the captures. */
export const DAEMON_SCHEDULER: SenseStatus['scheduler'] = { kind: 'the daemon', installed: true };

/** Returns what runs captures on this machine: a scheduler or the daemon. */
export async function currentScheduler(context: Context): Promise<SenseStatus['scheduler']> {
  const found = await schedulerWith(context, 'sense');
  const job = found && { kind: found.kind, installed: found.installed && found.loaded };
  if (job?.installed === true) return job;
  return (await isDaemonThere(context)) ? DAEMON_SCHEDULER : (job ?? null);
}

/**
 * Returns whether to run this command: false if a scheduler started it for a job that is no longer installed.
 */
export function mayRun(context: Context): boolean {
  return beginScheduled(runsOf(context), processHost());
}

/** Waits up to a minute for uninstalled jobs to finish. Returns the jobs that are still running. */
export function waitForRunsOf(
  context: Context,
  onWait: (running: readonly Running[]) => void,
): Promise<Running[]> {
  return waitForRuns(runsOf(context), { stopDaemon: () => stopDaemon(context), onWait });
}

/** Stops the daemon and waits for its job to exit. Returns false if no daemon was running. */
export function endDaemonOf(context: Context): Promise<boolean> {
  return endDaemon(runsOf(context), { stopDaemon: () => stopDaemon(context) });
}

function runsOf(context: Context): RunDeps {
  return runDeps(context, processHost());
}
