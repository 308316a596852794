import { basename, dirname } from 'node:path';

import { readText, replaceFile, sweepTemps } from '../platform/files/atomic-file';
import { ensureFolder, exists, removeEmptyFolder, removeFile } from '../platform/files/folder';
import { sha256, type InstallEntry, type InstallManifest } from '../platform/files/install-manifest';
import { toIso, type Clock } from '../platform/time/clock';
import type { JobId, SchedulerKind } from './job';

export interface EntryFile {
  path: string;
  text: string;
  /** The bytes to write. Default: `text` as UTF-8. */
  data?: Uint8Array;
  /** Path of a file that the scheduler writes. An uninstall removes the folders created for the file. */
  beside?: string;
}

type Added = Readonly<Record<string, unknown>>;

/** Writes a scheduler's files. Records each file in the install manifest before writing it. */
export interface Recorder {
  /** Writes the file if its content changed. Returns whether the scheduler must load the file. */
  write: (file: EntryFile) => boolean;
  /** Removes a file and the empty folders created for it. Returns whether the file existed. */
  remove: (path: string) => boolean;
  /** Records a change to a file that isn't steward's, such as the crontab. */
  record: (path: string, added: Added) => void;
  /** Returns the details that the manifest records for a path, preferring those of this job. */
  recorded: (path: string) => Added | undefined;
  forget: (path: string) => void;
  /** Marks the written files as loaded. */
  settle: () => void;
}

export const ENTRY_PREFIX = 'schedule:';
const MODE = 0o644;
const MAX_BYTES = 1024 * 1024;

export function recorderOf(
  { clock, machineId, manifest }: { clock: Clock; machineId: string; manifest: InstallManifest },
  about: { job: JobId; scheduler: SchedulerKind; everySec: number | null },
): Recorder {
  const id = ENTRY_PREFIX + about.job;
  const jobEntries = (): InstallEntry[] =>
    manifest.entries().filter((entry) => entry.id.startsWith(ENTRY_PREFIX));
  const record = (kind: string, path: string, more: Added, after: string | null): void => {
    const [at, added] = [toIso(clock.now()), { ...about, ...more }];
    manifest.record({ id, kind, path, added, before: null, after, backups: [], at, machine: machineId });
  };
  return {
    write({ path, text, data = Buffer.from(text), beside }) {
      const isSame =
        exists(path) && readText(path, { maxBytes: MAX_BYTES }) === Buffer.from(data).toString('utf8');
      const known = manifest.find(id, path);
      if (isSame && known !== undefined && known.added['pending'] !== true) return false;
      const paths = [path, ...(beside === undefined ? [] : [beside])];
      // Also record the folders created for other jobs, because the last uninstall removes them all.
      const shared = jobEntries().flatMap(foldersOf);
      const folders = paths.flatMap((file) => [
        ...missingAbove(file),
        ...shared.filter((folder) => file.startsWith(`${folder}/`) || file.startsWith(`${folder}\\`)),
      ]);
      record('file', path, { folders: [...new Set(folders)], pending: true }, sha256(data));
      if (isSame) return known !== undefined;
      ensureFolder(dirname(path), { allowLink: true });
      replaceFile(path, data, { mode: MODE });
      return true;
    },
    remove(path) {
      const wasThere = exists(path);
      const folders = foldersOf(manifest.find(id, path));
      removeFile(path);
      if (exists(dirname(path))) sweepTemps(dirname(path), -1, clock.now(), basename(path));
      for (const folder of folders.sort((a, b) => b.length - a.length)) removeEmptyFolder(folder);
      manifest.forget(id, path);
      return wasThere;
    },
    record: (path, added) => record('entry', path, added, null),
    recorded: (path) => (manifest.find(id, path) ?? jobEntries().find((entry) => entry.path === path))?.added,
    forget: (path) => manifest.forget(id, path),
    settle() {
      for (const entry of manifest.entries().filter((other) => other.id === id)) {
        const { pending, ...added } = entry.added;
        if (added['scheduler'] === about.scheduler && pending === true) manifest.record({ ...entry, added });
      }
    },
  };
}

function missingAbove(path: string): string[] {
  const folder = dirname(path);
  return exists(folder) || folder === path ? [] : [folder, ...missingAbove(folder)];
}

function foldersOf(entry: InstallEntry | undefined): string[] {
  const folders = entry?.added['folders'];
  return Array.isArray(folders) ? folders.map(String) : [];
}
