import { join } from 'node:path';

import type { UserArea } from '../config/user-area';
import { StewardError } from '../errors';
import type { Clock } from '../platform/time/clock';
import { startProgram } from '../platform/process/detached';
import { exists } from '../platform/files/folder';
import type { InstallEntry } from '../platform/files/install-manifest';
import { launcherPath } from '../platform/process/launcher';
import { userAreaPath, type PathHost } from '../platform/files/paths';
import type { Run } from '../platform/process/process';
import { processNames as namesHere } from '../platform/process/running-processes';
import { shortHash } from '../platform/files/short-hash';
import { userId } from '../platform/files/system-files';
import { wait } from '../platform/time/wait';
import type { Backend, BackendDeps } from './backend';
import type { JobEntry } from './entry';
import { everySecOf, type Job, type JobId } from './job';
import { ENTRY_PREFIX } from './keeper';
import { jobEnvironment, LAUNCHER, launcherForm, logOf, oneLine } from './launcher';
import { recordsFolder } from './running';
import { SCHEDULER_KINDS, type SchedulerKind } from './scheduler';

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
