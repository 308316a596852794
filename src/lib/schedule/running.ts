import { join } from 'node:path';

import type { UserArea } from '../config/user-area';
import { StewardError } from '../errors';
import { readText, replaceFile } from '../platform/files/atomic-file';
import {
  removeAtExit,
  ensureFolder,
  exists,
  listFolder,
  removeEmptyFolder,
  removeFile,
} from '../platform/files/folder';
import { isInstalledAnywhere } from '../platform/files/install-manifest';
import { holderOf, isGone, parseHolder, processStart } from '../platform/files/lock';
import type { PathHost } from '../platform/files/paths';
import { randomName } from '../platform/files/short-hash';
import { JOB_VARIABLE, endProcess, ownProcess } from '../platform/process/own-process';
import { launcherPath } from '../platform/process/launcher';
import type { Clock } from '../platform/time/clock';
import { wait } from '../platform/time/wait';
import { JOB_IDS, type JobId } from './job';
import { LAUNCHER, recordsFolder } from './launcher';
import { ENTRY_PREFIX } from './recorder';

export interface RunDeps {
  records: string;
  installManifest: string;
  launcher: string;
  root: string;
  clock: Clock;
}

export function runDeps(
  { area, clock }: { area: Pick<UserArea, 'root' | 'bin' | 'installManifest' | 'machine'>; clock: Clock },
  host: PathHost,
): RunDeps {
  return {
    records: recordsFolder(area),
    installManifest: area.installManifest,
    launcher: launcherPath(LAUNCHER.name, { bin: area.bin, host }),
    root: area.root,
    clock,
  };
}

/** A run of a job, or a process that delivers notifications. */
export interface Running {
  job: JobId | typeof DELIVERY;
  /** Process id of the launcher or, on Windows, of the process that the launcher started. */
  pid: number;
}

const DELIVERY = 'delivery';
/** Used instead of the machine ID in the marker files, which never leave this machine. */
const HERE = 'this machine';
const MAX_BYTES = 4096;
/** Marker file of the launcher that restarts the daemon under cron (templates/launcher/steward-job.sh). */
const KEEP_FILE = '.keep';

/** Parses a value such as `sense 4711` into a job and its process id. The process id defaults to `ownPid`. */
export function parseJobVariable(text: string, ownPid: number): Running | undefined {
  const [, name, pid] = /^([a-z]+)(?: ([1-9]\d{0,9}))?$/.exec(text) ?? [];
  const job = [...JOB_IDS, DELIVERY].find((id) => id === name) as Running['job'] | undefined;
  return job === undefined ? undefined : { job, pid: pid === undefined ? ownPid : Number(pid) };
}

/**
 * Registers the run of a scheduled command. Returns false if the job was uninstalled; the command must then
 * write no files.
 */
export function beginScheduled(deps: RunDeps, { env }: Pick<PathHost, 'env'>): boolean {
  const run = parseJobVariable(env[JOB_VARIABLE] ?? '', ownProcess().pid);
  // Remove the variable, because processes that the command starts must not count as runs of the job.
  delete env[JOB_VARIABLE];
  if (run === undefined) return true;
  if (beginRun(deps, run)) {
    if (run.job === DELIVERY) removeAtExit([notePath(deps, run)], [deps.records]);
    return true;
  }
  env['STEWARD_NO_CODE_CACHE'] = '1';
  return false;
}

/**
 * Writes a run's marker file, then returns whether the job is still installed. An uninstall removes the job
 * before it looks for marker files, so it can't miss a run.
 */
export function beginRun(deps: RunDeps, run: Running): boolean {
  if (!isInstalled(deps, run.job)) return false;
  const note = notePath(deps, run);
  const made: string[] = [];
  try {
    // Removes the marker files of killed runs.
    runningJobs(deps);
    made.push(...ensureFolder(deps.records));
    replaceFile(note, JSON.stringify(holderOf(run.pid, HERE, deps.clock.now(), randomName(16))));
  } catch (error) {
    const stillInstalled = isInstalled(deps, run.job);
    // Notifications are delivered even if the marker file can't be written, for example because the disk is
    // full.
    if (stillInstalled && run.job === DELIVERY) return true;
    if (stillInstalled) throw error;
  }
  if (isInstalled(deps, run.job)) return true;
  removeFile(note);
  for (const folder of made.reverse()) removeEmptyFolder(folder);
  return false;
}

/** Returns the current runs, and removes the marker files of finished runs. */
export function runningJobs({ records, clock }: Pick<RunDeps, 'records' | 'clock'>): Running[] {
  const judge = { machineId: HERE, nowMs: clock.now(), staleAfterMs: 0, processStart };
  return listFolder(records).flatMap((name) => {
    const [, job, pid] = /^\.run\.([a-z]+)\.(\d+)$/.exec(name) ?? [];
    const run = job === undefined ? undefined : parseJobVariable(`${job} ${pid ?? ''}`, 0);
    if (run === undefined) return [];
    const path = join(records, name);
    const holder = parseHolder(readText(path, { maxBytes: MAX_BYTES }) ?? '');
    if (holder !== undefined && !isGone(holder, judge)) return [run];
    removeFile(path);
    return [];
  });
}

/** Tells the launcher that runs under cron to stop restarting the daemon. Takes effect within seconds. */
export function endKeeping({ records }: Pick<RunDeps, 'records'>): void {
  removeFile(join(records, KEEP_FILE));
}

/**
 * If the launcher is gone, removes the marker files of finished runs. Also removes the folder if it is empty.
 */
export function forgetRuns(deps: RunDeps): void {
  if (exists(deps.launcher)) return;
  runningJobs(deps);
  removeEmptyFolder(deps.records);
}

function notePath({ records }: Pick<RunDeps, 'records'>, { job, pid }: Running): string {
  return join(records, `.run.${job}.${pid}`);
}

/** Returns whether the job is in the manifest or, if the manifest is invalid, whether the launcher exists. */
function isInstalled({ installManifest, launcher, root }: RunDeps, job: Running['job']): boolean {
  if (job === DELIVERY) return exists(root);
  try {
    if (exists(installManifest)) return isInstalledAnywhere(installManifest, ENTRY_PREFIX + job);
  } catch (error) {
    if (!(error instanceof StewardError && error.kind === 'config')) throw error;
  }
  return exists(launcher);
}

const MAX_WAIT_MS = 60_000;
const POLL_MS = 100;
/** Delay before `onWait` is called. Most runs end sooner. */
const QUIET_MS = 1_500;

export interface WaitOptions {
  stopDaemon: () => Promise<{ stopped: boolean }>;
  /** Called once, after waiting for 1.5 s. */
  onWait?: (running: readonly Running[]) => void;
  /** Selects the runs to wait for. Default: all. */
  filter?: (run: Running) => boolean;
}

/**
 * Waits up to a minute for runs to end; returns the runs still in progress. Stops daemons and deliveries
 * instead of waiting for them.
 */
export async function waitForRuns(deps: RunDeps, options: WaitOptions): Promise<Running[]> {
  const { stopDaemon, onWait, filter = () => true } = options;
  const start = deps.clock.monotonic();
  let isReported = onWait === undefined;
  for (;;) {
    const running = runningJobs(deps).filter(filter);
    const ms = deps.clock.monotonic() - start;
    if (running.length === 0 || ms > MAX_WAIT_MS) {
      forgetRuns(deps);
      return running;
    }
    if (!isReported && ms > QUIET_MS) {
      onWait?.(running);
      isReported = true;
    }
    for (const { job, pid } of running) {
      if (job === 'daemon') await stopDaemon();
      if (job === DELIVERY) endProcess(pid);
    }
    await wait(POLL_MS);
  }
}

/**
 * Stops the daemon and waits for its job; returns false if no job was running. Throws `locked` if the job
 * doesn't end.
 */
export async function endDaemon(
  deps: RunDeps,
  { stopDaemon }: Pick<WaitOptions, 'stopDaemon'>,
): Promise<boolean> {
  const { stopped } = await stopDaemon();
  const [running] = await waitForRuns(deps, { stopDaemon, filter: ({ job }) => job === 'daemon' });
  if (running === undefined) return stopped;
  throw new StewardError('locked', `The daemon job (process ${running.pid}) did not exit within a minute.`, {
    hint: 'The daemon will not restart. Check "steward daemon logs", and end the process if it is hanging.',
  });
}
