import { dirname } from 'node:path';

import { readInstallManifest } from '../platform/files/install-manifest';
import { exists } from '../platform/files/folder';
import { processHost } from '../platform/files/paths';
import { createScheduler, type JobStatus, type Scheduler, type SchedulerKind } from '../schedule';
import { runInstaller } from '../schedule/installer';
import { JOB_IDS, jobOf, type Job, type JobId } from '../schedule/job';
import { beginScheduled, endDaemon, runDeps, waitForRuns, type Running } from '../schedule/running';
import type { SenseStatus } from '../sense/source';
import type { Context } from './context';
import { isDaemonThere, stopDaemon } from './daemon-client';

/** The scheduler of this machine, chosen by probing, or the given one (`--scheduler`). */
export async function schedulerOf(context: Context, kind?: SchedulerKind): Promise<Scheduler> {
  const deps = {
    area: context.area,
    clock: context.clock,
    host: processHost(),
    product: { root: dirname(context.templates), node: process.execPath },
    run: context.run,
    // A getter: what writes nothing never makes an id.
    get machineId() {
      return context.machineId;
    },
  };
  return createScheduler(deps, kind);
}

/** A job as it is configured. */
async function scheduledJob(context: Context, id: JobId): Promise<Job> {
  return jobOf(id, (await context.loadConfig()).config.sense);
}

/** The scheduler of this machine, and how each job is doing in it. */
export interface JobsHere {
  kind: SchedulerKind;
  jobs: JobStatus[];
}

/** Undefined if no scheduler runs and none holds a job. */
export async function jobsHere(
  context: Context,
  sense: { pollIntervalSec: number },
): Promise<JobsHere | undefined> {
  const scheduler = await schedulerOf(context);
  const jobs = await Promise.all(JOB_IDS.map((id) => scheduler.status(jobOf(id, sense))));
  const isUsed = scheduler.available || jobs.some(({ installed }) => installed);
  return isUsed ? { kind: scheduler.kind, jobs } : undefined;
}

/** `sense install` and the like, in one of their modes. */
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
    hasRepository: () => Promise.resolve(config.workRepo.repo !== undefined),
    isDaemonThere: () => isDaemonThere(context),
    endDaemon: () => endDaemonOf(context),
  };
  return runInstaller(deps, jobOf(id, config.sense), flags);
}

/** Starts the daemon as its job does; the scheduler that did, undefined if none has it. */
export async function startDaemonJob(context: Context): Promise<SchedulerKind | undefined> {
  return (await schedulerOf(context)).start(await scheduledJob(context, 'daemon'));
}

/** The scheduler that a job was installed in, and its state there; undefined if it never was. */
export async function schedulerWith(
  context: Context,
  id: JobId,
): Promise<{ kind: SchedulerKind; installed: boolean; loaded: boolean } | undefined> {
  const { installManifest } = context.area;
  if (!exists(installManifest)) return undefined;
  const entries = readInstallManifest(installManifest, context.machineId);
  if (!entries.some((entry) => entry.id === `schedule:${id}`)) return undefined;
  // An invalid configuration does not matter here unless the job needs it.
  const job = id === 'sense' ? await scheduledJob(context, id) : jobOf(id);
  const { scheduler: kind, installed, loaded } = await (await schedulerOf(context)).status(job);
  return { kind, installed, loaded };
}

/** What captures while the daemon runs. */
export const DAEMON_SCHEDULER: SenseStatus['scheduler'] = { kind: 'the daemon', installed: true };

/** What captures by itself now: the job's scheduler, else the daemon, also one too busy to answer. */
export async function currentScheduler(context: Context): Promise<SenseStatus['scheduler']> {
  const found = await schedulerWith(context, 'sense');
  const job = found && { kind: found.kind, installed: found.installed && found.loaded };
  if (job?.installed === true) return job;
  return (await isDaemonThere(context)) ? DAEMON_SCHEDULER : (job ?? null);
}

/** May this command, which a scheduler started, run? */
export function mayRun(context: Context): boolean {
  const host = processHost();
  return beginScheduled(runDeps(context, host), host);
}

/** Waits at most a minute for runs of uninstalled jobs; returns those still under way. */
export function waitForRunsOf(
  context: Context,
  onWait: (running: readonly Running[]) => void,
): Promise<Running[]> {
  return waitForRuns(runDeps(context, processHost()), { stopDaemon: () => stopDaemon(context), onWait });
}

/** Stops the daemon and waits for its job to end; true if one ran. */
export function endDaemonOf(context: Context): Promise<boolean> {
  return endDaemon(runDeps(context, processHost()), { stopDaemon: () => stopDaemon(context) });
}
