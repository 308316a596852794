import { join } from 'node:path';

import { readBytes, readText } from '../platform/files/atomic-file';
import { exists, lstatOf } from '../platform/files/folder';
import { readInstallManifest, sha256, type InstallEntry } from '../platform/files/install-manifest';
import { launcherPath } from '../platform/process/launcher';
import { sinceBootMs } from '../platform/process/own-process';
import { clean } from '../platform/terminal/terminal';
import { parseIso, toIso } from '../platform/time/clock';
import { ENTRY_PREFIX, type Backend, type EntryState, type JobEntry } from './backend';
import { everySecOf, type Job, type JobId, type JobStatus, type SchedulerKind } from './job';
import { entryOf, keptBy, LAUNCHER, recordsFolder, type ScheduleDeps } from './launcher';

/** How a job is doing: by its scheduler, by its launcher's record, and whether its files are as they were written. */
export async function lookAt(
  deps: ScheduleDeps,
  { backends, backend }: { backends: readonly Backend[]; backend: Backend },
  job: Job,
): Promise<JobStatus> {
  const { area, clock, host } = deps;
  const entries = exists(area.installManifest)
    ? readInstallManifest(area.installManifest, deps.machineId)
    : [];
  const recorded = entries.filter(({ id }) => id === ENTRY_PREFIX + job.id).at(-1);
  const entry = entryOf(deps, job);
  const holders = await holdersOf(backends, entry);
  const wanted = [recorded?.added['scheduler'], backend.kind, ...holders];
  const kind = wanted.find((one) => holders.some((holder) => holder === one)) ?? wanted.find(Boolean);
  const used = backends.find((one) => one.kind === kind) ?? backend;
  const state = await used.state(entry);
  const written = entries.filter(({ id }) => id === ENTRY_PREFIX + job.id || id === LAUNCHER.manifestId);
  return statusOf({
    job,
    scheduler: used.kind,
    everySec: keptBy(used, job),
    state: { ...state, edited: state.edited || written.some(isEdited) },
    elsewhere: holders.filter((holder) => holder !== used.kind),
    record: readRecord(recordsFolder(area), job.id),
    recorded,
    launcher: exists(launcherPath(LAUNCHER.name, { bin: area.bin, host })),
    log: entry.log,
    logEnd: endOf(entry.log),
    nowMs: clock.now(),
    bootMs: clock.now() - sinceBootMs(),
  });
}

/** The schedulers that hold a job. */
export async function holdersOf(backends: readonly Backend[], entry: JobEntry): Promise<SchedulerKind[]> {
  const holds = await Promise.all(backends.map((backend) => backend.holds(entry.name)));
  return backends.filter((_, index) => holds[index]).map(({ kind }) => kind);
}

/** The launcher's record of a run: when it ended, and how. Of the daemon: when it began. */
interface RunRecord {
  atMs: number;
  exit: number | null;
}

function readRecord(folder: string, id: JobId): RunRecord | undefined {
  const path = join(folder, id);
  const facts = lstatOf(path);
  if (facts?.isFile !== true) return undefined;
  const text = (readText(path, { maxBytes: 4096 }) ?? '').trim();
  return { atMs: facts.mtimeMs, exit: /^\d{1,10}$/.test(text) ? Number(text) : null };
}

const MAX_BYTES = 1024 * 1024;

/** The last two lines of a log: an error of steward's is what failed, and what to do. */
function endOf(log: string): string {
  const facts = lstatOf(log);
  if (facts?.isFile !== true || facts.size > MAX_BYTES) return '';
  const lines = (readText(log) ?? '').split('\n').map((line) => clean(line).trim());
  return lines
    .filter((line) => line !== '')
    .slice(-2)
    .join(' ');
}

/** Did somebody change a file that an install wrote? */
function isEdited({ kind, path, after }: InstallEntry): boolean {
  if (kind !== 'file' || after === null || !exists(path)) return false;
  if (lstatOf(path)?.isFile !== true) return true;
  return sha256(readBytes(path, { maxBytes: MAX_BYTES }) ?? '') !== after;
}

/** Missing runs before a warning. */
const MISSED_TO_WARN = 3;
/** A scheduler's times are whole seconds, and later than the launcher's. */
const SAME_RUN_MS = 5_000;

export interface StatusInput {
  job: Job;
  scheduler: SchedulerKind;
  /** The interval that the scheduler keeps, s. */
  everySec: number | null;
  state: EntryState;
  record: RunRecord | undefined;
  /** Other schedulers that hold the job. */
  elsewhere: readonly SchedulerKind[];
  recorded: Pick<InstallEntry, 'at' | 'added'> | undefined;
  /** Does the launcher exist? */
  launcher: boolean;
  log: string;
  logEnd: string;
  nowMs: number;
  bootMs: number;
}

/** The status by these facts; pure. */
export function statusOf(input: StatusInput): JobStatus {
  const { job, scheduler, state, everySec, log, nowMs } = input;
  const { lastRun, lastExit } = lastOf(input);
  const lastMs = lastRun === null ? undefined : parseIso(lastRun);
  const due = everySec === null || lastMs === undefined ? undefined : lastMs + everySec * 1000;
  const nextRun = state.nextRun ?? (due === undefined ? null : toIso(Math.max(due, nowMs)));
  const found: JobStatus = {
    job: job.id,
    scheduler,
    installed: state.installed,
    loaded: state.loaded,
    everySec,
    lastRun,
    nextRun: state.loaded ? nextRun : null,
    lastExit,
    missedPolls: state.installed ? missed(input, lastMs) : 0,
    log,
  };
  return state.installed ? { ...found, ...(entryProblem(input) ?? runProblem(input, found)) } : found;
}

function lastOf({ job, state, record }: StatusInput): Pick<JobStatus, 'lastRun' | 'lastExit'> {
  const { lastRun, lastExit } = state;
  if (record === undefined) return { lastRun, lastExit };
  if (job.when.kind === 'login') return { lastRun: toIso(record.atMs), lastExit };
  const isLater = ((lastRun === null ? undefined : parseIso(lastRun)) ?? 0) > record.atMs + SAME_RUN_MS;
  return isLater ? { lastRun, lastExit } : { lastRun: toIso(record.atMs), lastExit: record.exit };
}

/** Runs due since the last one, the install or the start of the machine, whichever is the latest. */
function missed({ recorded, everySec, nowMs, bootMs }: StatusInput, lastMs: number | undefined): number {
  const known = [lastMs, recorded === undefined ? undefined : parseIso(recorded.at)].filter(
    (ms) => ms !== undefined,
  );
  if (everySec === null || known.length === 0) return 0;
  const since = Math.max(bootMs, ...known.filter((ms) => ms <= nowMs));
  return Math.max(0, Math.floor((nowMs - since) / (everySec * 1000)));
}

type Problem = Pick<JobStatus, 'warning' | 'broken' | 'mend' | 'hint'>;

/** The worst that is wrong with the entry in the scheduler. */
function entryProblem({ job, launcher, scheduler, state, elsewhere }: StatusInput): Problem | undefined {
  const mend = job.command;
  const { loaded, disabled, copies, edited } = state;
  if (!launcher) return { warning: 'What it starts is gone: each run fails.', broken: true, mend };
  if (disabled && !loaded)
    return { warning: `It is disabled in ${scheduler}, which does not run it.`, broken: true, mend };
  if (!loaded) {
    const more = scheduler === 'cron' ? { hint: 'Start the cron service of this machine.' } : { mend };
    return { warning: `It is installed, but ${scheduler} does not run it.`, broken: true, ...more };
  }
  if (elsewhere.length > 0)
    return { warning: `It runs twice: it is in ${[scheduler, ...elsewhere].join(' and in ')}.`, mend };
  if (copies > 1) return { warning: `It runs twice: it stands in ${scheduler} ${copies} times.`, mend };
  if (disabled)
    return { warning: `It is disabled in ${scheduler}: after the next login it does not run.`, mend };
  if (edited)
    return { warning: `What stands in ${scheduler} is not what was written there: it was edited.`, mend };
  return undefined;
}

/** The worst that is wrong with its runs. */
function runProblem({ job, recorded, logEnd }: StatusInput, status: JobStatus): Problem | undefined {
  const { lastExit, missedPolls, log } = status;
  const mend = job.command;
  const hint = logEnd === '' ? `See ${log}` : `${log} ends with: ${logEnd}`;
  if (lastExit !== null && lastExit !== 0)
    return { warning: `Its last run ended with code ${lastExit}.`, hint };
  if (missedPolls >= MISSED_TO_WARN) {
    const warning = `${missedPolls} runs were due since the last one and did not come. A machine that sleeps runs none.`;
    return { warning, hint, mend };
  }
  const [wanted, asked] = [everySecOf(job), recorded?.added['everySec']];
  if (typeof asked === 'number' && wanted !== null && asked !== wanted)
    return { warning: `It was installed for every ${asked} s, and ${wanted} s are configured now.`, mend };
  return undefined;
}
