import { closeSync, fsyncSync, openSync } from 'node:fs';

import { unless } from '../../errors';

/** Environment variable that marks a process of the demo. Its value is the demo's folder. */
export const DEMO_VARIABLE = 'STEWARD_DEMO';

/** Syncs a file. A demo's files are not synced: a slow disk would delay its start by seconds. */
export function syncFile(fd: number): void {
  if (process.env[DEMO_VARIABLE] === undefined) fsyncSync(fd);
}

/** Syncs a folder, so that recent renames and new files in the folder are durable. */
export function syncFolder(path: string): void {
  if (process.platform === 'win32') return;
  // Some network and FUSE file systems can't sync folders.
  closing(openSync(path, 'r'), (fd) => unless(['EINVAL', 'ENOTSUP'], () => syncFile(fd)));
}

/** Calls `work` with an open file, then closes it. */
export function closing<T>(fd: number, work: (fd: number) => T): T {
  try {
    return work(fd);
  } finally {
    closeSync(fd);
  }
}
