import type { UserArea } from '../config/user-area';
import { failure, withHint, type Finding } from '../platform/check';
import { definedOnly } from '../platform/files/json-object';
import { palette, table, wrap, joinLines, type TextOptions } from '../platform/terminal/format';
import { clean } from '../platform/terminal/terminal';
import { NOT_SET_UP, senseFinding, type SenseHealth } from '../sense/source';
import { workFinding } from '../work/checks';
import type { WorkDeps } from '../work/deps';
import { workStatus } from '../work/status';
import type { DaemonJobStatus } from './jobs';
import type { LogLine } from './log';

/** A part of the daemon that reports its own health. */
export interface Module {
  id: string;
  label: string;
  health: () => Finding | Promise<Finding>;
}

/** Response to `GET /api/status`. */
export interface DaemonStatus {
  version: string;
  pid: number;
  uptimeSec: number;
  memoryMiB: number;
  /** ISO 8601 in UTC. */
  startedAt: string;
  modules: ({ id: string; label: string } & Finding)[];
  /** The number of pending and failed notifications. */
  outbox: { waiting: number; failed: number };
  /** Number and age of the files that hooks have queued. */
  spool: { waiting: number; dead: number; oldest: string | null };
  jobs: DaemonJobStatus[];
}

/** Returns the state of every module; `failed` if the module throws. */
export function findingsOf(modules: readonly Module[]): Promise<DaemonStatus['modules']> {
  return Promise.all(
    modules.map(async ({ id, label, health }) => {
      const { state, found, hint, fix } = await Promise.resolve().then(health).catch(failure);
      return definedOnly({ id, label, state, found, hint, fix });
    }),
  );
}

export interface DaemonTextOptions extends TextOptions {
  localTime: (iso: string) => string;
}

/** The output of `steward daemon status` while the daemon is running. */
export interface RunningReport extends DaemonStatus {
  running: true;
  url: string;
  /** Version of this command. */
  cliVersion: string;
}

export type DaemonReport = RunningReport | { running: false; cliVersion: string };

export function daemonStatusText(report: DaemonReport, options: DaemonTextOptions): string {
  const lines = report.running
    ? runningLines(report, options)
    : ['The daemon is not running. Start it with "steward up" or "steward daemon serve".'];
  return joinLines(lines);
}

function runningLines(report: RunningReport, options: DaemonTextOptions): string[] {
  const colors = palette(options);
  const rows = [
    ['address', report.url],
    ['up', `${duration(report.uptimeSec)}, process ${report.pid}, ${Math.round(report.memoryMiB)} MiB`],
    ['version', clean(report.version)],
    ...(report.spool.waiting + report.spool.dead === 0
      ? []
      : [['spool', `${report.spool.waiting} waiting, ${report.spool.dead} failed`]]),
  ];
  const other =
    report.version === report.cliVersion
      ? []
      : wrap(
          `This command is version ${report.cliVersion}. To upgrade the daemon, run: steward daemon restart`,
          options.columns,
        ).map(colors.attention);
  const modules = report.modules.flatMap(({ id, state, found, hint, fix }) => [
    `${clean(id).padEnd(10)}${state === 'ok' || state === 'off' ? colors.neutral(state) : colors.attention(state)}`,
    ...(state === 'ok' ? [] : wrap(clean(withHint({ found, hint })), options.columns, '  ')),
    ...(fix === undefined ? [] : [`  ${clean(fix)}`]),
  ]);
  return [...table(rows).split('\n'), ...other, '', ...modules, '', ...jobLines(report.jobs, options)];
}

function jobLines(jobs: readonly DaemonJobStatus[], options: DaemonTextOptions): string[] {
  const rows = jobs.map(({ id, everySec, lastRun, lastOk, nextRun }) => [
    clean(id),
    `every ${everySec % 60 === 0 ? duration(everySec) : `${everySec} s`}`,
    lastRun === null ? 'not run yet' : `${lastOk === false ? 'failed' : 'ran'} ${options.localTime(lastRun)}`,
    nextRun === null ? 'running' : `next ${options.localTime(nextRun)}`,
  ]);
  return table(rows)
    .split('\n')
    .flatMap((line, i) => {
      const reason = jobs[i]?.reason;
      return [line, ...(reason === undefined ? [] : wrap(clean(reason), options.columns, '  '))];
    });
}

/** Formats a duration as `40 s`, `12 min`, `3 h 02 m` or `2 d 4 h`. */
export function duration(sec: number): string {
  if (sec < 60) return `${sec} s`;
  if (sec < 3600) return `${Math.floor(sec / 60)} min`;
  const hours = Math.floor(sec / 3600);
  if (hours < 48) return `${hours} h ${String(Math.floor((sec % 3600) / 60)).padStart(2, '0')} m`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/**
 * Formats a log line for a terminal: time, level (unless info), event, and the remaining fields as
 * `key=value`.
 */
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

export function senseModule({ sense }: UserArea, status: () => Promise<SenseHealth>): Module {
  return {
    id: 'sense',
    label: 'Sense',
    health: async () => (sense.isSetUp ? senseFinding(await status()) : NOT_SET_UP),
  };
}

export function workModule(work: () => Promise<WorkDeps>): Module {
  const health = async (): Promise<Finding> => {
    const deps = await work();
    return workFinding(workStatus(deps), deps.clock);
  };
  return { id: 'work', label: 'Work', health };
}
