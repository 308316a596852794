import { join, posix, win32 } from 'node:path';

import type { UserArea } from '../config/user-area';
import { StewardError } from '../errors';
import { exists } from '../platform/files/folder';
import type { InstallEntry } from '../platform/files/install-manifest';
import { type PathHost, userAreaPath } from '../platform/files/paths';
import { shortHash } from '../platform/files/short-hash';
import { userId } from '../platform/files/system-files';
import { startProgram } from '../platform/process/detached';
import { type LauncherForm, forBatch, launcherPath } from '../platform/process/launcher';
import type { Run } from '../platform/process/process';
import { processNames as namesHere } from '../platform/process/running-processes';
import { forShell } from '../platform/process/shell-word';
import { clean } from '../platform/terminal/terminal';
import type { Clock } from '../platform/time/clock';
import { wait } from '../platform/time/wait';
import type { Backend, BackendDeps, JobEntry } from './backend';
import { JOBS, JOB_IDS, type Job, type JobId, SCHEDULER_KINDS, type SchedulerKind, everySecOf } from './job';
import { ENTRY_PREFIX } from './keeper';

export const LAUNCHER = { name: 'steward-job', manifestId: 'schedule:launcher' };

/** Where steward and its assistant look for what is theirs: where it was installed from, they were found. */
const COPIED = [
  'STEWARD_HOME',
  'XDG_STATE_HOME',
  'XDG_CONFIG_HOME',
  'XDG_CACHE_HOME',
  'XDG_DATA_HOME',
  'CLAUDE_CONFIG_DIR',
];
/** What a session has and a scheduler may lack; where it has its own, that is newer. */
const SESSION = ['DISPLAY', 'WAYLAND_DISPLAY', 'XAUTHORITY', 'XDG_RUNTIME_DIR', 'DBUS_SESSION_BUS_ADDRESS'];

/**
 * Returns the environment of the jobs: the PATH of whoever installs them, without what depends on the current
 * folder or a project, and the variables that choose steward's folders.
 */
export function jobEnvironment({
  platform,
  env,
}: Pick<PathHost, 'platform' | 'env'>): Record<string, string> {
  const { delimiter, isAbsolute } = platform === 'win32' ? win32 : posix;
  const path = (env['PATH'] ?? env['Path'] ?? '')
    .split(delimiter)
    .filter(
      (folder) => isAbsolute(folder) && isOneLine(folder) && !/[\\/]node_modules[\\/]\.bin/.test(folder),
    )
    .filter((folder) => platform !== 'win32' || !folder.includes('"'));
  const copied = COPIED.flatMap((name): [string, string][] => {
    const value = env[name] ?? '';
    return value === '' ? [] : [[name, oneLine(value, name)]];
  });
  // An empty PATH would mean the current folder: where nothing is left, the scheduler's own holds.
  const own = path.length === 0 ? {} : { PATH: [...new Set(path)].join(delimiter) };
  return { ...own, ...Object.fromEntries(copied) };
}

/** Where the output of a job goes, all of its runs into one file of at most 256 KiB, and the one before that. */
export function logOf(
  area: Pick<UserArea, 'sense' | 'work' | 'daemonLog'>,
  { platform }: Pick<PathHost, 'platform'>,
  id: JobId,
): string {
  const { join, dirname } = platform === 'win32' ? win32 : posix;
  const logs: Record<JobId, string> = {
    sense: join(area.sense.logs, 'capture.log'),
    insight: join(area.sense.logs, 'insight.log'),
    work: join(area.work.root, 'logs', 'sweep.log'),
    daemon: join(dirname(area.daemonLog), 'service.log'),
  };
  return logs[id];
}

/** What stands in the launcher of the jobs beside what all launchers have. */
export function launcherForm(input: {
  area: Pick<UserArea, 'sense' | 'work' | 'daemonLog'>;
  host: Pick<PathHost, 'platform' | 'env'>;
  records: string;
}): LauncherForm {
  const { area, host, records } = input;
  const isWindows = host.platform === 'win32';
  const env = Object.entries(jobEnvironment(host));
  const session = SESSION.flatMap((name): [string, string][] => {
    const value = host.env[name] ?? '';
    return value === '' || !isOneLine(value) ? [] : [[name, value]];
  });
  const jobs = JOB_IDS.map((id) => ({ id, words: JOBS[id].args.join(' '), log: logOf(area, host, id) }));
  const quoted = (path: string): string => (isWindows ? forBatch(path, host.env) : forShell(path));
  return {
    ...LAUNCHER,
    values: {
      RECORDS: quoted(oneLine(records, 'the folder of the state')),
      ENVIRONMENT: (isWindows
        ? env.map(([name, value]) => `set "${name}=${value.replaceAll('%', '%%')}"`)
        : [
            ...env.map(([name, value]) => `export ${name}=${forShell(value)}`),
            ...session.map(([name, value]) => `[ -n "\${${name}-}" ] || export ${name}=${forShell(value)}`),
          ]
      ).join('\n'),
      JOBS: jobs
        .map(({ id, words, log }) =>
          isWindows
            ? `if "%job%"=="${id}" (set "words=${words}"& set "log=${quoted(log)}")`
            : `  ${id}) log=${quoted(log)} && set -- ${words} ;;`,
        )
        .join('\n'),
    },
  };
}

function isOneLine(text: string): boolean {
  return !/[\u0000-\u001f\u007f]/.test(text);
}

/** No scheduler's file takes a line break in a path, and nobody has one on purpose. */
export function oneLine(text: string, what: string): string {
  if (isOneLine(text)) return text;
  throw new StewardError('config', `${what} has a control character in it: ${clean(text)}`, {
    hint: 'Schedulers take paths of one line only: give the folder another name.',
  });
}

/** The folder of machine-local state in which the launcher notes how runs ended. */
export function recordsFolder({ machine }: Pick<UserArea, 'machine'>): string {
  return join(machine, 'jobs');
}

export interface ScheduleDeps {
  area: Pick<UserArea, 'root' | 'bin' | 'installManifest' | 'machine' | 'sense' | 'work' | 'daemonLog'>;
  clock: Clock;
  machineId: string;
  host: PathHost;
  run: Run;
  /** The folder of steward's package.json, and the node that runs it. */
  product: { root: string; node: string };
  /** The names of the processes that run now; of this machine when left out. */
  processNames?: () => ReadonlySet<string>;
}

export function keptBy(backend: Backend, job: Job): number | null {
  const everySec = everySecOf(job);
  return everySec === null ? null : backend.keeps(everySec);
}

/** The schedulers that a job is in by the manifest. */
export function kindsOf(entries: readonly InstallEntry[], id: JobId): SchedulerKind[] {
  const kinds = entries
    .filter((entry) => entry.id === ENTRY_PREFIX + id)
    .map(({ added }) => added['scheduler']);
  return SCHEDULER_KINDS.filter((kind) => kinds.includes(kind));
}

export function entryOf({ area, host }: ScheduleDeps, job: Job): JobEntry {
  const launcher = oneLine(launcherPath(LAUNCHER.name, { bin: area.bin, host }), 'The path of the user area');
  const own = { ...host, env: { ...host.env, STEWARD_HOME: undefined } };
  const isDefault = hasHome(host) && area.root === userAreaPath(own);
  return {
    job,
    name: isDefault ? `steward-${job.id}` : `steward-${shortHash(area.root)}-${job.id}`,
    launcher,
    env: jobEnvironment(host),
    log: logOf(area, host, job.id),
  };
}

/** A service account with STEWARD_HOME set may have no home folder. */
function hasHome(host: PathHost): boolean {
  try {
    return host.home !== '';
  } catch (error) {
    if (error instanceof StewardError && error.kind === 'config') return false;
    throw error;
  }
}

export function formOf(deps: ScheduleDeps) {
  return launcherForm({ area: deps.area, host: deps.host, records: recordsFolder(deps.area) });
}

export function launcherDeps(deps: ScheduleDeps) {
  const { area, host, product, clock, machineId } = deps;
  return { bin: area.bin, host, product, clock, machineId };
}

export function manifestDeps({ area, clock, machineId }: ScheduleDeps) {
  return { path: area.installManifest, lockPath: join(area.machine, 'install.lock'), clock, machineId };
}

export function backendDeps(deps: ScheduleDeps): BackendDeps {
  const { host, run, area, product, processNames = namesHere } = deps;
  const id = userId();
  const runtime = `/run/user/${id}`;
  // Where it was not logged in through the login manager (su, ssh without PAM) the variable is missing, the folder may not.
  const lacksRuntime = host.platform === 'linux' && (host.env['XDG_RUNTIME_DIR'] ?? '') === '';
  return {
    run,
    host,
    env: lacksRuntime && exists(runtime) ? { ...host.env, XDG_RUNTIME_DIR: runtime } : host.env,
    userId: id,
    keep: { exists },
    start: (file, args) => startProgram(file, args, product.root),
    wait,
    get stateFolder() {
      return join(area.machine, 'tasks');
    },
    processNames,
  };
}
