import {
  constants,
  fstatSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { StewardError, unless } from '../../errors';
import { clean } from '../terminal/terminal';
import { readText } from './atomic-file';
import { closing } from './durable';

/** Buffer size for files in /proc, which report size 0. */
const PROC_BYTES = 4096;

const ABSENT = ['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP', 'ENXIO', 'ENAMETOOLONG'];

/**
 * Returns the first `maxBytes` of a system file, following links, or undefined if it can't be read. For
 * steward's own files, use `readText`, which refuses links.
 */
export function readSystemText(path: string, maxBytes: number): string | undefined {
  return readSystemBytes(path, maxBytes)?.toString('utf8');
}

export function readSystemBytes(path: string, maxBytes: number): Buffer | undefined {
  // Without O_NONBLOCK, opening a pipe that has no writer would hang.
  const fd = unless(ABSENT, () => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
  if (fd === undefined) return undefined;
  return closing(fd, () => {
    const facts = fstatSync(fd);
    if (!facts.isFile()) return undefined;
    const size = facts.size === 0 ? PROC_BYTES : facts.size;
    const bytes = Buffer.allocUnsafe(Math.min(size, maxBytes));
    return bytes.subarray(0, readSync(fd, bytes));
  });
}

/** Returns the names in a system folder, or an empty list if it can't be read. */
export function listSystemFolder(path: string): string[] {
  return unless(ABSENT, () => readdirSync(path)) ?? [];
}

/** Writes a temp file in a private folder, calls `use` with its path, and removes the folder. */
export function withTempFile<T>(
  name: string,
  content: string | Uint8Array,
  use: (path: string) => Promise<T>,
): Promise<T> {
  return withTempFolder((folder) => {
    const path = join(folder, name);
    writeFileSync(path, content, { mode: 0o600, flag: 'wx' });
    return use(path);
  });
}

const TEMP_PREFIX = 'steward-tmp-';
/** The number of characters that `mkdtemp` appends. */
const RANDOM_CHARS = 6;
/** Age at which a temp folder counts as abandoned. */
const TEMP_STALE_MS = 10 * 60_000;

interface TempKind {
  prefix: string;
  /** Returns whether the process that made a folder is gone. */
  isStale: (path: string, ageMs: number) => boolean;
}

const TEMP: TempKind = { prefix: TEMP_PREFIX, isStale: (_path, ageMs) => ageMs > TEMP_STALE_MS };

/**
 * Creates a private temp folder, calls `use` with its path, and removes the folder. Also removes the folders
 * of the same kind that this user's killed processes left behind.
 */
export async function withTempFolder<T>(
  use: (folder: string) => Promise<T>,
  { prefix, isStale }: TempKind = TEMP,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  for (const { path, ageMs } of tempFolders(prefix))
    if (path !== folder && isStale(path, ageMs)) rmSync(path, { recursive: true, force: true });
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  // Removes the folder at exit too, because a `finally` block doesn't run on Ctrl-C.
  process.once('exit', remove);
  try {
    return await use(folder);
  } finally {
    process.off('exit', remove);
    remove();
  }
}

/** Returns this user's temp folders with a prefix, and the time since each was changed. */
export function tempFolders(prefix: string): { path: string; ageMs: number }[] {
  return listSystemFolder(tmpdir()).flatMap((name) => {
    if (!name.startsWith(prefix) || name.length !== prefix.length + RANDOM_CHARS) return [];
    const path = join(tmpdir(), name);
    const facts = lstatSync(path, { throwIfNoEntry: false });
    const isOwn = facts?.isDirectory() === true && facts.uid === (process.getuid?.() ?? facts.uid);
    return isOwn ? [{ path, ageMs: Date.now() - facts.mtimeMs }] : [];
  });
}

/** Returns the numeric id of this user, or -1 on Windows. */
export function userId(): number {
  return process.getuid?.() ?? -1;
}

/** Returns whether this user owns a file or device. */
export function isOwn(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.uid === userId();
}

/**
 * Returns the text of a file named on the command line. Throws `not_found` if the file is missing, and
 * `usage` if it is too large or not a regular file. `instead` suggests an alternative in the error's hint.
 */
export function namedFile(path: string, { maxBytes, instead }: { maxBytes: number; instead: string }) {
  let text: string | undefined;
  try {
    text = readText(path, { followLink: true, maxBytes });
  } catch (error) {
    if (!(error instanceof StewardError) || error.kind !== 'config') throw error;
    throw new StewardError('usage', clean(error.message), {
      hint: `Use a text file of up to ${sizeOf(maxBytes)}; ${instead}.`,
      cause: error,
    });
  }
  if (text !== undefined) return text;
  throw new StewardError('not_found', `File ${clean(path)} not found.`, {
    hint: `Check the path; ${instead}.`,
  });
}

function sizeOf(bytes: number): string {
  return bytes < 2 ** 20 ? `${Math.floor(bytes / 2 ** 10)} KiB` : `${Math.floor(bytes / 2 ** 20)} MiB`;
}
