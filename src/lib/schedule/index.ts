import { dirname, join } from 'node:path';

import { StewardError } from '../errors';
import { ensureFolder, exists, removeEmptyFolder, removeFile } from '../platform/files/folder';
import { withInstallManifest, type InstallManifest } from '../platform/files/install-manifest';
import type { PathHost } from '../platform/files/paths';
import { removeLauncher, writeLauncher } from '../platform/process/launcher';
import type { Backend } from './backend';
import { cron } from './cron';
import {
  JOB_IDS,
  SCHEDULER_KINDS,
  type JobInstalled,
  type Job,
  type JobId,
  type JobStatus,
  type SchedulerKind,
  type JobUninstalled,
} from './job';
import { launchd } from './launchd';
import {
  backendDeps,
  entryName,
  entryOf,
  kindsOf,
  LAUNCHER,
  launcherForm,
  logOf,
  recordsFolder,
  type ScheduleDeps,
} from './launcher';
import { recorderOf } from './recorder';
import { endKeeping, forgetRuns } from './running';
import { holdersOf, intervalIn, jobStatus } from './status';
import { systemd } from './systemd';
import { taskScheduler } from './task-scheduler';

export type { JobInstalled, JobStatus, ScheduleDeps, SchedulerKind, JobUninstalled };
export { SCHEDULER_KINDS };

/** The schedulers, in the order in which they are tried. */
const BACKENDS = [launchd, systemd, cron, taskScheduler];

/** The operations that steward needs from the system's scheduler. */
export type Scheduler = Awaited<ReturnType<typeof createScheduler>>;

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
export async function createScheduler(deps: ScheduleDeps, forced?: SchedulerKind) {
  const backends = BACKENDS.map((make) => make(backendDeps(deps)));
  const { backend, why, available } = await choose(backends, deps.host, forced);
  const parts: Parts = { deps, backends, backend, why };
  return {
    kind: backend.kind,
    why,
    /** Whether this scheduler can run jobs. If not, an install only updates an existing entry. */
    available,
    /** Installs and loads the job; removes it from other schedulers, and the tick if it is the daemon. */
    install: async (job: Job): Promise<JobInstalled> => {
      if (available) return install(parts, job);
      // If the scheduler isn't running, only update an existing entry, because the scheduler may be started
      // later.
      if (!(await backend.holds(entryOf(deps, job).name))) throw noScheduler(deps.host, job);
      return install({ ...parts, why: 'already installed' }, job);
    },
    /** Removes the job from every scheduler on this machine. */
    uninstall: (job: Job) => uninstall(parts, job),
    /** Starts a run now; returns the scheduler used, or undefined if no scheduler has the job. */
    async start(job: Job): Promise<SchedulerKind | undefined> {
      const entry = entryOf(deps, job);
      const [holder] = await holdersOf(backends, entry.name);
      await backends.find(({ kind }) => kind === holder)?.start(entry);
      return holder;
    },
    status: (job: Job) => jobStatus(deps, parts, job),
  };
}

async function choose(backends: readonly Backend[], host: PathHost, forced: SchedulerKind | undefined) {
  for (const backend of backends) {
    if (forced !== undefined && backend.kind !== forced) continue;
    const why = await backend.probe();
    if (why !== undefined) return { backend, why, available: true };
    if (forced !== undefined) return { backend, why: 'chosen with --scheduler', available: true };
  }
  const fallback = host.platform === 'win32' ? 'task-scheduler' : 'cron';
  const backend = backends.find(({ kind }) => kind === fallback) as Backend;
  return { backend, why: 'no scheduler is responding', available: false };
}

/** Returns the error for a machine without a scheduler, with alternatives in the hint. */
export function noScheduler({ env }: Pick<PathHost, 'env'>, job: Job): StewardError {
  const isWsl = (env['WSL_DISTRO_NAME'] ?? '') !== '';
  const interval = job.everySec === null ? '' : ` every ${job.everySec} s`;
  const wsl = 'Set "systemd=true" under [boot] in /etc/wsl.conf and restart WSL, or run';
  return new StewardError(
    'unavailable',
    'No scheduler on this machine: there is no systemd user manager, and cron is not running.',
    {
      hint: `${isWsl ? wsl : 'Run'} "steward up" to capture and sweep, or have your own supervisor run "steward ${job.args.join(' ')}"${interval}.`,
    },
  );
}

async function install(parts: Parts, job: Job): Promise<JobInstalled> {
  const { deps, backends, backend, why } = parts;
  const { area } = deps;
  const entry = entryOf(deps, job);
  ensureFolder(area.root, { allowLink: true });
  return withInstallManifest(deps, async (manifest) => {
    const written = writeLauncher(launcherForm(deps), { ...deps, bin: area.bin }, manifest);
    ensureFolder(recordsFolder(area));
    ensureFolder(dirname(entry.log));
    try {
      const about = { job: job.id, scheduler: backend.kind, everySec: job.everySec };
      const done = await backend.install(entry, recorderOf({ ...deps, manifest }, about));
      const others = backends.filter(({ kind }) => kind !== backend.kind);
      const moved = (await remove(parts, manifest, job.id, others)).removedFrom;
      const replaced: string[] = [];
      // The daemon does what the tick does.
      if (job.id === 'daemon' && (await remove(parts, manifest, 'tick', backends)).removedFrom.length > 0)
        replaced.push('tick');
      return {
        job: job.id,
        scheduler: backend.kind,
        why,
        changed: done.changed || written || moved.length + replaced.length > 0,
        replaced,
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

async function uninstall(parts: Parts, job: Job): Promise<JobUninstalled> {
  const { deps, backends } = parts;
  const isThere = async () => (await holdersOf(backends, entryName(deps, job.id))).length > 0;
  if (!exists(deps.area.installManifest) && !(await isThere()))
    return { job: job.id, removedFrom: [], files: [] };
  return withInstallManifest(deps, (manifest) => remove(parts, manifest, job.id, backends));
}

/** Removes a job from the schedulers that have it, then its log. */
async function remove(
  { deps, backends, backend }: Parts,
  manifest: InstallManifest,
  id: JobId,
  from: readonly Backend[],
): Promise<JobUninstalled> {
  const name = entryName(deps, id);
  const kinds = new Set([
    ...(await holdersOf(from, name)),
    ...kindsOf(manifest.entries(), id),
    // An earlier uninstall may have been killed halfway.
    backend.kind,
  ]);
  const removed: JobUninstalled = { job: id, removedFrom: [], files: [] };
  for (const { kind, uninstall: removeEntry } of from.filter((holder) => kinds.has(holder.kind))) {
    const about = { job: id, scheduler: kind, everySec: null };
    const files = await removeEntry(name, recorderOf({ ...deps, manifest }, about));
    if (files.length === 0) continue;
    removed.removedFrom.push(kind);
    removed.files.push(...files);
  }
  if (id === 'daemon' && (from === backends || removed.removedFrom.includes('cron'))) endKeeping(deps);
  removeLeftovers(deps, manifest, id);
  return removed;
}

/**
 * Removes the log of a job that isn't installed. If no job is installed, also removes the launcher and the
 * launcher's records.
 */
function removeLeftovers(deps: ScheduleDeps, manifest: InstallManifest, id: JobId): void {
  const { area, host } = deps;
  if (kindsOf(manifest.entries(), id).length > 0) return;
  const log = logOf(area, host, id);
  for (const path of [log, `${log}.1`, join(recordsFolder(area), id)]) removeFile(path);
  if (JOB_IDS.some((other) => kindsOf(manifest.entries(), other).length > 0)) return;
  if (removeEmptyFolder(dirname(log)) || !exists(dirname(log))) removeEmptyFolder(dirname(dirname(log)));
  removeLauncher(LAUNCHER, { ...deps, bin: area.bin }, manifest);
  forgetRuns(deps);
}

function cacheWarning({ product }: ScheduleDeps): string[] {
  const warning =
    'steward is running from the npx cache, which npm may clear. Install steward with "npm install --global" to keep the job working.';
  return /[\\/]_npx[\\/]/.test(product.root) ? [warning] : [];
}
