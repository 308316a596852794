import { basename, dirname } from 'node:path';

import { readText, replaceFile, sweepTemps } from '../platform/files/atomic-file';
import { ensureFolder, exists, removeEmptyFolder, removeFile } from '../platform/files/folder';
import {
  sha256,
  type InstallEntry,
  type InstallManifest,
  madeFolders,
  missingAbove,
} from '../platform/files/install-manifest';
import { toIso, type Clock } from '../platform/time/clock';
import type { SchedulerKind } from './job';

export interface EntryFile {
  path: string;
  /** The bytes to write; text is written as UTF-8. */
  data: string | Uint8Array;
}

type Added = Readonly<Record<string, unknown>>;

const ENTRY_PREFIX = 'schedule:';
const MODE = 0o644;
const MAX_BYTES = 1024 * 1024;

/** Returns the id of a job's entries in the install manifest. */
export function entryId(job: string): string {
  return ENTRY_PREFIX + job;
}

/** Writes a scheduler's files. Records each file in the install manifest before writing it. */
export function recorderOf(
  { clock, machineId, manifest }: { clock: Clock; machineId: string; manifest: InstallManifest },
  about: { job: string; scheduler: SchedulerKind; everySec: number | null },
) {
  const id = entryId(about.job);
  const jobEntries = (): InstallEntry[] =>
    manifest.entries().filter((entry) => entry.id.startsWith(ENTRY_PREFIX));
  const record = (kind: string, path: string, more: Added, after: string | null): void => {
    const [at, added] = [toIso(clock.now()), { ...about, ...more }];
    manifest.record({ id, kind, path, added, before: null, after, backups: [], at, machine: machineId });
  };
  /** Returns whether the file is missing or has other content. */
  const differs = ({ path, data }: EntryFile): boolean =>
    !exists(path) || readText(path, { maxBytes: MAX_BYTES }) !== Buffer.from(data).toString('utf8');
  return {
    differs,
    write(file: EntryFile) {
      const { path, data } = file;
      const isChanged = differs(file);
      if (!isChanged && manifest.find(id, path) !== undefined) return;
      // Also record the folders created for other jobs, because the last uninstall removes them all.
      const shared = jobEntries()
        .flatMap(madeFolders)
        .filter((folder) => path.startsWith(`${folder}/`) || path.startsWith(`${folder}\\`));
      record('file', path, { folders: [...new Set([...missingAbove(path), ...shared])] }, sha256(data));
      if (!isChanged) return;
      ensureFolder(dirname(path), { allowLink: true });
      replaceFile(path, data, { mode: MODE });
    },
    /** Removes a file and the empty folders created for it. Returns whether the file existed. */
    remove(path: string) {
      const wasThere = exists(path);
      const folders = madeFolders(manifest.find(id, path));
      removeFile(path);
      if (exists(dirname(path))) sweepTemps(dirname(path), -1, clock.now(), basename(path));
      for (const folder of folders.sort((a, b) => b.length - a.length)) removeEmptyFolder(folder);
      manifest.forget(id, path);
      return wasThere;
    },
    /** Records a change to a file that isn't steward's, such as the crontab. */
    record: (path: string, added: Added) => record('entry', path, added, null),
    /** Returns the details that the manifest records for a path, preferring those of this job. */
    recorded: (path: string) =>
      (manifest.find(id, path) ?? jobEntries().find((entry) => entry.path === path))?.added,
    forget: (path: string) => manifest.forget(id, path),
  };
}

export type Recorder = ReturnType<typeof recorderOf>;
