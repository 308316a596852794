import {
  closeSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Script } from 'node:vm';

import {
  checksum,
  CHECKSUM_BYTES,
  isPrivateFolder,
  KIND_LENGTH,
  stem,
  type Bundles,
  type Keep,
} from './code-cache';
import { makeFolders } from '../files/make-folders';

/** Most files that the cache holds; NODE_OPTIONS, Node versions and the kinds of hot runs each have their own. */
const MAX_FILES = 64;

export const keepCode: Keep = (script, kinds, file, bundles) => {
  const folder = dirname(file);
  try {
    makeFolders(folder);
    if (!isPrivateFolder(folder)) return;
    const temp = `${file}.${process.pid}.tmp`;
    try {
      writeSynced(temp, pack(script, kinds));
      renameSync(temp, file);
    } finally {
      rmSync(temp, { force: true });
    }
    prune(folder, bundles);
  } catch {
    // A read-only or full home folder; the next run tries again, and nobody is to be told.
  }
};

function writeSynced(path: string, bytes: Buffer): void {
  const fd = openSync(path, 'wx', 0o600);
  try {
    writeFileSync(fd, bytes);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** As `unpack` of code-cache.ts reads it. */
function pack(script: Script, kinds: string): Buffer {
  const count = Buffer.from([kinds.length / KIND_LENGTH]);
  const content = Buffer.concat([script.createCachedData(), Buffer.from(kinds, 'latin1'), count]);
  const sum = Buffer.alloc(CHECKSUM_BYTES);
  sum.writeInt32LE(checksum(content));
  return Buffer.concat([content, sum]);
}

/** Removes what other builds left, and the oldest beyond the bound. */
function prune(folder: string, bundles: Bundles): void {
  const current = Object.entries(bundles).map(([id, hash]) => `${stem(id)}-${hash}-`);
  const kept: { path: string; mtimeMs: number }[] = [];
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (!name.endsWith('.bin') || !current.some((start) => name.startsWith(start)))
      rmSync(path, { force: true });
    else kept.push({ path, mtimeMs: lstatSync(path).mtimeMs });
  }
  kept.sort((a, b) => b.mtimeMs - a.mtimeMs);
  for (const { path } of kept.slice(MAX_FILES)) rmSync(path, { force: true });
}
