import { findProgram } from '../platform/process/spawn';
import { processHost } from '../platform/files/paths';
import { clean } from '../platform/terminal/terminal';
import { noScheduler, type Scheduler } from './index';
import {
  DAEMON_JOB,
  tickJob,
  type JobInstalled,
  type Job,
  type JobStatus,
  type SchedulerKind,
  type JobUninstalled,
} from './job';

/** What a user asks to schedule: the tick, which the daemon replaces if its job is installed, or the daemon. */
export type Scheduled = 'jobs' | 'daemon';

export interface InstallerDeps {
  scheduler: Scheduler;
  sense: { enabled: boolean; pollIntervalSec: number; insight: { command: readonly string[] } };
  captured: string;
  setUpSense: () => Promise<unknown>;
  /** Switches the hourly insight on. */
  setHourly: () => Promise<unknown>;
  isDaemonThere: () => Promise<boolean>;
}

/** Returns the job that does what the user asks for. */
export async function jobFor(
  what: Scheduled,
  { scheduler, sense }: Pick<InstallerDeps, 'scheduler'> & { sense: { pollIntervalSec: number } },
): Promise<Job> {
  const isDaemon = what === 'daemon' || (await scheduler.status(DAEMON_JOB)).installed;
  return isDaemon ? DAEMON_JOB : tickJob(sense);
}

/** Installs the job. A dry run returns what would change and writes nothing. */
export async function install(
  deps: InstallerDeps,
  what: Scheduled,
  { dryRun = false, insight = false }: { dryRun?: boolean | undefined; insight?: boolean | undefined },
): Promise<{ installed: JobInstalled; notes: string[] }> {
  const { scheduler, sense } = deps;
  const job = await jobFor(what, deps);
  const notes = what === 'jobs' ? jobNotes(deps, job) : [];
  if (insight) notes.push(...insightNotes(sense.insight.command));
  if (dryRun) return { installed: await planned(scheduler, job), notes };
  const wasRunning = what === 'daemon' && (await deps.isDaemonThere());
  if (scheduler.available) await deps.setUpSense();
  const installed = await scheduler.install(job);
  if (insight) await deps.setHourly();
  if (wasRunning && installed.changed)
    notes.push(
      'A daemon was already running. If you started it yourself, the installed daemon takes over when yours exits.',
    );
  return { installed, notes };
}

async function planned(scheduler: Scheduler, job: Job): Promise<JobInstalled> {
  const { installed, loaded, scheduler: holder, warning, hint, log } = await scheduler.status(job);
  const { kind, why, available } = scheduler;
  const isHere = installed && holder === kind;
  if (!available && !isHere) throw noScheduler(processHost(), job);
  const problem = [`${job.id}:`, warning, hint].filter((part) => part !== undefined).join(' ');
  return {
    job: job.id,
    scheduler: kind,
    why,
    changed: available && !(isHere && loaded),
    replaced: [],
    files: [],
    everySec: job.everySec,
    log,
    warnings: available ? [] : [problem],
  };
}

function jobNotes({ sense, captured }: InstallerDeps, job: Job): string[] {
  if (job === DAEMON_JOB) return ['The daemon captures, delivers and sweeps, so no other job is needed.'];
  return [
    sense.enabled
      ? `The job records names and times, never titles or content. Everything stays in ${captured}.`
      : 'sense.enabled is false, so the job captures nothing. Run "steward config set sense.enabled true".',
  ];
}

function insightNotes([program = '']: readonly string[]): string[] {
  return [
    'Every hour, if you were active, steward sends a summary of the day to your assistant. Preview it with "steward sense insight build --dry-run".',
    ...(findProgram(program) === undefined
      ? [`${program} is not on the PATH. Install it, then install this job again.`]
      : []),
  ];
}

const NAMES: Readonly<Record<SchedulerKind, string>> = {
  launchd: 'launchd',
  systemd: 'systemd (user)',
  cron: 'cron',
  'task-scheduler': 'Task Scheduler',
};

export function jobInstalledText(result: JobInstalled, notes: readonly string[], dryRun: boolean): string {
  const { job, changed, everySec, scheduler, files, replaced, why, log } = result;
  const done = changed ? (dryRun ? 'Would install' : 'Installed') : 'Already installed';
  const runs = everySec === null ? 'starts at login and after a failure' : `runs ${every(everySec)}`;
  return lines([
    `${done}: ${job}, which ${runs}`,
    ...(replaced.length === 0 ? [] : [row('replaces', replaced.join(', '))]),
    row('scheduler', `${NAMES[scheduler]}: ${why}`),
    ...files.map((file) => row('file', file)),
    row('log', log),
    ...notes,
  ]);
}

export function jobUninstalledText({ job, removedFrom, files }: JobUninstalled, dryRun: boolean): string {
  return lines([
    `${dryRun ? 'Would remove' : 'Removed'} ${job} from ${removedFrom.map((kind) => NAMES[kind]).join(' and ')}`,
    ...files.filter((file) => /[\\/]/.test(file)).map((file) => row('removed', file)),
  ]);
}

export function jobText(status: JobStatus, job: Job, localTime: (iso: string) => string): string {
  const { loaded, everySec, lastRun, nextRun, lastExit, warning, fix, hint } = status;
  const scheduler = NAMES[status.scheduler];
  if (!status.installed) return `Not installed in ${scheduler}. Install it with "${job.command}".`;
  const isDaemon = everySec === null;
  const ended = lastExit === null ? '' : lastExit === 0 ? ', ok' : `, exit code ${lastExit}`;
  const problem = [warning, hint, fix === undefined ? undefined : `Run "${fix}" again.`];
  return lines([
    `"steward ${job.args.join(' ')}", ${isDaemon ? 'at login' : every(everySec)}`,
    row('scheduler', `${scheduler}, ${loaded ? 'loaded' : 'not loaded'}`),
    row(isDaemon ? 'started' : 'last run', lastRun === null ? 'not yet' : `${localTime(lastRun)}${ended}`),
    ...(isDaemon ? [] : [row('next run', nextRun === null ? 'unknown' : localTime(nextRun))]),
    row('log', status.log),
    ...problem.filter((text) => text !== undefined),
  ]);
}

/** Formats `every 2 min` or `every 90 s`. */
function every(sec: number): string {
  return sec % 60 === 0 ? `every ${sec / 60} min` : `every ${sec} s`;
}

function row(name: string, value: string): string {
  return `  ${name.padEnd(11)}${value}`;
}

function lines(texts: readonly string[]): string {
  return texts.map(clean).join('\n');
}
