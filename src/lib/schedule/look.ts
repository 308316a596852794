import { readBytes, readText } from '../platform/files/atomic-file';
import { exists, lstatOf } from '../platform/files/folder';
import { readInstallManifest, sha256, type InstallEntry } from '../platform/files/install-manifest';
import { launcherPath } from '../platform/process/launcher';
import { sinceBootMs } from '../platform/process/running-processes';
import { clean } from '../platform/terminal/terminal';
import type { Backend } from './backend';
import { entryOf, keptBy, type ScheduleDeps } from './deps';
import type { JobEntry } from './entry';
import type { Job } from './job';
import { readRecord, statusOf } from './job-status';
import { ENTRY_PREFIX } from './keeper';
import { LAUNCHER, logOf } from './launcher';
import { recordsFolder } from './running';
import type { JobStatus, SchedulerKind } from './scheduler';

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
