import { dirname } from 'node:path';

import { crypto } from '../crypto';
import { StewardError } from '../../errors';
import { readText, replaceFile } from './atomic-file';
import { toIso, type Clock } from '../time/clock';
import { ensureFolder, exists, removeEmptyFolder, removeFile } from './folder';
import { isObject } from './json-object';
import { isText, listOf, nullable, shape, type ShapeOf } from './shape';
import { withMachineLock } from './lock';
import { refuseNewer } from './object-file';

const BACKUP = { path: isText, sha256: isText };
const ENTRY = {
  /** Id of the change, such as `hooks:claude-code`. The id, path and machine together identify an entry. */
  id: isText,
  /** Determines how the change is undone, such as `settings-entries` or `file`. */
  kind: isText,
  /** Absolute path of the changed file. */
  path: isText,
  /** What the change added. The format depends on `kind`. */
  added: isObject,
  /** SHA-256 (hex) of the file before the change, or null if the file was missing or its hash is unknown. */
  before: nullable(isText),
  /** SHA-256 (hex) of the file after the change. */
  after: nullable(isText),
  backups: listOf(shape(BACKUP)),
  /** Time of the change (ISO 8601, UTC). */
  at: isText,
  /** Id of the machine that was changed. Needed because machines may share a synced user area. */
  machine: isText,
};

/** A change outside the user area, with the data needed to undo it. */
export type InstallEntry = ShapeOf<typeof ENTRY>;
export type Backup = ShapeOf<typeof BACKUP>;

const isList = listOf(shape(ENTRY));

interface Installer {
  area: { installManifest: string; machine: string };
  clock: Clock;
  machineId: string;
}

const VERSION = 1;
const MAX_BYTES = 4 * 1024 * 1024;
/** How long to wait for another installer, which may run system programs while it holds the lock, in ms. */
const LOCK_WAIT_MS = 30_000;

/**
 * Runs an installer or uninstaller while holding the machine's lock. In a dry run, the manifest stays as it is,
 * and `isDry` says to change nothing else. Throws `config` if the manifest is damaged or from a newer version.
 */
export async function withInstallManifest<T>(
  deps: Installer,
  work: (manifest: InstallManifest) => T | Promise<T>,
  { dryRun = false } = {},
): Promise<T> {
  if (!dryRun) return withMachineLock(deps, 'install', LOCK_WAIT_MS, () => work(open(deps)));
  return work({ ...open(deps), isDry: true, record: () => undefined, forget: () => undefined });
}

/** Returns the entries of this machine, or of all machines, without taking the lock. */
export function readInstallManifest(path: string, machineId?: string): InstallEntry[] {
  return read(path).filter(({ machine }) => machineId === undefined || machine === machineId);
}

/** Returns whether any machine has an entry with this id. Doesn't create a machine id. */
export function isInstalledAnywhere(path: string, id: string): boolean {
  return read(path).some((entry) => entry.id === id);
}

export function sha256(data: string | Uint8Array): string {
  return crypto().createHash('sha256').update(data).digest('hex');
}

function open(deps: Installer) {
  const path = deps.area.installManifest;
  let all = read(path);
  // The id is read only if there are entries, so that a dry run creates none.
  const isOwn = ({ machine }: InstallEntry): boolean => machine === deps.machineId;
  const isIt = (entry: InstallEntry, id: string, at: string): boolean =>
    entry.id === id && entry.path === at && isOwn(entry);
  const store = (entries: InstallEntry[]): void => {
    all = entries;
    if (all.length === 0) removeFile(path);
    else {
      ensureFolder(dirname(path));
      replaceFile(path, `${JSON.stringify({ version: VERSION, entries: all }, null, 2)}\n`);
    }
  };
  return {
    isDry: false,
    /** Returns this machine's entries, oldest first. */
    entries: () => all.filter(isOwn),
    find: (id: string, at: string) => all.find((entry) => isIt(entry, id, at)),
    /**
     * Stores an entry durably. Call this before making the change, so that every change is recorded even after
     * a crash.
     */
    record: (entry: InstallEntry) =>
      store([...all.filter((other) => !isIt(other, entry.id, entry.path)), entry]),
    forget(id: string, at: string) {
      const remaining = all.filter((entry) => !isIt(entry, id, at));
      if (remaining.length < all.length) store(remaining);
    },
  };
}

export type InstallManifest = ReturnType<typeof open>;

function read(path: string): InstallEntry[] {
  const text = readText(path, { maxBytes: MAX_BYTES });
  if (text === undefined) return [];
  const content = parse(text, path);
  if (!isObject(content) || typeof content['version'] !== 'number') throw broken(path);
  refuseNewer(path, content['version'], VERSION);
  if (!isList(content['entries'])) throw broken(path);
  return content['entries'];
}

function parse(text: string, path: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw broken(path, error);
  }
}

function broken(path: string, cause?: unknown): StewardError {
  return new StewardError('config', `${path}, the install manifest, is damaged.`, {
    hint: 'Move or rename the file. Without it, "steward uninstall" removes only what it can find.',
    cause,
  });
}

interface RecordedFile {
  id: string;
  path: string;
  text: string;
  was?: string | undefined;
  mode?: number;
}

/**
 * Records a file in the manifest, then creates missing folders and writes the file. Follows links in the
 * path.
 */
export function writeRecorded(
  manifest: InstallManifest,
  { id, path, text, was, mode }: RecordedFile,
  deps: Pick<Installer, 'clock' | 'machineId'>,
): void {
  if (manifest.isDry) return;
  const made = [...madeFolders(manifest.find(id, path)), ...missingAbove(path)];
  manifest.record({
    id,
    kind: 'file',
    path,
    added: { folders: [...new Set(made)] },
    before: was === undefined ? null : sha256(was),
    after: sha256(text),
    backups: [],
    at: toIso(deps.clock.now()),
    machine: deps.machineId,
  });
  ensureFolder(dirname(path), { allowLink: true });
  replaceFile(path, text, mode === undefined ? {} : { mode });
}

/** Returns the folders above a path that do not exist, deepest first. */
export function missingAbove(path: string): string[] {
  const folder = dirname(path);
  return exists(folder) || folder === path ? [] : [folder, ...missingAbove(folder)];
}

/** Removes the empty folders that were created for the entries, deepest first. */
export function removeMadeFolders(entries: readonly InstallEntry[]): void {
  const folders = [...new Set(entries.flatMap(madeFolders))].sort((a, b) => b.length - a.length);
  for (const folder of folders) removeEmptyFolder(folder);
}

/** Returns the folders that were created for an entry. */
export function madeFolders(entry: InstallEntry | undefined): string[] {
  const folders = entry?.added['folders'];
  return Array.isArray(folders) ? folders.map(String) : [];
}
