import { join, posix, win32 } from 'node:path';

import type { Machine, UserArea } from '../config/user-area';
import { StewardError, unless } from '../errors';
import { exists } from '../platform/files/folder';
import type { InstallEntry } from '../platform/files/install-manifest';
import { userAreaPath, type PathHost } from '../platform/files/paths';
import { shortHash } from '../platform/files/short-hash';
import { userId } from '../platform/files/system-files';
import { forBatch, launcherPath, type LauncherForm } from '../platform/process/launcher';
import { startProgram, processNames as runningNames } from '../platform/process/own-process';
import type { Run } from '../platform/process/process';
import { forShell } from '../platform/process/spawn';
import { clean } from '../platform/terminal/terminal';
import { wait } from '../platform/time/wait';
import { DAEMON_JOB, SCHEDULER_KINDS, tickJob, type Job, type JobId, type SchedulerKind } from './job';
import { entryId } from './recorder';

export interface ScheduleDeps extends Machine {
  host: PathHost;
  run: Run;
  /** `root` is the folder with steward's package.json; `node` is the Node.js binary that runs steward. */
  product: { root: string; node: string };
  processNames?: () => ReadonlySet<string>;
}

export const LAUNCHER = { name: 'steward-job', manifestId: 'schedule:launcher' };

/** Variables that set the folders used by steward and its assistant. */
const COPIED = [
  'STEWARD_HOME',
  'XDG_STATE_HOME',
  'XDG_CONFIG_HOME',
  'XDG_CACHE_HOME',
  'XDG_DATA_HOME',
  'CLAUDE_CONFIG_DIR',
];
/**
 * Session variables that some schedulers don't set. If the scheduler sets a variable, that value takes
 * precedence.
 */
const SESSION = ['DISPLAY', 'WAYLAND_DISPLAY', 'XAUTHORITY', 'XDG_RUNTIME_DIR', 'DBUS_SESSION_BUS_ADDRESS'];

/**
 * Returns the environment for jobs: the variables in `COPIED`, and PATH without relative or project folders.
 */
export function jobEnvironment(host: Pick<PathHost, 'platform' | 'env'>): Record<string, string> {
  const { platform, env } = host;
  const { delimiter, isAbsolute } = platform === 'win32' ? win32 : posix;
  const path = (env['PATH'] ?? env['Path'] ?? '')
    .split(delimiter)
    .filter(
      (folder) =>
        isAbsolute(folder) &&
        isOneLine(folder) &&
        !/[\\/]node_modules[\\/]\.bin/.test(folder) &&
        !(platform === 'win32' && folder.includes('"')),
    );
  const copied = COPIED.filter((name) => (env[name] ?? '') !== '').map((name) => [
    name,
    oneLine(env[name] ?? '', name),
  ]);
  // Omit an empty PATH, because it would mean the current folder.
  const own = path.length === 0 ? {} : { PATH: [...new Set(path)].join(delimiter) };
  return { ...own, ...(Object.fromEntries(copied) as Record<string, string>) };
}

/** Returns the path of a job's log, which is limited to 256 KiB and one rotated file. */
export function logOf(
  area: Pick<UserArea, 'sense' | 'work' | 'daemonLog'>,
  { platform }: Pick<PathHost, 'platform'>,
  id: JobId,
): string {
  const paths = platform === 'win32' ? win32 : posix;
  const logs: Record<JobId, string> = {
    daemon: paths.join(paths.dirname(area.daemonLog), 'service.log'),
    tick: paths.join(area.sense.logs, 'tick.log'),
  };
  return logs[id];
}

/** Returns the machine-local folder in which the launcher records how runs ended. */
export function recordsFolder({ machine }: Pick<UserArea, 'machine'>): string {
  return join(machine, 'jobs');
}

export function launcherForm({ area, host }: Pick<ScheduleDeps, 'area' | 'host'>): LauncherForm {
  const isWindows = host.platform === 'win32';
  const quoted = (path: string): string => (isWindows ? forBatch(path, host.env) : forShell(path));
  const env = Object.entries(jobEnvironment(host)).map(([name, value]) =>
    isWindows ? `set "${name}=${value.replaceAll('%', '%%')}"` : `export ${name}=${forShell(value)}`,
  );
  const session = SESSION.flatMap((name) => {
    const value = host.env[name] ?? '';
    if (isWindows || value === '' || !isOneLine(value)) return [];
    return [`[ -n "\${${name}-}" ] || export ${name}=${forShell(value)}`];
  });
  const jobs = [DAEMON_JOB, tickJob({ pollIntervalSec: 0 })].map(({ id, args }) => {
    const [words, log] = [args.join(' '), quoted(logOf(area, host, id))];
    return isWindows
      ? `if "%job%"=="${id}" (set "words=${words}"& set "log=${log}")`
      : `  ${id}) log=${log} && set -- ${words} ;;`;
  });
  return {
    ...LAUNCHER,
    values: {
      RECORDS: quoted(oneLine(recordsFolder(area), 'the state folder')),
      ENVIRONMENT: [...env, ...session].join('\n'),
      JOBS: jobs.join('\n'),
    },
  };
}

function isOneLine(text: string): boolean {
  return !/[\u0000-\u001f\u007f]/.test(text);
}

/** Throws `config` if the text contains a control character, which schedulers reject in paths. */
function oneLine(text: string, what: string): string {
  if (isOneLine(text)) return text;
  throw new StewardError('config', `The path of ${what} contains a control character: ${clean(text)}`, {
    hint: 'Rename the folder: schedulers cannot run a job from this path.',
  });
}

export function entryOf({ area, host }: Pick<ScheduleDeps, 'area' | 'host'>, job: Job) {
  return {
    job,
    /** Unique per user area, such as `steward-tick` or `steward-0a1b2c3d-tick`. */
    name: entryName({ area, host }, job.id),
    /** Absolute path of the launcher. Its only argument is the job id. */
    launcher: oneLine(launcherPath(LAUNCHER.name, { bin: area.bin, host }), 'the user area'),
    env: jobEnvironment(host),
    /** Absolute path of the launcher's log. */
    log: logOf(area, host, job.id),
  };
}

/** A job's entry, independent of the scheduler. */
export type JobEntry = ReturnType<typeof entryOf>;

/** Returns the name of a job's entry, which differs per user area. */
export function entryName({ area, host }: Pick<ScheduleDeps, 'area' | 'host'>, id: string): string {
  return area.root === defaultArea(host) ? `steward-${id}` : `steward-${shortHash(area.root)}-${id}`;
}

/** Returns the default user area, or undefined for a service account without a home folder. */
function defaultArea(host: PathHost): string | undefined {
  const env = { ...host.env, STEWARD_HOME: undefined };
  return unless(['config'], () => userAreaPath({ ...host, home: host.home, env }));
}

/** Returns the schedulers that have a job, according to the manifest. */
export function kindsOf(entries: readonly InstallEntry[], id: string): SchedulerKind[] {
  const kinds = entries.filter((entry) => entry.id === entryId(id)).map(({ added }) => added['scheduler']);
  return SCHEDULER_KINDS.filter((kind) => kinds.includes(kind));
}

export function backendDeps({ host, run, area, product, processNames = runningNames }: ScheduleDeps) {
  const id = userId();
  const runtime = `/run/user/${id}`;
  // After `su`, or after `ssh` without PAM, XDG_RUNTIME_DIR may be unset although the folder exists.
  const lacksRuntime = host.platform === 'linux' && (host.env['XDG_RUNTIME_DIR'] ?? '') === '';
  return {
    run,
    host,
    exists,
    wait,
    /** Returns the names of the running processes; empty if unknown. */
    processNames,
    env: lacksRuntime && exists(runtime) ? { ...host.env, XDG_RUNTIME_DIR: runtime } : host.env,
    /** The user's numeric id; -1 on Windows. */
    userId: id,
    /** The folder with steward's package.json. */
    root: product.root,
    start: (file: string, args: readonly string[]) => startProgram(file, args, product.root),
    /** The folder for files that the scheduler imports. */
    stateFolder: join(area.machine, 'tasks'),
  };
}

export type BackendDeps = ReturnType<typeof backendDeps>;
