import { uptime } from 'node:os';
import { join } from 'node:path';

import { readBytes, readText } from '../platform/files/atomic-file';
import { exists, lstatOf } from '../platform/files/folder';
import { readInstallManifest, sha256, type InstallEntry } from '../platform/files/install-manifest';
import { launcherPath } from '../platform/process/launcher';
import { clean } from '../platform/terminal/terminal';
import { parseIso, toIso } from '../platform/time/clock';
import type { Backend } from './backend';
import type { Job, JobId, JobStatus, SchedulerKind } from './job';
import { entryOf, LAUNCHER, recordsFolder, type ScheduleDeps } from './launcher';
import { entryId } from './recorder';

interface Backends {
  backends: readonly Backend[];
  backend: Backend;
}

/** Returns a job's status from its scheduler, the launcher's record and the installed files. */
export async function jobStatus(deps: ScheduleDeps, backends: Backends, job: Job): Promise<JobStatus> {
  return statusOf(await gathered(deps, backends, job));
}

export type JobStatusInput = Awaited<ReturnType<typeof gathered>>;

async function gathered(deps: ScheduleDeps, { backends, backend }: Backends, job: Job) {
  const { area, clock, host } = deps;
  const entries = exists(area.installManifest)
    ? readInstallManifest(area.installManifest, deps.machineId)
    : [];
  const recorded = entries.filter(({ id }) => id === entryId(job.id)).at(-1);
  const entry = entryOf(deps, job);
  const holders = await holdersOf(backends, entry.name);
  const kind = [recorded?.added['scheduler'], backend.kind, ...holders].find((candidate) =>
    holders.some((holder) => holder === candidate),
  );
  const used = backends.find((candidate) => candidate.kind === kind) ?? backend;
  const state = await used.state(entry);
  const written = entries.filter(({ id }) => id === entryId(job.id) || id === LAUNCHER.manifestId);
  return {
    job,
    scheduler: used.kind,
    everySec: intervalIn(used, job),
    state: { ...state, edited: state.edited || written.some(isEdited) },
    record: readRecord(recordsFolder(area), job.id),
    recorded: recorded as Pick<InstallEntry, 'at' | 'added'> | undefined,
    hasLauncher: exists(launcherPath(LAUNCHER.name, { bin: area.bin, host })),
    log: entry.log,
    logEnd: endOf(entry.log),
    nowMs: clock.now(),
    bootMs: clock.now() - uptime() * 1000,
  };
}

export async function holdersOf(backends: readonly Backend[], name: string): Promise<SchedulerKind[]> {
  const holds = await Promise.all(backends.map((backend) => backend.holds(name)));
  return backends.filter((_, index) => holds[index]).map(({ kind }) => kind);
}

/** Returns the interval at which a scheduler runs a job, in seconds; null for the daemon. */
export function intervalIn(backend: Backend, { everySec }: Job): number | null {
  return everySec === null ? null : backend.interval(everySec);
}

/** The launcher's record of a job's last run. `atMs` is when the run ended, or when the daemon started. */
function readRecord(folder: string, id: JobId): { atMs: number; exit: number | null } | undefined {
  const path = join(folder, id);
  const facts = lstatOf(path);
  if (facts?.isFile !== true) return undefined;
  const text = (readText(path, { maxBytes: 4096 }) ?? '').trim();
  return { atMs: facts.mtimeMs, exit: /^\d{1,10}$/.test(text) ? Number(text) : null };
}

const MAX_BYTES = 1024 * 1024;

/** Returns the last two lines of a log, which are usually an error and its hint. */
function endOf(log: string): string {
  const facts = lstatOf(log);
  if (facts?.isFile !== true || facts.size > MAX_BYTES) return '';
  const lines = (readText(log) ?? '').split('\n').map((line) => clean(line).trim());
  return lines
    .filter((line) => line !== '')
    .slice(-2)
    .join(' ');
}

function isEdited({ kind, path, after }: InstallEntry): boolean {
  if (kind !== 'file' || after === null || !exists(path)) return false;
  if (lstatOf(path)?.isFile !== true) return true;
  return sha256(readBytes(path, { maxBytes: MAX_BYTES }) ?? '') !== after;
}

const MISSED_TO_WARN = 3;

/** Computes a job's status without I/O. */
export function statusOf(input: JobStatusInput): JobStatus {
  const { job, scheduler, state, everySec, log, nowMs, record } = input;
  const due = everySec === null || record === undefined ? undefined : record.atMs + everySec * 1000;
  const status: JobStatus = {
    job: job.id,
    scheduler,
    installed: state.installed,
    loaded: state.loaded,
    everySec,
    lastRun: record === undefined ? null : toIso(record.atMs),
    nextRun: state.loaded && due !== undefined ? toIso(Math.max(due, nowMs)) : null,
    lastExit: record?.exit ?? null,
    missedPolls: state.installed ? missedRuns(input) : 0,
    log,
  };
  return state.installed ? { ...status, ...(entryProblem(input) ?? runProblem(input, status)) } : status;
}

/** Returns the number of runs due since the last run, the install or the boot, whichever is latest. */
function missedRuns({ record, recorded, everySec, nowMs, bootMs }: JobStatusInput): number {
  const known = [record?.atMs, recorded === undefined ? undefined : parseIso(recorded.at)].filter(
    (ms) => ms !== undefined,
  );
  if (everySec === null || known.length === 0) return 0;
  const since = Math.max(bootMs, ...known.filter((ms) => ms <= nowMs));
  return Math.max(0, Math.floor((nowMs - since) / (everySec * 1000)));
}

type Problem = Pick<JobStatus, 'warning' | 'broken' | 'fix' | 'hint'>;

function entryProblem({ job, hasLauncher, scheduler, state }: JobStatusInput): Problem | undefined {
  const fix = job.command;
  if (!hasLauncher) return { warning: 'The launcher is missing, so each run fails.', broken: true, fix };
  if (!state.loaded) {
    const more = scheduler === 'cron' ? { hint: 'Start the cron service.' } : { fix };
    return { warning: `The job is installed, but ${scheduler} does not run it.`, broken: true, ...more };
  }
  if (state.edited)
    return { warning: `The entry in ${scheduler} has been edited since it was installed.`, fix };
  return undefined;
}

function runProblem({ job, recorded, logEnd }: JobStatusInput, status: JobStatus): Problem | undefined {
  const { lastExit, missedPolls, log } = status;
  const fix = job.command;
  const hint = logEnd === '' ? `See ${log}` : `${log} ends with: ${logEnd}`;
  if (lastExit !== null && lastExit !== 0)
    return { warning: `The last run failed with exit code ${lastExit}.`, hint };
  if (missedPolls >= MISSED_TO_WARN) {
    const warning = `${missedPolls} runs have been missed since the last run. Jobs do not run while the machine is asleep.`;
    return { warning, hint, fix };
  }
  const [configured, installed] = [job.everySec, recorded?.added['everySec']];
  if (typeof installed === 'number' && configured !== null && installed !== configured)
    return {
      warning: `The job runs every ${installed} s, but the configured interval is ${configured} s.`,
      fix,
    };
  return undefined;
}
