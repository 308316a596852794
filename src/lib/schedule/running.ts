import { join } from 'node:path';

import type { UserArea } from '../config/user-area';
import { StewardError } from '../errors';
import { readText, replaceFile } from '../platform/files/atomic-file';
import type { Clock } from '../platform/time/clock';
import { ensureFolder, exists, listFolder, removeEmptyFolder, removeFile } from '../platform/files/folder';
import { isInstalledAnywhere } from '../platform/files/install-manifest';
import { launcherPath } from '../platform/process/launcher';
import { holderOf, isGone, parseHolder, processStart } from '../platform/files/lock-holder';
import type { PathHost } from '../platform/files/paths';
import { randomName } from '../platform/files/short-hash';
import { ENTRY_PREFIX } from './keeper';
import { JOB_IDS, type JobId } from './job';
import { LAUNCHER, recordsFolder } from './launcher';

export interface RunDeps {
  /** The folder of machine-local state in which the launcher notes how runs ended. */
  records: string;
  installManifest: string;
  /** What the scheduler starts. */
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

/** A run that is under way: of a job, or a process that delivers what a hook or a command has left. */
export interface Running {
  job: JobId | typeof DELIVERY;
  /** Of the launcher; of what it started where it has become that, or cannot tell its own (Windows). */
  pid: number;
}

export const DELIVERY = 'delivery';

/** The folder is of this machine alone, so the holders in it need no name of one. */
const HERE = 'this machine';
const MAX_BYTES = 4096;
/** Names the launcher that starts the daemon again (templates/launcher/steward-job.sh). */
const KEEPER = '.keep';

/** `sense 4711`, or `sense` where the run is this process; undefined for anything else. */
export function parseJobVariable(text: string, ownPid: number): Running | undefined {
  const [, name, pid] = /^([a-z]+)(?: ([1-9]\d{0,9}))?$/.exec(text) ?? [];
  const job = [...JOB_IDS, DELIVERY].find((id) => id === name) as Running['job'] | undefined;
  return job === undefined ? undefined : { job, pid: pid === undefined ? ownPid : Number(pid) };
}

/**
 * Notes that a scheduler has begun a run; false where the job is installed no more, and then nothing is there that was
 * not before. An uninstall takes the entry out first and looks for notes then; a run leaves its note first and looks
 * for the entry then. So one of the two sees the other, and no run writes into an area that is being removed.
 */
export function beginRun(deps: RunDeps, run: Running): boolean {
  if (!isInstalled(deps, run.job)) return false;
  const note = notePath(deps, run);
  const made: string[] = [];
  try {
    // Those that were killed left their notes.
    runningJobs(deps);
    made.push(...ensureFolder(deps.records));
    replaceFile(note, JSON.stringify(holderOf(run.pid, HERE, deps.clock.now(), randomName(16))));
  } catch (error) {
    // What was there a moment ago may have been removed meanwhile, with the job.
    const isThere = isInstalled(deps, run.job);
    // A message is worth more than the note, which only an uninstall reads: one that finds the disk full is sent.
    if (isThere && run.job === DELIVERY) return true;
    if (isThere) throw error;
  }
  if (isInstalled(deps, run.job)) return true;
  removeFile(note);
  for (const folder of made.reverse()) removeEmptyFolder(folder);
  return false;
}

/** The runs that are under way. The notes of those that have ended are removed. */
export function runningJobs({ records, clock }: Pick<RunDeps, 'records' | 'clock'>): Running[] {
  const judge = { machineId: HERE, nowMs: clock.now(), staleAfterMs: 0, processStart };
  return listFolder(records).flatMap((name) => {
    const run = runOf(name);
    if (run === undefined) return [];
    const path = join(records, name);
    const holder = parseHolder(readText(path, { maxBytes: MAX_BYTES }) ?? '');
    if (holder !== undefined && !isGone(holder, judge)) return [run];
    removeFile(path);
    return [];
  });
}

/**
 * Ends the keeping of the daemon where the launcher does that, under cron: also one that waits before it starts it again
 * ends within some seconds, and without another start. The note of its run tells whether it has.
 */
export function endKeeping({ records }: Pick<RunDeps, 'records'>): void {
  removeFile(join(records, KEEPER));
}

/** Where no launcher is any more, the notes of runs that have ended go, and the folder where none is left. */
export function forgetRuns(deps: RunDeps): void {
  if (exists(deps.launcher)) return;
  runningJobs(deps);
  removeEmptyFolder(deps.records);
}

function noteName({ job, pid }: Running): string {
  return `.run.${job}.${pid}`;
}

function runOf(name: string): Running | undefined {
  const [, job, pid] = /^\.run\.([a-z]+)\.(\d+)$/.exec(name) ?? [];
  return job === undefined || pid === undefined ? undefined : parseJobVariable(`${job} ${pid}`, 0);
}

/** The note of a run, to be removed when it ends. */
export function notePath({ records }: Pick<RunDeps, 'records'>, run: Running): string {
  return join(records, noteName(run));
}

/**
 * By the manifest; where that is moved away or damaged, by the launcher, which goes with the last job. A delivery is of
 * no scheduler: it may go on where its area is.
 */
function isInstalled({ installManifest, launcher, root }: RunDeps, job: Running['job']): boolean {
  if (job === DELIVERY) return exists(root);
  try {
    if (exists(installManifest)) return isInstalledAnywhere(installManifest, ENTRY_PREFIX + job);
  } catch (error) {
    if (!(error instanceof StewardError && error.kind === 'config')) throw error;
  }
  return exists(launcher);
}
