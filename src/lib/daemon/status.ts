import { waitingText } from '../work/capture/waiting';
import type { WorkDeps } from '../work/deps';
import { workStatus, type WorkStatus } from '../work/status';
import { senseHealth } from '../sense/source';
import { toStewardError } from '../errors';
import { palette, table, toAscii, wrap } from '../platform/terminal/format';
import { clean } from '../platform/terminal/terminal';
import type { DaemonJobStatus } from './jobs';
import type { LogLine } from './log';

export type ModuleState = 'ok' | 'off' | 'needs-you' | 'error';

/** The health of one part of the daemon. */
export interface ModuleHealth {
  state: ModuleState;
  /** The reason for the state, as a complete sentence. */
  reason?: string;
  /** The command that fixes the problem. */
  fix?: string;
}

/** A part of the daemon that reports its own health. */
export interface Module {
  id: string;
  label: string;
  health: () => ModuleHealth | Promise<ModuleHealth>;
}

/** A running assistant session. Times are ISO 8601 in UTC. */
export interface LiveSession {
  slug: string;
  task: string | null;
  repo: string | null;
  phase: string;
  status: string;
  startedAt: string;
  updatedAt: string;
  waiting: boolean;
}

/** Response to `GET /api/status`. */
export interface DaemonStatus {
  version: string;
  pid: number;
  uptimeSec: number;
  memoryMiB: number;
  /** ISO 8601 in UTC. */
  startedAt: string;
  modules: ({ id: string; label: string } & ModuleHealth)[];
  sessions: LiveSession[];
  /** The number of pending and failed notifications. */
  outbox: { waiting: number; failed: number };
  /** Number and age of the files that hooks have queued. */
  spool: { waiting: number; dead: number; oldest: string | null };
  jobs: DaemonJobStatus[];
}

/** Returns the health of every module. If a module throws, its state is `error`. */
export function healthOf(modules: readonly Module[]): Promise<DaemonStatus['modules']> {
  return Promise.all(
    modules.map(async ({ id, label, health }) => {
      try {
        return { id, label, ...(await health()) };
      } catch (error) {
        const { message, hint } = toStewardError(error);
        return {
          id,
          label,
          state: 'error' as const,
          reason:
            hint === undefined ? message : `${/[.!?]$/.test(message) ? message : `${message}.`} ${hint}`,
        };
      }
    }),
  );
}

export interface DaemonTextOptions {
  columns: number;
  color: boolean;
  unicode?: boolean;
  localTime: (iso: string) => string;
}

/** The output of `steward daemon status` while the daemon is running. */
export interface RunningReport extends DaemonStatus {
  running: true;
  url: string;
  /** Version of this command. */
  cliVersion: string;
}

export interface NotRunningReport {
  running: false;
  cliVersion: string;
}

export type DaemonReport = RunningReport | NotRunningReport;

export function daemonStatusText(report: DaemonReport, options: DaemonTextOptions): string {
  const lines = report.running
    ? runningLines(report, options)
    : ['The daemon is not running. Start it with "steward up" or "steward daemon serve".'];
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
      : [['spool', `${report.spool.waiting} waiting, ${report.spool.dead} failed`]]),
  ];
  const other =
    report.version === report.cliVersion
      ? []
      : wrap(
          `This command is version ${report.cliVersion}. To upgrade the daemon, run: steward daemon restart`,
          options.columns,
        ).map(colors.attention);
  const modules = report.modules.flatMap(({ id, state, reason, fix }) => [
    `${clean(id).padEnd(10)}${paintState(state, state === 'ok' || state === 'off' ? colors.neutral : colors.attention)}`,
    ...(reason === undefined ? [] : wrap(clean(reason), options.columns, '  ')),
    ...(fix === undefined ? [] : [`  ${fix}`]),
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

function paintState(state: ModuleState, paint: (text: string) => string): string {
  return state === 'ok' ? state : paint(state === 'needs-you' ? 'needs you' : state);
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

export function senseModule(
  isSetUp: () => boolean,
  status: () => Promise<Parameters<typeof senseHealth>[0]>,
): Module {
  const unset = {
    state: 'needs-you',
    reason: 'Not set up; nothing is captured.',
    fix: 'steward up',
  } as const;
  return {
    id: 'sense',
    label: 'Sense',
    health: async () => (isSetUp() ? senseHealth(await status()) : unset),
  };
}

export function workModule(deps: () => Promise<WorkDeps>): Module {
  return { id: 'work', label: 'Work', health: async () => workHealth(workStatus(await deps())) };
}

function workHealth(status: WorkStatus): ModuleHealth {
  const { state } = status.privacy;
  const waiting = status.waiting.find(({ fix }) => fix !== null);
  if (status.setupRequired) {
    const fix = 'steward work setup OWNER/REPO --create';
    return { state: 'off', reason: 'No work repository is set up.', fix };
  }
  if (!status.enabled) {
    return { state: 'off', reason: 'WORK.enabled is false.', fix: 'steward config set WORK.enabled true' };
  }
  if (state === 'public' || state === 'unverified') {
    const reason = status.staleReason ?? 'The repository is not verified as private.';
    return { state: 'needs-you', reason, fix: 'steward work verify' };
  }
  if (waiting !== undefined) {
    return { state: 'needs-you', reason: `${waitingText(waiting)}.`, fix: waiting.fix ?? '' };
  }
  if (!status.stale) return { state: 'ok' };
  return { state: 'error', reason: status.staleReason ?? 'unknown', fix: 'steward work status' };
}
