import { join } from 'node:path';

import type { Machine, UserArea } from '../config/user-area';
import { StewardError } from '../errors';
import { readText, replaceFile } from '../platform/files/atomic-file';
import {
  ensureFolder,
  exists,
  listFolder,
  removeAtExit,
  removeEmptyFolder,
  removeFile,
} from '../platform/files/folder';
import { isInstalledAnywhere } from '../platform/files/install-manifest';
import { holderOf, isGone, parseHolder, processStart } from '../platform/files/lock';
import { randomName } from '../platform/files/short-hash';
import { launcherPath } from '../platform/process/launcher';
import { JOB_VARIABLE, endProcess, ownProcess } from '../platform/process/own-process';
import { wait } from '../platform/time/wait';
import { LAUNCHER, recordsFolder } from './launcher';
import { entryId } from './recorder';

type Here = Pick<Machine, 'area' | 'clock'>;

/** A run of a job, or a process that a hook or a notification started. */
export interface Running {
  job: string;
  /** Process id of the launcher or, on Windows, of the process that the launcher started. */
  pid: number;
}

const DELIVERY = 'delivery';
/** Used instead of the machine ID in the marker files, which never leave this machine. */
const HERE = 'this machine';
const MAX_BYTES = 4096;
/** Marker file of the launcher that restarts the daemon under cron (templates/launcher/steward-job.sh). */
const KEEP_FILE = '.keep';

/** Parses a value such as `tick 4711` into a job and its process id. The process id defaults to `ownPid`. */
export function parseJobVariable(text: string, ownPid: number): Running | undefined {
  const [, job, pid] = /^([a-z]+)(?: ([1-9]\d{0,9}))?$/.exec(text) ?? [];
  return job === undefined ? undefined : { job, pid: pid === undefined ? ownPid : Number(pid) };
}

/**
 * Registers the run of a background command. Returns false if its job was uninstalled; the command must then
 * write no files.
 */
export function beginScheduled(here: Here, env: NodeJS.ProcessEnv): boolean {
  const run = parseJobVariable(env[JOB_VARIABLE] ?? '', ownProcess().pid);
  // Remove the variable, because processes that the command starts must not count as runs of the job.
  delete env[JOB_VARIABLE];
  if (run === undefined) return true;
  if (beginRun(here, run)) {
    if (run.job === DELIVERY) removeAtExit([notePath(here, run)], [recordsFolder(here.area)]);
    return true;
  }
  env['STEWARD_NO_CODE_CACHE'] = '1';
  return false;
}

/**
 * Writes a run's marker file, then returns whether the job is still installed. An uninstall removes the job
 * before it looks for marker files, so it can't miss a run.
 */
export function beginRun(here: Here, run: Running): boolean {
  if (!isInstalled(here.area, run.job)) return false;
  const note = notePath(here, run);
  const made: string[] = [];
  try {
    // Removes the marker files of killed runs.
    runningJobs(here);
    made.push(...ensureFolder(recordsFolder(here.area)));
    replaceFile(note, JSON.stringify(holderOf(run.pid, HERE, here.clock.now(), randomName(16))));
  } catch (error) {
    const stillInstalled = isInstalled(here.area, run.job);
    // Notifications are delivered even if the marker file can't be written, for example because the disk is
    // full.
    if (stillInstalled && run.job === DELIVERY) return true;
    if (stillInstalled) throw error;
  }
  if (isInstalled(here.area, run.job)) return true;
  removeFile(note);
  for (const folder of made.reverse()) removeEmptyFolder(folder);
  return false;
}

/** Returns the current runs, and removes the marker files of finished runs. */
export function runningJobs({ area, clock }: Here): Running[] {
  const judge = { machineId: HERE, nowMs: clock.now(), staleAfterMs: 0, processStart };
  return listFolder(recordsFolder(area)).flatMap((name) => {
    const [, job, pid] = /^\.run\.([a-z]+)\.(\d+)$/.exec(name) ?? [];
    if (job === undefined) return [];
    const path = join(recordsFolder(area), name);
    const holder = parseHolder(readText(path, { maxBytes: MAX_BYTES }) ?? '');
    if (holder !== undefined && !isGone(holder, judge)) return [{ job, pid: Number(pid) }];
    removeFile(path);
    return [];
  });
}

/** Tells the launcher that runs under cron to stop restarting the daemon. Takes effect within seconds. */
export function endKeeping({ area }: Pick<Here, 'area'>): void {
  removeFile(join(recordsFolder(area), KEEP_FILE));
}

/** If the launcher is gone, removes the marker files of finished runs. Also removes the folder if it is empty. */
export function forgetRuns(here: Here): void {
  if (exists(jobLauncher(here.area))) return;
  runningJobs(here);
  removeEmptyFolder(recordsFolder(here.area));
}

function notePath({ area }: Here, { job, pid }: Running): string {
  return join(recordsFolder(area), `.run.${job}.${pid}`);
}

function jobLauncher({ bin, host }: UserArea): string {
  return launcherPath(LAUNCHER.name, { bin, host });
}

/** Returns whether the job is in the manifest or, if the manifest is invalid, whether the launcher exists. */
function isInstalled(area: UserArea, job: string): boolean {
  if (job === DELIVERY) return exists(area.root);
  try {
    if (exists(area.installManifest)) return isInstalledAnywhere(area.installManifest, entryId(job));
  } catch (error) {
    if (!(error instanceof StewardError && error.kind === 'config')) throw error;
  }
  return exists(jobLauncher(area));
}

const MAX_WAIT_MS = 60_000;
const POLL_MS = 100;
/** Delay before `onWait` is called. Most runs end sooner. */
const QUIET_MS = 1_500;

interface WaitOptions {
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
export async function waitForRuns(here: Here, options: WaitOptions): Promise<Running[]> {
  const { stopDaemon, onWait, filter = () => true } = options;
  const start = here.clock.monotonic();
  let isReported = onWait === undefined;
  for (;;) {
    const running = runningJobs(here).filter(filter);
    const ms = here.clock.monotonic() - start;
    if (running.length === 0 || ms > MAX_WAIT_MS) {
      forgetRuns(here);
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
export async function endDaemon(here: Here, { stopDaemon }: Pick<WaitOptions, 'stopDaemon'>) {
  const { stopped } = await stopDaemon();
  const [running] = await waitForRuns(here, { stopDaemon, filter: ({ job }) => job === 'daemon' });
  if (running === undefined) return stopped;
  throw new StewardError('locked', `The daemon job (process ${running.pid}) did not exit within a minute.`, {
    hint: 'The daemon will not restart. Check "steward daemon logs", and end the process if it is hanging.',
  });
}
