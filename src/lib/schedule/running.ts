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
import { holderOf, isGone, parseHolder, processStart } from '../platform/files/lock-holder';
import type { PathHost } from '../platform/files/paths';
import { randomName } from '../platform/files/short-hash';
import { JOB_VARIABLE, endProcess, ownProcess } from '../platform/process/own-process';
import { launcherPath } from '../platform/process/launcher';
import type { Clock } from '../platform/time/clock';
import { wait } from '../platform/time/wait';
import { ENTRY_PREFIX } from './backend';
import { JOB_IDS, type JobId } from './job';
import { LAUNCHER, recordsFolder } from './launcher';

export interface RunDeps {
  /** The folder in which the launcher records how runs ended. */
  records: string;
  installManifest: string;
  launcher: string;
  /** The user area. */
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

/** A run of a job, or a process that delivers what a hook or a command has queued. */
export interface Running {
  job: JobId | typeof DELIVERY;
  /** Of the launcher; on Windows of what it started. */
  pid: number;
}

const DELIVERY = 'delivery';
/** The folder is machine-local, so its holders need no machine. */
const HERE = 'this machine';
const MAX_BYTES = 4096;
/** Names the launcher that restarts the daemon (templates/launcher/steward-job.sh). */
const KEEPER = '.keep';

/** Parses `sense 4711`, or `sense` if the run is this process. */
export function parseJobVariable(text: string, ownPid: number): Running | undefined {
  const [, name, pid] = /^([a-z]+)(?: ([1-9]\d{0,9}))?$/.exec(text) ?? [];
  const job = [...JOB_IDS, DELIVERY].find((id) => id === name) as Running['job'] | undefined;
  return job === undefined ? undefined : { job, pid: pid === undefined ? ownPid : Number(pid) };
}

/**
 * Called before a command that a scheduler started; false if its job is no longer installed: then nothing may be
 * written, not even the code cache. The variable is not passed on: what the command starts is no run of the job.
 */
export function beginScheduled(deps: RunDeps, { env }: Pick<PathHost, 'env'>): boolean {
  const run = parseJobVariable(env[JOB_VARIABLE] ?? '', ownProcess().pid);
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
 * Notes a run; false if its job is not installed, and then writes nothing. An uninstall removes the entry and then looks
 * for notes; a run writes its note and then looks for the entry: one of the two sees the other.
 */
export function beginRun(deps: RunDeps, run: Running): boolean {
  if (!isInstalled(deps, run.job)) return false;
  const note = notePath(deps, run);
  const made: string[] = [];
  try {
    // Removes the notes of runs that were killed.
    runningJobs(deps);
    made.push(...ensureFolder(deps.records));
    replaceFile(note, JSON.stringify(holderOf(run.pid, HERE, deps.clock.now(), randomName(16))));
  } catch (error) {
    // The folder may have been removed meanwhile, with the job.
    const isThere = isInstalled(deps, run.job);
    // A message is worth more than its note: a full disk does not stop it.
    if (isThere && run.job === DELIVERY) return true;
    if (isThere) throw error;
  }
  if (isInstalled(deps, run.job)) return true;
  removeFile(note);
  for (const folder of made.reverse()) removeEmptyFolder(folder);
  return false;
}

/** The runs under way. Removes the notes of those that have ended. */
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

/** Ends the launcher's keeping of the daemon under cron, within seconds and without another start. */
export function endKeeping({ records }: Pick<RunDeps, 'records'>): void {
  removeFile(join(records, KEEPER));
}

/** Without a launcher the notes of ended runs go, and the folder with the last one. */
export function forgetRuns(deps: RunDeps): void {
  if (exists(deps.launcher)) return;
  runningJobs(deps);
  removeEmptyFolder(deps.records);
}

function notePath({ records }: Pick<RunDeps, 'records'>, { job, pid }: Running): string {
  return join(records, `.run.${job}.${pid}`);
}

/** By the manifest; if that is gone or damaged, by the launcher. A delivery may run while its area is there. */
function isInstalled({ installManifest, launcher, root }: RunDeps, job: Running['job']): boolean {
  if (job === DELIVERY) return exists(root);
  try {
    if (exists(installManifest)) return isInstalledAnywhere(installManifest, ENTRY_PREFIX + job);
  } catch (error) {
    if (!(error instanceof StewardError && error.kind === 'config')) throw error;
  }
  return exists(launcher);
}

const LONGEST_MS = 60_000;
const POLL_MS = 100;
/** Most runs take less. */
const QUIET_MS = 1_500;

/** Which runs to wait for, and whom to tell about a wait of more than 1.5 s. */
export interface WaitForRuns {
  stopDaemon: () => Promise<{ stopped: boolean }>;
  onWait?: (running: readonly Running[]) => void;
  isMeant?: (run: Running) => boolean;
}

/**
 * Waits at most a minute for runs of jobs that were uninstalled; returns those still under way. A daemon that was just
 * starting is stopped once it listens, and a delivery, which may retry for minutes, is ended.
 */
export async function waitForRuns(deps: RunDeps, options: WaitForRuns): Promise<Running[]> {
  const { stopDaemon, onWait, isMeant = () => true } = options;
  const start = deps.clock.monotonic();
  let isTold = onWait === undefined;
  for (;;) {
    const running = runningJobs(deps).filter(isMeant);
    const ms = deps.clock.monotonic() - start;
    if (running.length === 0 || ms > LONGEST_MS) {
      forgetRuns(deps);
      return running;
    }
    if (!isTold && ms > QUIET_MS) {
      onWait?.(running);
      isTold = true;
    }
    for (const { job, pid } of running) {
      if (job === 'daemon') await stopDaemon();
      if (job === DELIVERY) endProcess(pid);
    }
    await wait(POLL_MS);
  }
}

/** Stops the daemon and waits for its job to end; true if one ran. One that does not end is `locked`. */
export async function endDaemon(
  deps: RunDeps,
  { stopDaemon }: Pick<WaitForRuns, 'stopDaemon'>,
): Promise<boolean> {
  const { stopped } = await stopDaemon();
  const [left] = await waitForRuns(deps, { stopDaemon, isMeant: ({ job }) => job === 'daemon' });
  if (left === undefined) return stopped;
  throw new StewardError('locked', `The daemon's job (process ${left.pid}) has not ended within a minute.`, {
    hint: 'Nothing restarts it. See what it does with "steward daemon logs"; end that process if it hangs.',
  });
}
