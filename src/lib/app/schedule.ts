import { isDaemonThere } from '../daemon/client';
import { exists } from '../platform/files/folder';
import { readInstallManifest } from '../platform/files/install-manifest';
import { createScheduler, type Scheduler, type SchedulerKind } from '../schedule';
import { DAEMON_JOB, tickJob, type JobId } from '../schedule/job';
import type { CaptureScheduler } from '../sense/source';
import { installerDeps, type Context } from './context';

/** Returns the scheduler given with `--scheduler`, or this machine's default. */
export function schedulerOf(context: Context, kind?: SchedulerKind): Promise<Scheduler> {
  return createScheduler(installerDeps(context), kind);
}

/** Returns the scheduler of a job and the job's state, or undefined if the job was never installed. */
export async function schedulerWith(context: Context, id: JobId) {
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
