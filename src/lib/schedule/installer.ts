import { findProgram } from '../platform/process/spawn';
import { wrap } from '../platform/terminal/format';
import { clean } from '../platform/terminal/terminal';
import {
  DAEMON_JOB,
  tickJob,
  type JobInstalled,
  type Job,
  type JobStatus,
  type Scheduler,
  type SchedulerKind,
  type JobUninstalled,
} from './job';

export interface InstallerDeps {
  scheduler: Scheduler;
  sense: {
    enabled: boolean;
    pollIntervalSec: number;
    insight: { command: readonly string[]; hourly: boolean };
  };
  captured: string;
  /** The installed jobs of earlier versions. */
  former: readonly string[];
  setUpSense: () => Promise<unknown>;
  /** Switches the hourly insight on or off. */
  setHourly: (on: boolean) => Promise<unknown>;
  hasRepository: boolean;
  isDaemonThere: () => Promise<boolean>;
  endDaemon: () => Promise<unknown>;
}

/** What a user asked to schedule. The tick, or the daemon if its job is installed, does all but `daemon`. */
export type Scheduled = 'capture' | 'insight' | 'sweep' | 'daemon';

export type InstallerResult = JobInstalled | JobStatus | JobUninstalled;

interface InstallerAnswer {
  result: InstallerResult;
  warnings: string[];
  text: (options: JobTextOptions) => string;
}

/** Schedules something, stops that or reports the state of its job, depending on the flags. */
export async function runInstaller(
  deps: InstallerDeps,
  what: Scheduled,
  mode: { status: boolean; uninstall: boolean },
): Promise<InstallerAnswer> {
  const { scheduler, sense } = deps;
  const hasDaemonJob = what !== 'daemon' && (await scheduler.status(DAEMON_JOB)).installed;
  const job = what === 'daemon' || hasDaemonJob ? DAEMON_JOB : tickJob(sense);
  if (mode.status) {
    const result = await scheduler.status(job);
    const notes = what === 'insight' ? [`The hourly insight is ${sense.insight.hourly ? 'on' : 'off'}.`] : [];
    return { result, warnings: [], text: (options) => jobText(result, job, notes, options) };
  }
  if (mode.uninstall) return what === 'insight' ? endInsight(deps, job) : uninstall(deps, what);
  const wasRunning = what === 'daemon' && (await deps.isDaemonThere());
  if ((what === 'capture' || what === 'insight') && scheduler.available) await deps.setUpSense();
  const result = await scheduler.install(job);
  if (what === 'insight' || result.replaced.includes('insight')) await deps.setHourly(true);
  const notes = installNotes(deps, what);
  if (hasDaemonJob) notes.unshift('The daemon captures, delivers and sweeps, so no other job is needed.');
  if (wasRunning && result.changed)
    notes.push(
      'A daemon was already running. If you started it yourself, the installed daemon takes over when yours exits.',
    );
  return {
    result,
    warnings: result.warnings,
    text: (options) => installText(result, job, notes, options),
  };
}

async function endInsight(
  { scheduler, sense, former, setHourly }: InstallerDeps,
  job: Job,
): Promise<InstallerAnswer> {
  const text = sense.insight.hourly ? 'The hourly insight is off.' : 'The hourly insight is not installed.';
  await setHourly(false);
  if (former.includes('insight')) await scheduler.install(job);
  const result: JobUninstalled = { job: job.id, removedFrom: [], files: [] };
  return { result, warnings: [], text: () => text };
}

async function uninstall(deps: InstallerDeps, what: Scheduled): Promise<InstallerAnswer> {
  const job = what === 'daemon' ? DAEMON_JOB : tickJob(deps.sense);
  const result = await deps.scheduler.uninstall(job);
  // launchd and systemd stop the daemon on removal; the other schedulers don't.
  if (what === 'daemon' && result.removedFrom.some((from) => from === 'cron' || from === 'task-scheduler'))
    await deps.endDaemon();
  const daemonNote =
    'The daemon continues to capture. Run "steward config set sense.enabled false" to stop all captures.';
  const notes = what === 'capture' && (await deps.isDaemonThere()) ? [daemonNote] : [];
  return { result, warnings: [], text: (options) => uninstallText(result, job, notes, options) };
}

function installNotes(deps: InstallerDeps, what: Scheduled): string[] {
  const { sense, captured } = deps;
  switch (what) {
    case 'capture':
      return [
        sense.enabled
          ? `The job records names and times, never titles or content. Everything stays in ${captured}.`
          : 'sense.enabled is false, so the job captures nothing. Run "steward config set sense.enabled true".',
      ];
    case 'insight': {
      const [program = ''] = sense.insight.command;
      return [
        'Every hour, if you were active, steward sends a summary of the day to your assistant. Preview it with "steward sense insight preview".',
        ...(findProgram(program) === undefined
          ? [`${program} is not on the PATH. Install it, then install this job again.`]
          : []),
      ];
    }
    case 'sweep':
      return deps.hasRepository
        ? []
        : ['No work repository: the sweep does nothing until you run "steward work setup OWNER/REPO".'];
    case 'daemon':
      return ['Once you have run "steward sense init", the daemon also captures.'];
  }
}

export interface JobTextOptions {
  columns: number;
  localTime: (iso: string) => string;
}

const NAMES: Readonly<Record<SchedulerKind, string>> = {
  launchd: 'launchd',
  systemd: 'systemd (user)',
  cron: 'cron',
  'task-scheduler': 'Task Scheduler',
};

const commandOf = ({ args }: Job): string => `"steward ${args.join(' ')}"`;

export function installText(
  result: JobInstalled,
  job: Job,
  notes: readonly string[],
  { columns }: JobTextOptions,
): string {
  const { changed, everySec, scheduler, files } = result;
  const runs = everySec === null ? 'starts at login and after a failure' : `runs ${every(everySec)}`;
  return lines(columns, [
    `${changed ? 'Installed' : 'Already installed'}: ${commandOf(job)} ${runs}.`,
    ...(result.replaced.length === 0 ? [] : [row('replaces', result.replaced.join(', '))]),
    row('scheduler', `${NAMES[scheduler]}: ${result.why}`),
    ...files.map((file) => row('file', file)),
    row('log', result.log),
    ...notes,
  ]);
}

export function uninstallText(
  { removedFrom, files }: JobUninstalled,
  job: Job,
  notes: readonly string[],
  { columns }: JobTextOptions,
): string {
  const from = removedFrom.map((kind) => NAMES[kind]).join(' and ');
  return lines(columns, [
    removedFrom.length === 0
      ? `${commandOf(job)} is not installed; nothing was removed.`
      : `Removed ${commandOf(job)} from ${from}.`,
    ...files.filter((file) => /[\\/]/.test(file)).map((file) => row('removed', file)),
    ...notes,
  ]);
}

export function jobText(
  status: JobStatus,
  job: Job,
  notes: readonly string[],
  { columns, localTime }: JobTextOptions,
): string {
  const { loaded, everySec, lastRun, nextRun, lastExit, warning, fix, hint } = status;
  const scheduler = NAMES[status.scheduler];
  if (!status.installed)
    return lines(columns, [`Not installed in ${scheduler}. Install it with "${job.command}".`, ...notes]);
  const isDaemon = everySec === null;
  const ended = lastExit === null ? '' : lastExit === 0 ? ', ok' : `, exit code ${lastExit}`;
  const problem = [warning, hint, fix === undefined ? undefined : `Run "${fix}" again.`];
  return lines(columns, [
    `${commandOf(job)}, ${isDaemon ? 'at login' : every(everySec)}`,
    row('scheduler', `${scheduler}, ${loaded ? 'loaded' : 'not loaded'}`),
    row(isDaemon ? 'started' : 'last run', lastRun === null ? 'not yet' : `${localTime(lastRun)}${ended}`),
    ...(isDaemon ? [] : [row('next run', nextRun === null ? 'unknown' : localTime(nextRun))]),
    row('log', status.log),
    ...problem.filter((text) => text !== undefined),
    ...notes,
  ]);
}

/** Formats `every 2 min` or `every 90 s`. */
function every(sec: number): string {
  return sec % 60 === 0 ? `every ${sec / 60} min` : `every ${sec} s`;
}

function row(name: string, value: string): string {
  return `  ${name.padEnd(11)}${value}`;
}

function lines(columns: number, texts: readonly string[]): string {
  return texts
    .map(clean)
    .flatMap((text) => (text.startsWith('  ') ? [text] : wrap(text, columns)))
    .join('\n');
}
