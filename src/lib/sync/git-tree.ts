import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';

import { StewardError } from '../errors';
import { readBytes, replaceFile } from '../platform/files/atomic-file';
import { ensureFolder, removeFile } from '../platform/files/folder';
import { MAX_DAY_BYTES, type OnDamagedFile } from './exchange';
import { isPublishedName, PUBLISHED_FOLDERS, publishedFiles, PUBLISHED_HEADS } from './mirror';

/** Runs git with text on stdin, and returns stdout as bytes. Throws `unavailable` if git fails or prints too much. */
export type ReadGit = (args: readonly string[], input: string, maxBytes: number) => Promise<Buffer>;

interface TreeFile {
  name: string;
  id: string;
  bytes: number;
}

/** A published day takes some 50 KB, so this is enough for decades. */
const MAX_MACHINE_BYTES = 512 * 1024 * 1024;
const MAX_LIST_BYTES = 8 * 1024 * 1024;
const BATCH_BYTES = 16 * 1024 * 1024;
/** Longer than the line that git prints before each object. */
const HEADER_BYTES = 200;

/**
 * Makes the published files in `to` match a fetched branch. Reads only the names that steward publishes, as
 * stored bytes, so that no attribute, filter or link of the branch applies. Returns whether any file changed.
 */
export async function receiveTree(read: ReadGit, ref: string, to: string, onDamaged: OnDamagedFile) {
  const files = usableFiles(await listFiles(read, ref), to, onDamaged);
  const changed = files.filter((file) => !isStored(join(to, file.name), file));
  for (const batch of batchesOf(changed)) await receiveBatch(read, batch, to);
  const names = new Set(files.map(({ name }) => name));
  const gone = publishedFiles(to).filter((name) => !names.has(name));
  for (const name of gone) removeFile(join(to, name));
  return changed.length > 0 || gone.length > 0;
}

async function listFiles(read: ReadGit, ref: string): Promise<TreeFile[]> {
  const paths = [...PUBLISHED_HEADS, ...PUBLISHED_FOLDERS.map((folder) => `${folder}/`)];
  const list = await read(['ls-tree', '-z', '-l', ref, '--', ...paths], '', MAX_LIST_BYTES);
  return list
    .toString()
    .split('\0')
    .flatMap((line): TreeFile[] => {
      const [, id = '', size = '', name = ''] = /^100\d{3} blob ([0-9a-f]+) +(\d+)\t(.+)$/.exec(line) ?? [];
      return isPublishedName(name) ? [{ name, id, bytes: Number(size) }] : [];
    });
}

/** Returns the files within the size limits, the most recent days first. */
function usableFiles(all: readonly TreeFile[], to: string, onDamaged: OnDamagedFile): TreeFile[] {
  const dayOf = ({ name }: TreeFile): string => name.slice(name.indexOf('/') + 1);
  const isHead = ({ name }: TreeFile): boolean => PUBLISHED_HEADS.includes(name);
  const sorted = [...all].sort(
    (a, b) => Number(isHead(b)) - Number(isHead(a)) || (dayOf(a) < dayOf(b) ? 1 : -1),
  );
  let total = 0;
  return sorted.filter(({ name, bytes }) => {
    const isTooLarge = bytes > MAX_DAY_BYTES;
    if (!isTooLarge) total += bytes;
    if (!isTooLarge && total <= MAX_MACHINE_BYTES) return true;
    const reason = isTooLarge
      ? `larger than ${MAX_DAY_BYTES} bytes`
      : `this machine has published more than ${MAX_MACHINE_BYTES} bytes`;
    onDamaged(join(to, name), reason);
    return false;
  });
}

function isStored(path: string, { id, bytes }: TreeFile): boolean {
  const data = readBytes(path);
  if (data?.length !== bytes) return false;
  const header = `blob ${bytes}\0`;
  const algorithm = id.length === 64 ? 'sha256' : 'sha1';
  return createHash(algorithm).update(header).update(data).digest('hex') === id;
}

function batchesOf(files: readonly TreeFile[]): TreeFile[][] {
  const batches: TreeFile[][] = [];
  let left = 0;
  for (const file of files) {
    left -= file.bytes;
    if (left >= 0) batches.at(-1)?.push(file);
    else {
      batches.push([file]);
      left = BATCH_BYTES - file.bytes;
    }
  }
  return batches;
}

async function receiveBatch(read: ReadGit, files: readonly TreeFile[], to: string): Promise<void> {
  const ids = files.map(({ id }) => `${id}\n`).join('');
  const bytes = files.reduce((sum, file) => sum + file.bytes + HEADER_BYTES, 0);
  const output = await read(['cat-file', '--batch'], ids, bytes);
  let at = 0;
  for (const file of files) {
    const start = output.indexOf('\n', at) + 1;
    if (output.toString('latin1', at, start) !== `${file.id} blob ${file.bytes}\n`) throw incomplete();
    at = start + file.bytes + 1;
    const path = join(to, file.name);
    ensureFolder(dirname(path));
    replaceFile(path, output.subarray(start, start + file.bytes));
  }
}

function incomplete(): StewardError {
  return new StewardError('unavailable', 'Syncing through git failed: an object is missing.', {
    hint: 'Rerun the command.',
  });
}
