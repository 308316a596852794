import { wrap } from '../platform/terminal/format';
import { clean } from '../platform/terminal/terminal';
import {
  JOBS,
  type Job,
  type InstallResult,
  type JobStatus,
  type SchedulerKind,
  type UninstallResult,
} from './job';

export interface TextOptions {
  columns: number;
  /** The local time of an ISO-8601 time, as a person reads it. */
  localTime: (iso: string) => string;
}

const NAMES: Readonly<Record<SchedulerKind, string>> = {
  launchd: 'launchd',
  systemd: 'systemd (user)',
  cron: 'cron',
  'task-scheduler': 'Task Scheduler',
};

/** `sense install` and its likes. */
export function installText(
  result: InstallResult,
  notes: readonly string[],
  { columns }: TextOptions,
): string {
  const { changed, everySec, scheduler, files } = result;
  const runs =
    everySec === null ? 'starts at each login, and again after a failure' : `runs ${every(everySec)}`;
  return lines(columns, [
    `${changed ? 'Installed' : 'Installed already'}: "steward ${JOBS[result.job].args.join(' ')}" ${runs}.`,
    ...rows([
      ['scheduler', `${NAMES[scheduler]}: ${result.why}`],
      ...files.map((file): [string, string] => ['file', file]),
      ['log', result.log],
    ]),
    ...notes,
  ]);
}

/** `--uninstall` */
export function uninstallText(
  result: UninstallResult,
  notes: readonly string[],
  { columns }: TextOptions,
): string {
  const { removedFrom, files } = result;
  return lines(columns, [
    removedFrom.length === 0
      ? `"steward ${JOBS[result.job].args.join(' ')}" is not installed; nothing was removed.`
      : `Removed from ${removedFrom.map((kind) => NAMES[kind]).join(' and ')}: "steward ${JOBS[result.job].args.join(' ')}" does not run by itself any more.`,
    ...rows(files.filter((file) => /[\\/]/.test(file)).map((file) => ['removed', file])),
    ...notes,
  ]);
}

/** `--status` */
export function jobText(
  status: JobStatus,
  job: Job,
  notes: readonly string[],
  { columns, localTime }: TextOptions,
): string {
  const { installed, loaded, everySec, scheduler, lastRun, nextRun, lastExit, warning, mend, hint } = status;
  if (!installed)
    return lines(columns, [
      `Not installed in ${NAMES[scheduler]}. Install it with "${job.command}".`,
      ...notes,
    ]);
  const isDaemon = everySec === null;
  const ended = lastExit === null ? '' : lastExit === 0 ? ', ended well' : `, ended with code ${lastExit}`;
  return lines(columns, [
    `"steward ${job.args.join(' ')}", ${isDaemon ? 'at each login' : every(everySec)}`,
    ...rows([
      ['scheduler', `${NAMES[scheduler]}, ${loaded ? 'loaded' : 'not loaded'}`],
      [isDaemon ? 'started' : 'last run', lastRun === null ? 'not yet' : `${localTime(lastRun)}${ended}`],
      ...(isDaemon ? [] : [['next run', nextRun === null ? 'not known' : localTime(nextRun)] as const]),
      ['log', status.log],
    ]),
    ...(warning === undefined ? [] : [warning]),
    ...(hint === undefined ? [] : [hint]),
    ...(mend === undefined ? [] : [`Run "${mend}" again.`]),
    ...notes,
  ]);
}

/** `every 2 min`, `every 90 s`, `every hour` */
function every(sec: number): string {
  if (sec === 3600) return 'every hour';
  return sec % 60 === 0 ? `every ${sec / 60} min` : `every ${sec} s`;
}

function rows(pairs: readonly (readonly [string, string])[]): string[] {
  return pairs.map(([name, value]) => `  ${name.padEnd(11)}${value}`);
}

/** Paths stay whole: a person copies them. */
function lines(columns: number, texts: readonly string[]): string {
  return texts
    .map(clean)
    .flatMap((text) => (text.startsWith('  ') ? [text] : wrap(text, columns)))
    .join('\n');
}
