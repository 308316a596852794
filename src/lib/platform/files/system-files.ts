import {
  closeSync,
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
import { basename, join } from 'node:path';

import { StewardError, unless } from '../../errors';
import { clean } from '../terminal/terminal';
import { readText } from './atomic-file';

/** Files of /proc say that they are empty. */
const PROC_BYTES = 4096;

/** What means "nothing to read here" in a folder that belongs to the system, not to steward. */
const ABSENT = ['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP', 'ENXIO', 'ENAMETOOLONG'];

/**
 * The first `maxBytes` of a text file of the system (links followed), or undefined when there is none that
 * this user may read. For steward's own files use `readText`, which refuses links.
 */
export function readSystemText(path: string, maxBytes: number): string | undefined {
  return readSystemBytes(path, maxBytes)?.toString('utf8');
}

/** The same, as bytes. */
export function readSystemBytes(path: string, maxBytes: number): Buffer | undefined {
  // Without waiting: a pipe that nobody writes to would hold the open for ever.
  const fd = unless(ABSENT, () => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
  if (fd === undefined) return undefined;
  try {
    const facts = fstatSync(fd);
    if (!facts.isFile()) return undefined;
    const size = facts.size === 0 ? PROC_BYTES : facts.size;
    const bytes = Buffer.allocUnsafe(Math.min(size, maxBytes));
    return bytes.subarray(0, readSync(fd, bytes));
  } finally {
    closeSync(fd);
  }
}

/** The names in a folder of the system; none when there is no folder that this user may read. */
export function listSystemFolder(path: string): string[] {
  return unless(ABSENT, () => readdirSync(path)) ?? [];
}

/** Gives `use` the path of a file with that content, in a private folder that is removed afterwards. */
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
/** Longer than any use takes. */
const TEMP_STALE_MS = 10 * 60_000;

/** Gives `use` the path of an empty private folder that is removed afterwards, whatever is in it then. */
export async function withTempFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), TEMP_PREFIX));
  removeStaleTemps(folder);
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  // Ctrl-C leaves without unwinding.
  process.once('exit', remove);
  try {
    return await use(folder);
  } finally {
    process.off('exit', remove);
    remove();
  }
}

/** Removes the folders of processes that were killed: this user's, and well older than the new one. */
function removeStaleTemps(newest: string): void {
  const { mtimeMs: nowMs, uid } = lstatSync(newest);
  for (const name of listSystemFolder(tmpdir())) {
    if (!name.startsWith(TEMP_PREFIX) || name.length !== basename(newest).length) continue;
    const path = join(tmpdir(), name);
    const facts = lstatSync(path, { throwIfNoEntry: false });
    if (facts?.isDirectory() === true && facts.uid === uid && nowMs - facts.mtimeMs > TEMP_STALE_MS) {
      rmSync(path, { recursive: true, force: true });
    }
  }
}

/** The numeric id of this user; -1 on Windows, which has none. */
export function userId(): number {
  return process.getuid?.() ?? -1;
}

/**
 * The text of a file that a person named on the command line: none is `not_found`; a folder, a pipe, or one of more
 * than `maxBytes` is `usage`. `instead` says what else may be given.
 */
export function namedFile(
  path: string,
  { maxBytes, instead }: { maxBytes: number; instead: string },
): string {
  let text: string | undefined;
  try {
    text = readText(path, { followLink: true, maxBytes });
  } catch (error) {
    // Said of the state's own files, this is a mistake in them; here it is one of what was typed.
    if (!(error instanceof StewardError) || error.kind !== 'config') throw error;
    throw new StewardError('usage', clean(error.message), {
      hint: `Use a text file of up to ${sizeOf(maxBytes)}; ${instead}.`,
      cause: error,
    });
  }
  if (text !== undefined) return text;
  throw new StewardError('not_found', `There is no file ${clean(path)}.`, {
    hint: `Check the path; ${instead}.`,
  });
}

function sizeOf(bytes: number): string {
  return bytes < 2 ** 20 ? `${Math.floor(bytes / 2 ** 10)} KiB` : `${Math.floor(bytes / 2 ** 20)} MiB`;
}
