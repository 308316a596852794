import { basename, dirname } from 'node:path';

import { StewardError } from '../errors';
import { readText, replaceFile, sweepTemps } from '../platform/files/atomic-file';
import { ensureFolder, exists, removeEmptyFolder, removeFile } from '../platform/files/folder';
import { sha256, type InstallEntry, type InstallManifest } from '../platform/files/install-manifest';
import type { PathHost } from '../platform/files/paths';
import type { Run, RunResult } from '../platform/process/process';
import { clean } from '../platform/terminal/terminal';
import { toIso, type Clock } from '../platform/time/clock';
import type { Job, JobId, SchedulerKind } from './job';

/** A job as a scheduler is to have it: all renderings are made from this. */
export interface JobEntry {
  job: Job;
  /** Unique per user area: `steward-sense`, `steward-0a1b2c3d-sense`. */
  name: string;
  /** The launcher, absolute; its one argument is the id of the job. */
  launcher: string;
  /** Set over the scheduler's own environment. */
  env: Readonly<Record<string, string>>;
  /** The job's output, absolute; the launcher writes it. */
  log: string;
}

/** What a scheduler says about an entry. Times are ISO-8601 UTC; null: unknown. */
export interface EntryState {
  installed: boolean;
  loaded: boolean;
  nextRun: string | null;
  lastRun: string | null;
  lastExit: number | null;
  copies: number;
  /** Switched off; if it is loaded all the same, until the next login. */
  disabled: boolean;
  /** Differs from what an install writes. For files the install manifest tells. */
  edited: boolean;
}

export const NOT_THERE: EntryState = {
  installed: false,
  loaded: false,
  nextRun: null,
  lastRun: null,
  lastExit: null,
  copies: 0,
  disabled: false,
  edited: false,
};

/** What a scheduler is used with. */
export interface BackendDeps {
  run: Run;
  host: Pick<PathHost, 'platform' | 'home' | 'env'>;
  /** The environment of the scheduler's own programs. */
  env: NodeJS.ProcessEnv;
  /** -1 on Windows. */
  userId: number;
  keep: { exists: (path: string) => boolean };
  /** Starts a program and leaves it. */
  start: (file: string, args: readonly string[]) => void;
  wait: (ms: number) => Promise<void>;
  /** For files that a scheduler imports. */
  stateFolder: string;
  /** Names of the running processes; empty if unknown. */
  processNames: () => ReadonlySet<string>;
}

/** One scheduler: a file with such a factory, and a line in `index.ts`. */
export interface Backend {
  kind: SchedulerKind;
  /** Why it can be used here; undefined if it cannot. */
  probe: () => Promise<string | undefined>;
  /** The interval it keeps for a requested one, s. */
  keeps: (everySec: number) => number;
  /** Writes and loads the entry; if the scheduler refuses, undoes it and throws. */
  install: (
    entry: JobEntry,
    keeper: Keeper,
  ) => Promise<{ changed: boolean; files: string[]; warnings: string[] }>;
  /** Unloads and removes the entry; returns the removed files. */
  uninstall: (name: string, keeper: Keeper) => Promise<string[]>;
  /** Starts a run now; throws if the scheduler refuses. */
  start: (entry: JobEntry) => Promise<void>;
  /** False also if it cannot be asked or is not of this platform. */
  holds: (name: string) => Promise<boolean>;
  state: (entry: JobEntry) => Promise<EntryState>;
}

const TIMEOUT_MS = 20_000;

interface TellOptions {
  input?: Buffer;
  encoding?: BufferEncoding;
}

/** Runs a system program. A missing one returns code 127; one that hangs is `unavailable`. */
export async function tell(
  { run, env }: { run: Run; env: NodeJS.ProcessEnv },
  file: string,
  args: readonly string[],
  options: TellOptions = {},
): Promise<RunResult> {
  try {
    const result = await run(file, args, { timeoutMs: TIMEOUT_MS, env, ...options });
    if (!result.timedOut) return result;
  } catch (error) {
    if (!(error instanceof StewardError) || error.kind !== 'not_found') throw error;
    return { code: 127, signal: null, stdout: '', stderr: error.message, truncated: false, timedOut: false };
  }
  throw new StewardError('unavailable', `${file} ${args[0] ?? ''} does not answer.`, {
    hint: 'Run it in a terminal to see what it waits for.',
  });
}

/** The same; a code other than 0 is `unavailable`, with these words and the program's own. */
export async function must(
  deps: { run: Run; env: NodeJS.ProcessEnv },
  refused: { words: string; hint?: string },
  [file, ...args]: readonly [string, ...string[]],
  options: TellOptions = {},
): Promise<void> {
  const result = await tell(deps, file, args, options);
  if (result.code === 0) return;
  const { words, ...detail } = refused;
  throw new StewardError('unavailable', `${words}: ${outputOf(result)}`, detail);
}

/** A program's own words about its failure, on one line. */
export function outputOf({ stdout, stderr, code }: RunResult): string {
  const said = clean((stderr.trim() === '' ? stdout : stderr).trim().replace(/\s+/g, ' '));
  return said === '' ? `it ended with code ${String(code)}` : said.slice(0, 500);
}

/** Text in an element or an attribute of XML. */
export function xmlText(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

type Added = Readonly<Record<string, unknown>>;

/** Writes what a scheduler reads, recorded in the install manifest before it is written. */
export interface Keeper {
  /**
   * Writes a file unless it is as it should be; true if it had to.
   *
   * @param more.data its bytes if they are not the text's UTF-8
   * @param more.beside files that the scheduler will write: folders made for them are removed with it
   */
  write: (path: string, text: string, more?: { data?: Uint8Array; beside?: readonly string[] }) => boolean;
  /** Removes the file and the empty folders made for it; true if it was there. */
  remove: (path: string) => boolean;
  /** Records what is no file of steward's own, such as a crontab. */
  record: (path: string, added: Added) => void;
  /** What was recorded for this job, else for another one. */
  recorded: (path: string) => Added | undefined;
  forget: (path: string) => void;
  /** The scheduler has loaded what was written. Until then a file counts as not written. */
  settle: () => void;
}

export const ENTRY_PREFIX = 'schedule:';
/** Others may read what a scheduler reads; only its owner writes it. */
const MODE = 0o644;
const MAX_BYTES = 1024 * 1024;

export function keeperOf(
  deps: { clock: Clock; machineId: string; manifest: InstallManifest },
  about: { job: JobId; scheduler: SchedulerKind; everySec: number | null },
): Keeper {
  const { clock, machineId, manifest } = deps;
  const id = ENTRY_PREFIX + about.job;
  const record = (kind: string, path: string, more: Added, after: string | null): void => {
    const [at, added] = [toIso(clock.now()), { ...about, ...more }];
    manifest.record({ id, kind, path, added, before: null, after, backups: [], at, machine: machineId });
  };
  return {
    write(path, text, { data = Buffer.from(text), beside = [] } = {}) {
      const isSame =
        exists(path) && readText(path, { maxBytes: MAX_BYTES }) === Buffer.from(data).toString('utf8');
      const known = manifest.find(id, path);
      if (isSame && known !== undefined && known.added['pending'] !== true) return false;
      const folders = [path, ...beside].flatMap((file) => [
        ...missingAbove(file),
        ...madeBefore(manifest, file),
      ]);
      record('file', path, { folders: [...new Set(folders)], pending: true }, sha256(data));
      if (isSame) return known !== undefined;
      ensureFolder(dirname(path), { allowLink: true });
      replaceFile(path, data, { mode: MODE });
      return true;
    },
    remove(path) {
      const wasThere = exists(path);
      const made = foldersOf(manifest.find(id, path));
      removeFile(path);
      if (exists(dirname(path))) sweepTemps(dirname(path), -1, clock.now(), basename(path));
      for (const folder of made.sort((a, b) => b.length - a.length)) removeEmptyFolder(folder);
      manifest.forget(id, path);
      return wasThere;
    },
    record: (path, added) => record('entry', path, added, null),
    recorded: (path) =>
      (manifest.find(id, path) ?? ours(manifest).find((entry) => entry.path === path))?.added,
    forget: (path) => manifest.forget(id, path),
    settle() {
      for (const entry of manifest.entries().filter((one) => one.id === id)) {
        const { pending, ...added } = entry.added;
        if (added['scheduler'] === about.scheduler && pending === true) manifest.record({ ...entry, added });
      }
    },
  };
}

/** The folders above a path that do not exist yet. */
function missingAbove(path: string): string[] {
  const folder = dirname(path);
  return exists(folder) || folder === path ? [] : [folder, ...missingAbove(folder)];
}

/** The folders above a path that were made for another job: the last uninstall removes them. */
function madeBefore(manifest: InstallManifest, path: string): string[] {
  return ours(manifest)
    .flatMap(foldersOf)
    .filter((folder) => path.startsWith(`${folder}/`) || path.startsWith(`${folder}\\`));
}

function foldersOf(entry: InstallEntry | undefined): string[] {
  const folders = entry?.added['folders'];
  return Array.isArray(folders) ? folders.map(String) : [];
}

function ours(manifest: InstallManifest): InstallEntry[] {
  return manifest.entries().filter(({ id }) => id.startsWith(ENTRY_PREFIX));
}
