import { dirname, join } from 'node:path';

import { StewardError } from '../errors';
import { ensureFolder, exists, removeEmptyFolder, removeFile } from '../platform/files/folder';
import { withInstallManifest, type InstallManifest } from '../platform/files/install-manifest';
import type { PathHost } from '../platform/files/paths';
import { removeLauncher, writeLauncher } from '../platform/process/launcher';
import type { Backend } from './backend';
import { cron } from './cron';
import {
  everySecOf,
  JOB_IDS,
  SCHEDULER_KINDS,
  type JobInstalled,
  type Job,
  type JobId,
  type JobStatus,
  type Scheduler,
  type SchedulerKind,
  type JobUninstalled,
} from './job';
import { launchd } from './launchd';
import {
  backendDeps,
  entryOf,
  kindsOf,
  LAUNCHER,
  launcherForm,
  logOf,
  recordsFolder,
  type ScheduleDeps,
} from './launcher';
import { recorderOf, type Recorder } from './recorder';
import { endKeeping, forgetRuns, runDeps } from './running';
import { holdersOf, intervalIn, jobStatus } from './status';
import { systemd } from './systemd';
import { taskScheduler } from './task-scheduler';

export type { JobInstalled, JobStatus, ScheduleDeps, Scheduler, SchedulerKind, JobUninstalled };
export { SCHEDULER_KINDS };

/** The schedulers, in the order in which they are tried. */
const BACKENDS = [launchd, systemd, cron, taskScheduler];

interface Parts {
  deps: ScheduleDeps;
  backends: readonly Backend[];
  backend: Backend;
  why: string;
}

/**
 * Returns the given scheduler or, by default, the first usable one on this machine. If this machine has no
 * scheduler, installing a new job throws `unavailable`.
 */
export async function createScheduler(deps: ScheduleDeps, forced?: SchedulerKind): Promise<Scheduler> {
  const backends = BACKENDS.map((make) => make(backendDeps(deps)));
  const { backend, why, available } = await choose(backends, deps.host, forced);
  const parts: Parts = { deps, backends, backend, why };
  return {
    kind: backend.kind,
    why,
    available,
    install: async (job) => {
      if (available) return install(parts, job);
      // If the scheduler isn't running, only update an existing entry, because the scheduler may be started
      // later.
      if (!(await backend.holds(entryOf(deps, job).name))) throw noScheduler(deps.host, job);
      return install({ ...parts, why: 'already installed' }, job);
    },
    uninstall: (job) => uninstall(parts, job),
    async start(job) {
      const entry = entryOf(deps, job);
      const [holder] = await holdersOf(backends, entry);
      await backends.find(({ kind }) => kind === holder)?.start(entry);
      return holder;
    },
    status: (job) => jobStatus(deps, parts, job),
  };
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
    if (forced !== undefined) return { backend, why: 'chosen with --scheduler', available: true };
  }
  const fallback = host.platform === 'win32' ? 'task-scheduler' : 'cron';
  const backend = backends.find(({ kind }) => kind === fallback);
  if (backend === undefined) throw new StewardError('internal', 'No fallback scheduler.');
  return { backend, why: 'no scheduler is responding', available: false };
}

/** Returns the error for a machine without a scheduler, with alternatives in the hint. */
export function noScheduler({ env }: Pick<PathHost, 'env'>, job: Job): StewardError {
  const isWsl = (env['WSL_DISTRO_NAME'] ?? '') !== '';
  const everySec = everySecOf(job);
  const interval = everySec === null ? '' : ` every ${everySec === 3600 ? 'hour' : `${everySec} s`}`;
  const wsl = 'Set "systemd=true" under [boot] in /etc/wsl.conf and restart WSL, or run';
  return new StewardError(
    'unavailable',
    'No scheduler on this machine: there is no systemd user manager, and cron is not running.',
    {
      hint: `${isWsl ? wsl : 'Run'} "steward up" to capture and sweep, or have your own supervisor run "steward ${job.args.join(' ')}"${interval}.`,
    },
  );
}

function withManifest<T>(deps: ScheduleDeps, work: (manifest: InstallManifest) => Promise<T>): Promise<T> {
  const { area, clock, machineId } = deps;
  const lockPath = join(area.machine, 'install.lock');
  return withInstallManifest({ path: area.installManifest, lockPath, clock, machineId }, work);
}

async function install({ deps, backends, backend, why }: Parts, job: Job): Promise<JobInstalled> {
  const { area, host } = deps;
  const entry = entryOf(deps, job);
  ensureFolder(area.root, { allowLink: true });
  return withManifest(deps, async (manifest) => {
    const written = writeLauncher(launcherForm(deps), { ...deps, bin: area.bin }, manifest);
    ensureFolder(recordsFolder(area));
    ensureFolder(dirname(entry.log));
    const recorder = (scheduler: SchedulerKind): Recorder =>
      recorderOf({ ...deps, manifest }, { job: job.id, scheduler, everySec: everySecOf(job) });
    try {
      const done = await backend.install(entry, recorder(backend.kind));
      recorder(backend.kind).settle();
      const holders = new Set([
        ...kindsOf(manifest.entries(), job.id),
        ...(await holdersOf(backends, entry)),
      ]);
      const otherBackends = backends.filter(({ kind }) => kind !== backend.kind && holders.has(kind));
      for (const other of otherBackends) await other.uninstall(entry.name, recorder(other.kind));
      if (job.id === 'daemon' && otherBackends.some(({ kind }) => kind === 'cron'))
        endKeeping(runDeps(deps, host));
      return {
        job: job.id,
        scheduler: backend.kind,
        why,
        changed: done.changed || written || otherBackends.length > 0,
        files: done.files,
        everySec: intervalIn(backend, job),
        log: entry.log,
        warnings: [...done.warnings, ...cacheWarning(deps)],
      };
    } catch (error) {
      removeLeftovers(deps, manifest, job.id);
      throw error;
    }
  });
}

async function uninstall({ deps, backends, backend }: Parts, job: Job): Promise<JobUninstalled> {
  const result: JobUninstalled = { job: job.id, removedFrom: [], files: [] };
  const entry = entryOf(deps, job);
  const holders = await holdersOf(backends, entry);
  if (!exists(deps.area.installManifest) && holders.length === 0) return result;
  return withManifest(deps, async (manifest) => {
    const kinds = new Set([backend.kind, ...holders, ...kindsOf(manifest.entries(), job.id)]);
    for (const { kind, uninstall: remove } of backends.filter((holder) => kinds.has(holder.kind))) {
      const recorder = recorderOf({ ...deps, manifest }, { job: job.id, scheduler: kind, everySec: null });
      const removed = await remove(entry.name, recorder);
      if (removed.length === 0) continue;
      result.removedFrom.push(kind);
      result.files.push(...removed);
    }
    if (job.id === 'daemon') endKeeping(runDeps(deps, deps.host));
    removeLeftovers(deps, manifest, job.id);
    return result;
  });
}

/**
 * Removes the job's log. If no other job is installed, also removes the launcher and the launcher's records.
 */
function removeLeftovers(deps: ScheduleDeps, manifest: InstallManifest, id: JobId): void {
  const { area, host } = deps;
  if (kindsOf(manifest.entries(), id).length > 0) return;
  const log = logOf(area, host, id);
  for (const path of [log, `${log}.1`, join(recordsFolder(area), id)]) removeFile(path);
  if (removeEmptyFolder(dirname(log)) || !exists(dirname(log))) removeEmptyFolder(dirname(dirname(log)));
  if (JOB_IDS.some((other) => kindsOf(manifest.entries(), other).length > 0)) return;
  removeLauncher(LAUNCHER, { ...deps, bin: area.bin }, manifest);
  forgetRuns(runDeps(deps, host));
}

function cacheWarning({ product }: ScheduleDeps): string[] {
  const warning =
    'steward is running from the npx cache, which npm may clear. Install steward with "npm install --global" to keep the job working.';
  return /[\\/]_npx[\\/]/.test(product.root) ? [warning] : [];
}
