import { basename, dirname } from 'node:path';

import { readText, replaceFile, sweepTemps } from '../platform/files/atomic-file';
import { toIso, type Clock } from '../platform/time/clock';
import { ensureFolder, exists, removeEmptyFolder, removeFile } from '../platform/files/folder';
import { sha256, type InstallEntry, type InstallManifest } from '../platform/files/install-manifest';
import type { JobId, SchedulerKind } from './job';

/** Writes what a scheduler reads, known to the install manifest before it is there. */
export interface Keeper {
  /**
   * Writes a file where it is not there as it should be; true when it had to.
   *
   * @param more.data its bytes where they are not the text's UTF-8
   * @param more.beside files that the scheduler will write because of it: folders that are made for them go with it
   */
  write: (path: string, text: string, more?: { data?: Uint8Array; beside?: readonly string[] }) => boolean;
  /** Removes the file and the folders that were made for it, where nothing else is in them; true when it was there. */
  remove: (path: string) => boolean;
  /** Notes what is no file of steward's own, such as a crontab. */
  record: (path: string, added: Readonly<Record<string, unknown>>) => void;
  /** What was noted of it for this job, else for another one; undefined when nothing was. */
  recorded: (path: string) => Readonly<Record<string, unknown>> | undefined;
  forget: (path: string) => void;
  /** The scheduler has what was written. Until then a file counts as not written, since it may know an older one. */
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
  const record: (
    kind: string,
    path: string,
    added: Readonly<Record<string, unknown>>,
    after: string | null,
  ) => void = (kind, path, added, after) =>
    manifest.record({
      id,
      kind,
      path,
      added: { ...about, ...added },
      before: null,
      after,
      backups: [],
      at: toIso(clock.now()),
      machine: machineId,
    });
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
      const folders = manifest.find(id, path)?.added['folders'];
      removeFile(path);
      if (exists(dirname(path))) sweepTemps(dirname(path), -1, clock.now(), basename(path));
      const made = Array.isArray(folders) ? folders.map(String) : [];
      for (const folder of made.sort((a, b) => b.length - a.length)) removeEmptyFolder(folder);
      manifest.forget(id, path);
      return wasThere;
    },
    record: (path, added) => record('entry', path, added, null),
    recorded: (path) =>
      [manifest.find(id, path), ...ours(manifest).filter((entry) => entry.path === path)].find(
        (entry) => entry !== undefined,
      )?.added,
    forget: (path) => manifest.forget(id, path),
    settle() {
      for (const entry of manifest.entries()) {
        const { pending, ...added } = entry.added;
        if (entry.id === id && added['scheduler'] === about.scheduler && pending === true)
          manifest.record({ ...entry, added });
      }
    },
  };
}

/** The folders above a path that are not there yet. */
function missingAbove(path: string): string[] {
  const folder = dirname(path);
  return exists(folder) || folder === path ? [] : [folder, ...missingAbove(folder)];
}

/** The folders above a path that were made for another job: whichever is taken back last removes them. */
function madeBefore(manifest: InstallManifest, path: string): string[] {
  return ours(manifest)
    .flatMap(({ added }) => (Array.isArray(added['folders']) ? added['folders'].map(String) : []))
    .filter((folder) => path.startsWith(`${folder}/`) || path.startsWith(`${folder}\\`));
}

function ours(manifest: InstallManifest): InstallEntry[] {
  return manifest.entries().filter(({ id }) => id.startsWith(ENTRY_PREFIX));
}
