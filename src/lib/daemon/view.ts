import { palette, table, toAscii, wrap } from '../platform/terminal/format';
import { clean } from '../platform/terminal/terminal';
import type { JobStatus } from './jobs';
import type { LogLine } from './log';
import type { DaemonStatus, ModuleState } from './status';

export interface DaemonTextOptions {
  columns: number;
  color: boolean;
  unicode?: boolean;
  /** The local time of an ISO-8601 time, as a person reads it. */
  localTime: (iso: string) => string;
}

/** What `steward daemon status` knows of a daemon that runs. */
export interface RunningReport extends DaemonStatus {
  running: true;
  url: string;
  /** The version of the command that asked. */
  cliVersion: string;
}

/** `steward daemon status` without a daemon. */
export interface NotRunningReport {
  running: false;
  cliVersion: string;
}

export type DaemonReport = RunningReport | NotRunningReport;

export function daemonStatusText(report: DaemonReport, options: DaemonTextOptions): string {
  const lines = report.running
    ? runningLines(report, options)
    : ['The daemon does not run. Start it with "steward up", or "steward daemon serve".'];
  const text = lines.map((line) => line.trimEnd()).join('\n');
  return options.unicode === false ? toAscii(text) : text;
}

function runningLines(report: RunningReport, options: DaemonTextOptions): string[] {
  const colors = palette(options);
  const rows = [
    ['address', report.url],
    ['up', `${duration(report.uptimeSec)}, process ${report.pid}, ${Math.round(report.memoryMiB)} MiB`],
    ['version', clean(report.version)],
    ...(report.spool.waiting + report.spool.dead === 0
      ? []
      : [['spool', `${report.spool.waiting} waiting, ${report.spool.dead} given up`]]),
  ];
  const other =
    report.version === report.cliVersion
      ? []
      : wrap(
          `This command is version ${report.cliVersion}. The daemon restarts by itself once it is idle and its own package is upgraded; to do it now: steward daemon stop, then steward up.`,
          options.columns,
        ).map(colors.attention);
  const modules = report.modules.flatMap(({ id, state, reason, fix }) => [
    `${clean(id).padEnd(10)}${paintState(state, state === 'ok' || state === 'off' ? colors.neutral : colors.attention)}`,
    ...(reason === undefined ? [] : wrap(clean(reason), options.columns, '  ')),
    ...(fix === undefined ? [] : [`  ${fix}`]),
  ]);
  return [...table(rows).split('\n'), ...other, '', ...modules, '', ...jobLines(report.jobs, options)];
}

function jobLines(jobs: readonly JobStatus[], options: DaemonTextOptions): string[] {
  const rows = jobs.map(({ id, everySec, lastRun, lastOk, nextRun }) => [
    clean(id),
    `every ${everySec % 60 === 0 ? duration(everySec) : `${everySec} s`}`,
    lastRun === null ? 'has not run' : `${lastOk === false ? 'failed' : 'ran'} ${options.localTime(lastRun)}`,
    nextRun === null ? 'at work' : `next ${options.localTime(nextRun)}`,
  ]);
  return table(rows)
    .split('\n')
    .flatMap((line, i) => {
      const reason = jobs[i]?.reason;
      return [line, ...(reason === undefined ? [] : wrap(clean(reason), options.columns, '  '))];
    });
}

function paintState(state: ModuleState, paint: (text: string) => string): string {
  return state === 'ok' ? state : paint(state === 'needs-you' ? 'needs you' : state);
}

/** `40 s`, `12 min`, `3 h 02 m`, `2 d 4 h` */
export function duration(sec: number): string {
  if (sec < 60) return `${sec} s`;
  if (sec < 3600) return `${Math.floor(sec / 60)} min`;
  const hours = Math.floor(sec / 3600);
  if (hours < 48) return `${hours} h ${String(Math.floor((sec % 3600) / 60)).padStart(2, '0')} m`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** A line of the log for a person: time, level where it is not plain, event, and the rest as `key=value`. */
export function logLineText(line: LogLine, options: Pick<DaemonTextOptions, 'color' | 'localTime'>): string {
  const { ts, level, event, ...more } = line;
  const colors = palette(options);
  const rest = Object.entries(more).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const text = [options.localTime(ts), ...(level === 'info' ? [] : [level]), event, ...rest]
    .map(clean)
    .join('  ');
  return level === 'info' ? text : colors.attention(text);
}
