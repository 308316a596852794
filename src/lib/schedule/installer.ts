import { findProgram } from '../platform/process/spawn';
import { wrap } from '../platform/terminal/format';
import { clean } from '../platform/terminal/terminal';
import {
  JOBS,
  type JobInstalled,
  type Job,
  type JobId,
  type JobStatus,
  type Scheduler,
  type SchedulerKind,
  type JobUninstalled,
} from './job';

export interface InstallerDeps {
  scheduler: Scheduler;
  sense: { enabled: boolean; insight: { command: readonly string[] } };
  captured: string;
  setUpSense: () => Promise<unknown>;
  hasRepository: boolean;
  isDaemonThere: () => Promise<boolean>;
  endDaemon: () => Promise<unknown>;
}

export type InstallerResult = JobInstalled | JobStatus | JobUninstalled;

/** Installs a job, removes it or reports its status, depending on the flags. */
export async function runInstaller(
  deps: InstallerDeps,
  job: Job,
  mode: { status: boolean; uninstall: boolean },
): Promise<{ result: InstallerResult; warnings: string[]; text: (options: JobTextOptions) => string }> {
  const { scheduler } = deps;
  const isDaemon = job.id === 'daemon';
  if (mode.status) {
    const [result, notes] = [await scheduler.status(job), await daemonNotes(deps, job.id)];
    return { result, warnings: [], text: (options) => jobText(result, job, notes, options) };
  }
  if (mode.uninstall) {
    const result = await scheduler.uninstall(job);
    // launchd and systemd stop the daemon on removal; the other schedulers don't.
    if (isDaemon && result.removedFrom.some((from) => from === 'cron' || from === 'task-scheduler'))
      await deps.endDaemon();
    const daemonNote =
      'The daemon continues to capture. Run "steward config set sense.enabled false" to stop all captures.';
    const notes = job.id === 'sense' && (await deps.isDaemonThere()) ? [daemonNote] : [];
    return { result, warnings: [], text: (options) => uninstallText(result, notes, options) };
  }
  const wasRunning = isDaemon && (await deps.isDaemonThere());
  if (job.id === 'sense' && scheduler.available) await deps.setUpSense();
  const result = await scheduler.install(job);
  const notes = await installNotes(deps, job.id);
  if (wasRunning && result.changed)
    notes.push(
      'A daemon was already running. If you started it yourself, the installed daemon takes over when yours exits.',
    );
  return { result, warnings: result.warnings, text: (options) => installText(result, notes, options) };
}

async function installNotes(deps: InstallerDeps, id: JobId): Promise<string[]> {
  const { sense, captured } = deps;
  switch (id) {
    case 'sense':
      return [
        sense.enabled
          ? `The job records names and times, never titles or content. Everything stays in ${captured}.`
          : 'sense.enabled is false, so the job captures nothing. Run "steward config set sense.enabled true".',
        ...(await daemonNotes(deps, id)),
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
    case 'work':
      return deps.hasRepository
        ? []
        : ['No work repository: the sweep does nothing until you run "steward work setup OWNER/REPO".'];
    case 'daemon':
      return ['Once you have run "steward sense init", the daemon also captures.'];
  }
}

async function daemonNotes({ isDaemonThere }: InstallerDeps, id: JobId): Promise<string[]> {
  if (id !== 'sense' || !(await isDaemonThere())) return [];
  return ['The daemon also captures, but no time is counted twice.'];
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

const commandOf = (id: JobId): string => `"steward ${JOBS[id].args.join(' ')}"`;

export function installText(
  result: JobInstalled,
  notes: readonly string[],
  { columns }: JobTextOptions,
): string {
  const { changed, everySec, scheduler, files } = result;
  const runs = everySec === null ? 'starts at login and after a failure' : `runs ${every(everySec)}`;
  return lines(columns, [
    `${changed ? 'Installed' : 'Already installed'}: ${commandOf(result.job)} ${runs}.`,
    row('scheduler', `${NAMES[scheduler]}: ${result.why}`),
    ...files.map((file) => row('file', file)),
    row('log', result.log),
    ...notes,
  ]);
}

export function uninstallText(
  { job, removedFrom, files }: JobUninstalled,
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
    `${commandOf(job.id)}, ${isDaemon ? 'at login' : every(everySec)}`,
    row('scheduler', `${scheduler}, ${loaded ? 'loaded' : 'not loaded'}`),
    row(isDaemon ? 'started' : 'last run', lastRun === null ? 'not yet' : `${localTime(lastRun)}${ended}`),
    ...(isDaemon ? [] : [row('next run', nextRun === null ? 'unknown' : localTime(nextRun))]),
    row('log', status.log),
    ...problem.filter((text) => text !== undefined),
    ...notes,
  ]);
}

/** Formats `every 2 min`, `every 90 s` or `every hour`. */
function every(sec: number): string {
  if (sec === 3600) return 'every hour';
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
