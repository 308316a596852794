import { dirname } from 'node:path';

import { readInstallManifest } from '../platform/files/install-manifest';
import { exists } from '../platform/files/folder';
import { processHost } from '../platform/files/paths';
import { findProgram } from '../platform/process/program';
import {
  createScheduler,
  type InstallResult,
  type JobStatus,
  type Scheduler,
  type SchedulerKind,
  type UninstallResult,
} from '../schedule';
import { JOB_IDS, jobOf, type Job, type JobId } from '../schedule/job';
import type { Context } from './context';
import { isDaemonThere } from './daemon-client';

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
  const { config } = await context.loadConfig();
  return jobOf(id, config.sense);
}

/** The scheduler of this machine, and how each job is doing in it. */
export interface JobsHere {
  kind: SchedulerKind;
  jobs: JobStatus[];
}

/** For `status`, `doctor` and `init`; undefined where no scheduler runs and none holds a job. */
export async function jobsHere(
  context: Context,
  sense: { pollIntervalSec: number },
): Promise<JobsHere | undefined> {
  const scheduler = await schedulerOf(context);
  const jobs = await Promise.all(JOB_IDS.map((id) => scheduler.status(jobOf(id, sense))));
  return scheduler.available || jobs.some(({ installed }) => installed)
    ? { kind: scheduler.kind, jobs }
    : undefined;
}

/** The result of an installer in one of its modes, and what a person should know beside it. */
export interface Report<T> {
  job: Job;
  result: T;
  notes: string[];
}

/**
 * Registers a job. The command is the consent to its running by itself (decisions.md 3): what it needs to be set up
 * is set up with defaults, as it would do at its first run.
 */
export async function installJob(
  context: Context,
  id: JobId,
  kind?: SchedulerKind,
): Promise<Report<InstallResult>> {
  const job = await scheduledJob(context, id);
  const scheduler = await schedulerOf(context, kind);
  const isTaken = id === 'daemon' && (await isDaemonThere(context));
  if (id === 'sense' && scheduler.available) {
    const { setUpSense } = await import('./sense');
    await setUpSense(context);
  }
  const result = await scheduler.install(job);
  const notes = await installNotes(context, id);
  if (isTaken && result.changed)
    notes.push(
      'A daemon ran already. If you started it yourself, this one takes over within a minute of its end.',
    );
  return { job, result, notes };
}

/** Takes a job out of its scheduler, and ends the daemon where the scheduler does not do that itself. */
export async function uninstallJob(context: Context, id: JobId): Promise<Report<UninstallResult>> {
  const job = await scheduledJob(context, id);
  const result = await (await schedulerOf(context)).uninstall(job);
  const isLeft =
    id === 'daemon' && result.removedFrom.some((from) => from === 'cron' || from === 'task-scheduler');
  if (isLeft) {
    const { endDaemon } = await import('./scheduled-run');
    await endDaemon(context);
  }
  const goesOn = id === 'sense' && (await isDaemonThere(context));
  const notes = goesOn
    ? ['The daemon runs and goes on capturing; "steward config set sense.enabled false" ends that too.']
    : [];
  return { job, result, notes };
}

/** Starts the daemon as its job does; the scheduler that did, undefined where the daemon is in none. */
export async function startDaemonJob(context: Context): Promise<SchedulerKind | undefined> {
  return (await schedulerOf(context)).start(await scheduledJob(context, 'daemon'));
}

export async function jobStatus(context: Context, id: JobId): Promise<Report<JobStatus>> {
  const job = await scheduledJob(context, id);
  const result = await (await schedulerOf(context)).status(job);
  return { job, result, notes: await daemonNotes(context, id) };
}

/** The scheduler that a job was installed in, and how it stands there; undefined where it never was. */
export async function schedulerWith(
  context: Context,
  id: JobId,
): Promise<{ kind: SchedulerKind; installed: boolean; loaded: boolean } | undefined> {
  const { installManifest } = context.area;
  if (!exists(installManifest)) return undefined;
  const entries = readInstallManifest(installManifest, context.machineId);
  if (!entries.some((entry) => entry.id === `schedule:${id}`)) return undefined;
  const scheduler = await schedulerOf(context);
  // A configuration that is wrong stands in nobody's way here who has no need of it.
  const job = id === 'sense' ? await scheduledJob(context, id) : jobOf(id);
  const { scheduler: kind, installed, loaded } = await scheduler.status(job);
  return { kind, installed, loaded };
}

async function installNotes(context: Context, id: JobId): Promise<string[]> {
  const { config } = await context.loadConfig();
  const { sense } = config;
  switch (id) {
    case 'sense':
      return [
        sense.enabled
          ? `Names and times are noted, never titles or content; all of it stays in ${context.area.sense.root}.`
          : 'sense.enabled is false: the job runs and captures nothing. Switch it on with "steward config set sense.enabled true".',
        ...(await daemonNotes(context, id)),
      ];
    case 'insight': {
      const [program = ''] = sense.insight.command;
      return [
        'Once an hour, unless it was idle, a summary of the day goes to your assistant; "steward sense insight preview" prints exactly what.',
        ...(findProgram(program) === undefined
          ? [`${program} is not on the PATH: each read fails until it is, and the job is installed again.`]
          : []),
      ];
    }
    case 'work': {
      const { openWork } = await import('./work');
      return (await openWork(context)).deps.workRepo().repo === undefined
        ? ['No work repository is set up: the sweep does nothing until "steward work setup OWNER/REPO".']
        : [];
    }
    case 'daemon':
      return [
        'It captures by itself once sense is set up ("steward sense init"), beside what schedulers run.',
      ];
  }
}

/** The daemon has a capture of its own: two never count a moment twice. */
async function daemonNotes(context: Context, id: JobId): Promise<string[]> {
  if (id !== 'sense' || !(await isDaemonThere(context))) return [];
  return ['The daemon runs, too, and captures when nobody else has: a moment is never counted twice.'];
}
