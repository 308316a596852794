import { findProgram } from '../platform/process/spawn';
import { wrap } from '../platform/terminal/format';
import { clean } from '../platform/terminal/terminal';
import {
  JOBS,
  type InstallResult,
  type Job,
  type JobId,
  type JobStatus,
  type Scheduler,
  type SchedulerKind,
  type UninstallResult,
} from './job';

/** What an installer needs beside its scheduler. */
export interface InstallerDeps {
  scheduler: Scheduler;
  sense: { enabled: boolean; insight: { command: readonly string[] } };
  /** The folder of captured data. */
  captured: string;
  setUpSense: () => Promise<unknown>;
  hasRepository: boolean;
  isDaemonThere: () => Promise<boolean>;
  endDaemon: () => Promise<unknown>;
}

export type InstallerResult = InstallResult | JobStatus | UninstallResult;

/** Runs an installer in the mode that the flags ask for; `text` is for a person. */
export async function runInstaller(
  deps: InstallerDeps,
  job: Job,
  mode: { status: boolean; uninstall: boolean },
): Promise<{ result: InstallerResult; warnings: string[]; text: (options: TextOptions) => string }> {
  const { scheduler } = deps;
  if (mode.status) {
    const [result, notes] = [await scheduler.status(job), await daemonNotes(deps, job.id)];
    return { result, warnings: [], text: (options) => jobText(result, job, notes, options) };
  }
  if (mode.uninstall) {
    const result = await scheduler.uninstall(job);
    // The others stop the daemon themselves.
    const isLeft = result.removedFrom.some((from) => from === 'cron' || from === 'task-scheduler');
    if (job.id === 'daemon' && isLeft) await deps.endDaemon();
    const goesOn =
      'The daemon runs and goes on capturing; "steward config set sense.enabled false" ends that too.';
    const notes = job.id === 'sense' && (await deps.isDaemonThere()) ? [goesOn] : [];
    return { result, warnings: [], text: (options) => uninstallText(result, notes, options) };
  }
  const isTaken = job.id === 'daemon' && (await deps.isDaemonThere());
  if (job.id === 'sense' && scheduler.available) await deps.setUpSense();
  const result = await scheduler.install(job);
  const taken =
    'A daemon ran already. If you started it yourself, this one takes over within a minute of its end.';
  const notes = [...(await installNotes(deps, job.id)), ...(isTaken && result.changed ? [taken] : [])];
  return { result, warnings: result.warnings, text: (options) => installText(result, notes, options) };
}

/** What a person should know after an install. */
async function installNotes(deps: InstallerDeps, id: JobId): Promise<string[]> {
  const { sense, captured } = deps;
  switch (id) {
    case 'sense':
      return [
        sense.enabled
          ? `Names and times are noted, never titles or content; all of it stays in ${captured}.`
          : 'sense.enabled is false: the job runs and captures nothing. Switch it on with "steward config set sense.enabled true".',
        ...(await daemonNotes(deps, id)),
      ];
    case 'insight': {
      const [program = ''] = sense.insight.command;
      const isMissing = findProgram(program) === undefined;
      return [
        'Once an hour, unless it was idle, a summary of the day goes to your assistant; "steward sense insight preview" prints exactly what.',
        ...(isMissing
          ? [`${program} is not on the PATH: each read fails until it is, and the job is installed again.`]
          : []),
      ];
    }
    case 'work':
      return deps.hasRepository
        ? []
        : ['No work repository is set up: the sweep does nothing until "steward work setup OWNER/REPO".'];
    case 'daemon':
      return [
        'It captures by itself once sense is set up ("steward sense init"), beside what schedulers run.',
      ];
  }
}

async function daemonNotes({ isDaemonThere }: InstallerDeps, id: JobId): Promise<string[]> {
  if (id !== 'sense' || !(await isDaemonThere())) return [];
  return ['The daemon runs, too, and captures when nobody else has: a moment is never counted twice.'];
}

export interface TextOptions {
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
  result: InstallResult,
  notes: readonly string[],
  { columns }: TextOptions,
): string {
  const { changed, everySec, scheduler, files } = result;
  const runs =
    everySec === null ? 'starts at each login, and again after a failure' : `runs ${every(everySec)}`;
  return lines(columns, [
    `${changed ? 'Installed' : 'Installed already'}: ${commandOf(result.job)} ${runs}.`,
    row('scheduler', `${NAMES[scheduler]}: ${result.why}`),
    ...files.map((file) => row('file', file)),
    row('log', result.log),
    ...notes,
  ]);
}

export function uninstallText(
  { job, removedFrom, files }: UninstallResult,
  notes: readonly string[],
  { columns }: TextOptions,
): string {
  const from = removedFrom.map((kind) => NAMES[kind]).join(' and ');
  return lines(columns, [
    removedFrom.length === 0
      ? `${commandOf(job)} is not installed; nothing was removed.`
      : `Removed from ${from}: ${commandOf(job)} does not run by itself any more.`,
    ...files.filter((file) => /[\\/]/.test(file)).map((file) => row('removed', file)),
    ...notes,
  ]);
}

export function jobText(
  status: JobStatus,
  job: Job,
  notes: readonly string[],
  { columns, localTime }: TextOptions,
): string {
  const { loaded, everySec, lastRun, nextRun, lastExit, warning, mend, hint } = status;
  const scheduler = NAMES[status.scheduler];
  if (!status.installed)
    return lines(columns, [`Not installed in ${scheduler}. Install it with "${job.command}".`, ...notes]);
  const isDaemon = everySec === null;
  const ended = lastExit === null ? '' : lastExit === 0 ? ', ended well' : `, ended with code ${lastExit}`;
  return lines(columns, [
    `${commandOf(job.id)}, ${isDaemon ? 'at each login' : every(everySec)}`,
    row('scheduler', `${scheduler}, ${loaded ? 'loaded' : 'not loaded'}`),
    row(isDaemon ? 'started' : 'last run', lastRun === null ? 'not yet' : `${localTime(lastRun)}${ended}`),
    ...(isDaemon ? [] : [row('next run', nextRun === null ? 'not known' : localTime(nextRun))]),
    row('log', status.log),
    ...[warning, hint, mend === undefined ? undefined : `Run "${mend}" again.`].filter(
      (text) => text !== undefined,
    ),
    ...notes,
  ]);
}

/** `every 2 min`, `every 90 s`, `every hour` */
function every(sec: number): string {
  if (sec === 3600) return 'every hour';
  return sec % 60 === 0 ? `every ${sec / 60} min` : `every ${sec} s`;
}

function row(name: string, value: string): string {
  return `  ${name.padEnd(11)}${value}`;
}

/** Paths stay whole: a person copies them. */
function lines(columns: number, texts: readonly string[]): string {
  return texts
    .map(clean)
    .flatMap((text) => (text.startsWith('  ') ? [text] : wrap(text, columns)))
    .join('\n');
}
