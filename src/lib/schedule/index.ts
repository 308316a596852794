import { dirname, join } from 'node:path';

import { StewardError } from '../errors';
import { ensureFolder, exists, removeEmptyFolder, removeFile } from '../platform/files/folder';
import { withInstallManifest, type InstallManifest } from '../platform/files/install-manifest';
import { removeLauncher, writeLauncher } from '../platform/process/launcher';
import type { PathHost } from '../platform/files/paths';
import type { Backend } from './backend';
import { cron } from './cron';
import {
  backendDeps,
  entryOf,
  formOf,
  keptBy,
  kindsOf,
  launcherDeps,
  manifestDeps,
  recordsFolder,
  type ScheduleDeps,
  LAUNCHER,
  logOf,
} from './launcher';
import { keeperOf } from './keeper';
import { launchd } from './launchd';
import { holdersOf, lookAt } from './status';
import { endKeeping, forgetRuns, runDeps } from './running';
import {
  everySecOf,
  JOB_IDS,
  type Job,
  type JobId,
  SCHEDULER_KINDS,
  type InstallResult,
  type JobStatus,
  type Scheduler,
  type SchedulerKind,
  type UninstallResult,
} from './job';
import { systemd } from './systemd';
import { taskScheduler } from './task-scheduler';

export type { InstallResult, JobStatus, ScheduleDeps, Scheduler, SchedulerKind, UninstallResult };
export { SCHEDULER_KINDS };

/** In the order in which they are asked whether they can be used. */
const BACKENDS = [launchd, systemd, cron, taskScheduler];

/**
 * The scheduler of this machine: the first that can be used, or the given one. Where none can, the other modes
 * work, and an install of what is not there yet is `unavailable`.
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
      // Where it stands already it stays, and is told of: a cron that does not run may do so again.
      if (!(await backend.holds(entryOf(deps, job).name))) throw noScheduler(deps.host);
      return install({ ...parts, why: 'it stands there already' }, job);
    },
    uninstall: (job) => uninstall(parts, job),
    start: (job) => start(parts, job),
    status: (job) => lookAt(deps, parts, job),
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
      keep(backend.kind).settle();
      const there = new Set([...kindsOf(manifest.entries(), job.id), ...(await holdersOf(backends, entry))]);
      const elsewhere = backends.filter(({ kind }) => kind !== backend.kind && there.has(kind));
      for (const other of elsewhere) await other.uninstall(entry.name, keep(other.kind));
      if (job.id === 'daemon' && elsewhere.some(({ kind }) => kind === 'cron'))
        endKeeping(runDeps(deps, host));
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

async function start({ deps, backends }: Parts, job: Job): Promise<SchedulerKind | undefined> {
  const entry = entryOf(deps, job);
  const [holder] = await holdersOf(backends, entry);
  await backends.find(({ kind }) => kind === holder)?.start(entry);
  return holder;
}

async function uninstall({ deps, backends, backend }: Parts, job: Job): Promise<UninstallResult> {
  const none = { job: job.id, removedFrom: [], files: [] };
  // What never was installed leaves no trace of having been looked for.
  const isKnown = exists(deps.area.installManifest);
  const entry = entryOf(deps, job);
  const holders = await holdersOf(backends, entry);
  if (!isKnown && holders.length === 0) return none;
  return withInstallManifest(manifestDeps(deps), async (manifest) => {
    const kinds = new Set([backend.kind, ...holders, ...kindsOf(manifest.entries(), job.id)]);
    const result: UninstallResult = { ...none, removedFrom: [], files: [] };
    for (const { kind, uninstall: takeOut } of backends.filter((one) => kinds.has(one.kind))) {
      const keeper = keeperOf({ ...deps, manifest }, { job: job.id, scheduler: kind, everySec: null });
      const removed = await takeOut(entry.name, keeper);
      if (removed.length === 0) continue;
      result.removedFrom.push(kind);
      result.files.push(...removed);
    }
    if (job.id === 'daemon') endKeeping(runDeps(deps, deps.host));
    removeLeft(deps, manifest, job.id);
    return result;
  });
}

/** After the last job of the area the launcher goes, and what it noted; the log of a job goes with the job. */
function removeLeft(deps: ScheduleDeps, manifest: InstallManifest, id: JobId): void {
  const { area, host } = deps;
  if (kindsOf(manifest.entries(), id).length > 0) return;
  const log = logOf(area, host, id);
  for (const path of [log, `${log}.1`, join(recordsFolder(area), id)]) removeFile(path);
  // Its folder, and that of the part where nothing else is kept.
  if (removeEmptyFolder(dirname(log)) || !exists(dirname(log))) removeEmptyFolder(dirname(dirname(log)));
  if (JOB_IDS.some((other) => kindsOf(manifest.entries(), other).length > 0)) return;
  removeLauncher(LAUNCHER, { ...deps, bin: area.bin }, manifest);
  forgetRuns(runDeps(deps, host));
}

/** What lies in a cache is gone one day, and the jobs with it. */
function cacheWarning({ product }: ScheduleDeps): string[] {
  return /[\\/]_npx[\\/]/.test(product.root)
    ? [
        'This steward lies in a cache of npx, which may be emptied: install it with "npm install --global" to keep the job working.',
      ]
    : [];
}
