import { dirname, join } from 'node:path';

import type { UserArea } from '../config/user-area';
import { StewardError } from '../errors';
import type { Clock } from '../platform/clock';
import { startProgram } from '../platform/detached';
import { ensureFolder, exists, removeEmptyFolder, removeFile } from '../platform/folder';
import {
  readInstallManifest,
  withInstallManifest,
  type InstallEntry,
  type InstallManifest,
} from '../platform/install-manifest';
import { launcherPath, removeLauncher, writeLauncher } from '../platform/launcher';
import { userAreaPath, type PathHost } from '../platform/paths';
import type { Run } from '../platform/process';
import { processNames, sinceBootMs } from '../platform/running-processes';
import { shortHash } from '../platform/short-hash';
import { userId } from '../platform/system-files';
import { wait } from '../platform/wait';
import type { Backend, BackendDeps } from './backend';
import { cron } from './cron';
import type { JobEntry } from './entry';
import { everySecOf, JOB_IDS, type Job, type JobId } from './job';
import { ENTRY_PREFIX, keeperOf } from './keeper';
import { launchd } from './launchd';
import { LAUNCHER, jobEnvironment, launcherForm, logOf, oneLine } from './launcher';
import { readRecord, statusOf } from './job-status';
import { recordsFolder, runDeps, runningJobs } from './running';
import {
  SCHEDULER_KINDS,
  type InstallResult,
  type JobStatus,
  type Scheduler,
  type SchedulerKind,
  type UninstallResult,
} from './scheduler';
import { systemd } from './systemd';
import { taskScheduler } from './task-scheduler';

export type { InstallResult, JobStatus, Scheduler, SchedulerKind, UninstallResult };
export { SCHEDULER_KINDS };

export interface ScheduleDeps {
  area: Pick<UserArea, 'root' | 'bin' | 'installManifest' | 'machine' | 'sense' | 'work' | 'daemonLog'>;
  clock: Clock;
  machineId: string;
  host: PathHost;
  run: Run;
  /** The folder of steward's package.json, and the node that runs it. */
  product: { root: string; node: string };
}

/** In the order in which they are asked whether they can be used. */
const BACKENDS = [launchd, systemd, cron, taskScheduler];

/**
 * The scheduler of this machine: the first that can be used, or the given one. Where none can, the other modes
 * work, and an install is `unavailable`.
 */
export async function createScheduler(deps: ScheduleDeps, forced?: SchedulerKind): Promise<Scheduler> {
  const backends = BACKENDS.map((make) => make(backendDeps(deps)));
  const { backend, why, available } = await choose(backends, deps.host, forced);
  const parts: Parts = { deps, backends, backend, why };
  return {
    kind: backend.kind,
    why,
    available,
    install: (job) => (available ? install(parts, job) : Promise.reject(noScheduler(deps.host))),
    uninstall: (job) => uninstall(parts, job),
    status: (job) => status(parts, job),
  };
}

interface Parts {
  deps: ScheduleDeps;
  backends: readonly Backend[];
  backend: Backend;
  why: string;
}

async function choose(
  backends: readonly Backend[],
  host: PathHost,
  forced: SchedulerKind | undefined,
): Promise<{ backend: Backend; why: string; available: boolean }> {
  for (const backend of backends) {
    if (forced !== undefined && backend.kind !== forced) continue;
    const why = await backend.probe();
    if (why !== undefined) return { backend, why, available: true };
    if (forced !== undefined) return { backend, why: 'it was asked for', available: true };
  }
  const backend = backends.find(
    ({ kind }) => kind === (host.platform === 'win32' ? 'task-scheduler' : 'cron'),
  );
  if (backend === undefined) throw new StewardError('internal', 'There is no scheduler to fall back to.');
  return { backend, why: 'no scheduler answers', available: false };
}

/** What an install is refused with where nothing runs jobs. */
export function noScheduler({ env }: Pick<PathHost, 'env'>): StewardError {
  const isWsl = (env['WSL_DISTRO_NAME'] ?? '') !== '';
  return new StewardError(
    'unavailable',
    'Nothing on this machine runs jobs: no systemd user manager, and no cron.',
    {
      hint: isWsl
        ? 'Set "systemd=true" under [boot] in /etc/wsl.conf and start WSL anew; or run "steward up", which captures while it runs.'
        : 'Run "steward up", which captures while it runs; or install cron. To write the crontab all the same: --scheduler cron.',
    },
  );
}

async function install({ deps, backends, backend, why }: Parts, job: Job): Promise<InstallResult> {
  const { area, host } = deps;
  const entry = entryOf(deps, job);
  ensureFolder(area.root, { allowLink: true });
  return withInstallManifest(manifestDeps(deps), async (manifest) => {
    const written = writeLauncher(formOf(deps), launcherDeps(deps), manifest);
    ensureFolder(recordsFolder(deps.area));
    ensureFolder(dirname(entry.log));
    const keep = (scheduler: SchedulerKind) =>
      keeperOf({ ...deps, manifest }, { job: job.id, scheduler, everySec: everySecOf(job) });
    try {
      const done = await backend.install(entry, keep(backend.kind));
      const elsewhere = kindsOf(manifest.entries(), job.id).filter((kind) => kind !== backend.kind);
      for (const other of backends.filter(({ kind }) => elsewhere.includes(kind)))
        await other.uninstall(entry.name, keep(other.kind));
      return {
        job: job.id,
        scheduler: backend.kind,
        why,
        changed: done.changed || written || elsewhere.length > 0,
        files: done.files,
        everySec: keptBy(backend, job),
        log: logOf(area, host, job.id),
        warnings: [...done.warnings, ...cacheWarning(deps)],
      };
    } catch (error) {
      removeLeft(deps, manifest, job.id);
      throw error;
    }
  });
}

async function uninstall({ deps, backends, backend }: Parts, job: Job): Promise<UninstallResult> {
  const none = { job: job.id, removedFrom: [], files: [] };
  // What never was installed leaves no trace of having been looked for.
  const isKnown = exists(deps.area.installManifest);
  const { name } = entryOf(deps, job);
  if (!isKnown && !(await backend.state(entryOf(deps, job))).installed) return none;
  return withInstallManifest(manifestDeps(deps), async (manifest) => {
    const kinds = new Set([backend.kind, ...kindsOf(manifest.entries(), job.id)]);
    const result: UninstallResult = { ...none, removedFrom: [], files: [] };
    for (const { kind, uninstall: takeOut } of backends.filter((one) => kinds.has(one.kind))) {
      const keeper = keeperOf({ ...deps, manifest }, { job: job.id, scheduler: kind, everySec: null });
      const removed = await takeOut(name, keeper);
      if (removed.length === 0) continue;
      result.removedFrom.push(kind);
      result.files.push(...removed);
    }
    removeLeft(deps, manifest, job.id);
    return result;
  });
}

async function status({ deps, backends, backend }: Parts, job: Job): Promise<JobStatus> {
  const { area, clock, host } = deps;
  const entries = exists(area.installManifest)
    ? readInstallManifest(area.installManifest, deps.machineId)
    : [];
  const recorded = entries.filter(({ id }) => id === ENTRY_PREFIX + job.id).at(-1);
  const kind = recorded?.added['scheduler'];
  const used = backends.find((one) => one.kind === kind) ?? backend;
  return statusOf({
    job,
    scheduler: used.kind,
    everySec: keptBy(used, job),
    state: await used.state(entryOf(deps, job)),
    record: readRecord(recordsFolder(deps.area), job.id),
    recorded,
    launcher: exists(launcherPath(LAUNCHER.name, { bin: area.bin, host })),
    log: logOf(area, host, job.id),
    nowMs: clock.now(),
    bootMs: clock.now() - sinceBootMs(),
  });
}

function keptBy(backend: Backend, job: Job): number | null {
  const everySec = everySecOf(job);
  return everySec === null ? null : backend.keeps(everySec);
}

/** After the last job of the area the launcher goes, and what it noted; the log of a job goes with the job. */
function removeLeft(deps: ScheduleDeps, manifest: InstallManifest, id: JobId): void {
  const { area, host } = deps;
  if (kindsOf(manifest.entries(), id).length > 0) return;
  const log = logOf(area, host, id);
  for (const path of [log, `${log}.1`, join(recordsFolder(area), id)]) removeFile(path);
  // Its folder, and that of the part where nothing else is kept.
  if (removeEmptyFolder(dirname(log))) removeEmptyFolder(dirname(dirname(log)));
  if (JOB_IDS.some((other) => kindsOf(manifest.entries(), other).length > 0)) return;
  removeLauncher(LAUNCHER, { ...deps, bin: area.bin }, manifest);
  // The notes of runs that have ended go; the folder stays where one is under way.
  runningJobs(runDeps(deps, host));
  removeEmptyFolder(recordsFolder(area));
}

/** The schedulers that a job is in by the manifest. */
function kindsOf(entries: readonly InstallEntry[], id: JobId): SchedulerKind[] {
  const kinds = entries
    .filter((entry) => entry.id === ENTRY_PREFIX + id)
    .map(({ added }) => added['scheduler']);
  return SCHEDULER_KINDS.filter((kind) => kinds.includes(kind));
}

function entryOf({ area, host }: ScheduleDeps, job: Job): JobEntry {
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

/** What lies in a cache is gone one day, and the jobs with it. */
function cacheWarning({ product }: ScheduleDeps): string[] {
  return /[\\/]_npx[\\/]/.test(product.root)
    ? [
        'This steward lies in a cache of npx, which may be emptied: install it with "npm install --global" to keep the job working.',
      ]
    : [];
}

function formOf(deps: ScheduleDeps) {
  return launcherForm({ area: deps.area, host: deps.host, records: recordsFolder(deps.area) });
}

function launcherDeps(deps: ScheduleDeps) {
  const { area, host, product, clock, machineId } = deps;
  return { bin: area.bin, host, product, clock, machineId };
}

function manifestDeps({ area, clock, machineId }: ScheduleDeps) {
  return { path: area.installManifest, lockPath: join(area.machine, 'install.lock'), clock, machineId };
}

function backendDeps({ host, run, area, product }: ScheduleDeps): BackendDeps {
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
