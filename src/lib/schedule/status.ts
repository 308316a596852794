import { join } from 'node:path';

import { readBytes, readText } from '../platform/files/atomic-file';
import { exists, lstatOf } from '../platform/files/folder';
import { type InstallEntry, readInstallManifest, sha256 } from '../platform/files/install-manifest';
import { launcherPath } from '../platform/process/launcher';
import { sinceBootMs } from '../platform/process/running-processes';
import { clean } from '../platform/terminal/terminal';
import { parseIso, toIso } from '../platform/time/clock';
import type { Backend, EntryState, JobEntry } from './backend';
import { entryOf, keptBy, recordsFolder, type ScheduleDeps, LAUNCHER, logOf } from './launcher';
import { type Job, type JobId, type JobStatus, type SchedulerKind, everySecOf } from './job';
import { ENTRY_PREFIX } from './keeper';

/** What the launcher has left of a run: when it ended, and how. Of the daemon: when it began. */
export interface RunRecord {
  atMs: number;
  exit: number | null;
}

export function readRecord(folder: string, id: JobId): RunRecord | undefined {
  const path = join(folder, id);
  const facts = lstatOf(path);
  if (facts?.isFile !== true) return undefined;
  const text = (readText(path, { maxBytes: 4096 }) ?? '').trim();
  return { atMs: facts.mtimeMs, exit: /^\d{1,10}$/.test(text) ? Number(text) : null };
}

/** So many runs have to be missing before it is said. */
const MISSED_TO_WARN = 3;
/** The times of schedulers are whole seconds, and theirs is the end of what the launcher has noted. */
const SAME_RUN_MS = 5_000;

export interface StatusInput {
  job: Job;
  scheduler: SchedulerKind;
  /** The interval that the scheduler has for it, s. */
  everySec: number | null;
  state: EntryState;
  record: RunRecord | undefined;
  /** The other schedulers of this machine that have it, too. */
  elsewhere: readonly SchedulerKind[];
  /** The entry of the install manifest. */
  recorded: Pick<InstallEntry, 'at' | 'added'> | undefined;
  /** Is the launcher there? */
  launcher: boolean;
  log: string;
  /** How it ends. */
  logEnd: string;
  nowMs: number;
  bootMs: number;
}

/** How a job is doing, of what its scheduler says and what its launcher has noted. Pure. */
export function statusOf(input: StatusInput): JobStatus {
  const { job, scheduler, state, everySec, log, nowMs } = input;
  const { lastRun, lastExit } = lastOf(input);
  const missedPolls = state.installed ? missed(input, lastRun, everySec) : 0;
  const lastMs = lastRun === null ? undefined : parseIso(lastRun);
  const due = everySec === null || lastMs === undefined ? undefined : lastMs + everySec * 1000;
  const nextRun = state.nextRun ?? (due === undefined ? null : toIso(Math.max(due, nowMs)));
  const found = {
    job: job.id,
    scheduler,
    installed: state.installed,
    loaded: state.loaded,
    everySec,
    lastRun,
    nextRun: state.loaded ? nextRun : null,
    lastExit,
    missedPolls,
    log,
  };
  return { ...found, ...problemOf(input, found) };
}

function lastOf({ job, state, record }: StatusInput): Pick<JobStatus, 'lastRun' | 'lastExit'> {
  const told = { lastRun: state.lastRun, lastExit: state.lastExit };
  if (record === undefined) return told;
  const noted = { lastRun: toIso(record.atMs), lastExit: record.exit };
  if (job.when.kind === 'login') return { lastRun: noted.lastRun, lastExit: state.lastExit };
  const toldMs = state.lastRun === null ? undefined : parseIso(state.lastRun);
  return toldMs !== undefined && toldMs > record.atMs + SAME_RUN_MS ? told : noted;
}

/** Runs that were due since the last one, the install or the start of the machine, whichever is the latest. */
function missed(
  { recorded, nowMs, bootMs }: StatusInput,
  lastRun: string | null,
  everySec: number | null,
): number {
  if (everySec === null) return 0;
  const known = [lastRun, recorded?.at ?? null].flatMap((iso) => (iso === null ? [] : [parseIso(iso) ?? 0]));
  if (known.length === 0) return 0;
  const since = Math.max(bootMs, ...known.filter((ms) => ms <= nowMs));
  return Math.max(0, Math.floor((nowMs - since) / (everySec * 1000)));
}

type Problem = Pick<JobStatus, 'warning' | 'broken' | 'mend' | 'hint'>;

/** What is wrong with a job: the worst of it. */
function problemOf(input: StatusInput, status: JobStatus): Problem {
  if (!status.installed) return {};
  return entryProblem(input, status) ?? runProblem(input, status) ?? {};
}

/** Of what stands in the scheduler. */
function entryProblem(
  { job, launcher, scheduler, state, elsewhere }: StatusInput,
  { loaded }: JobStatus,
): Problem | undefined {
  const mend = job.command;
  if (!launcher) return { warning: 'What it starts is gone: each run fails.', broken: true, mend };
  if (state.disabled && !loaded)
    return { warning: `It is disabled in ${scheduler}, which does not run it.`, broken: true, mend };
  if (!loaded) {
    const warning = `It is installed, but ${scheduler} does not run it.`;
    return scheduler === 'cron'
      ? { warning, broken: true, hint: 'Start the cron service of this machine.' }
      : { warning, broken: true, mend };
  }
  if (elsewhere.length > 0)
    return { warning: `It runs twice: it is in ${[scheduler, ...elsewhere].join(' and in ')}.`, mend };
  if (state.copies > 1)
    return { warning: `It runs twice: it stands in ${scheduler} ${state.copies} times.`, mend };
  if (state.disabled)
    return { warning: `It is disabled in ${scheduler}: after the next login it does not run.`, mend };
  if (state.edited)
    return { warning: `What stands in ${scheduler} is not what was written there: it was edited.`, mend };
  return undefined;
}

/** Of its runs. */
function runProblem({ job, recorded, logEnd }: StatusInput, status: JobStatus): Problem | undefined {
  const hint = logEnd === '' ? `See ${status.log}` : `${status.log} ends with: ${logEnd}`;
  if (status.lastExit !== null && status.lastExit !== 0)
    return { warning: `Its last run ended with code ${status.lastExit}.`, hint };
  if (status.missedPolls >= MISSED_TO_WARN)
    return {
      warning: `${status.missedPolls} runs were due since the last one and did not come. A machine that sleeps runs none.`,
      hint,
      mend: job.command,
    };
  const wanted = everySecOf(job);
  const asked = recorded?.added['everySec'];
  if (typeof asked === 'number' && wanted !== null && asked !== wanted)
    return {
      warning: `It was installed for every ${asked} s, and ${wanted} s are configured now.`,
      mend: job.command,
    };
  return undefined;
}

/** How a job is doing: what its scheduler says, what its launcher has noted, and whether all is as it was written. */
export async function lookAt(
  deps: ScheduleDeps,
  { backends, backend }: { backends: readonly Backend[]; backend: Backend },
  job: Job,
): Promise<JobStatus> {
  const { area, clock, host } = deps;
  const entries = exists(area.installManifest)
    ? readInstallManifest(area.installManifest, deps.machineId)
    : [];
  const own = entries.filter(({ id }) => id === ENTRY_PREFIX + job.id);
  const recorded = own.at(-1);
  const entry = entryOf(deps, job);
  const holders = await holdersOf(backends, entry);
  const wanted = [recorded?.added['scheduler'], backend.kind, ...holders];
  const kind = wanted.find((one) => holders.some((holder) => holder === one)) ?? wanted.find(Boolean);
  const used = backends.find((one) => one.kind === kind) ?? backend;
  const state = await used.state(entry);
  const log = logOf(area, host, job.id);
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
    log,
    logEnd: endOf(log),
    nowMs: clock.now(),
    bootMs: clock.now() - sinceBootMs(),
  });
}

/** The schedulers in which a job stands. */
export async function holdersOf(backends: readonly Backend[], entry: JobEntry): Promise<SchedulerKind[]> {
  const found = await Promise.all(
    backends.map(async ({ kind, holds }) => ((await holds(entry.name)) ? [kind] : [])),
  );
  return found.flat();
}

const MAX_BYTES = 1024 * 1024;

/** The last line of a log that says something; an error of steward's is two lines: what is, and what to do. */
function endOf(log: string): string {
  const facts = lstatOf(log);
  if (facts?.isFile !== true || facts.size > MAX_BYTES) return '';
  const lines = (readText(log) ?? '').split('\n').map((line) => clean(line).trim());
  return lines
    .filter((line) => line !== '')
    .slice(-2)
    .join(' ');
}

/** What an install wrote as a file, and somebody else has written since; that it is gone is told otherwise. */
function isEdited({ kind, path, after }: InstallEntry): boolean {
  if (kind !== 'file' || after === null || !exists(path)) return false;
  if (lstatOf(path)?.isFile !== true) return true;
  return sha256(readBytes(path, { maxBytes: MAX_BYTES }) ?? '') !== after;
}
