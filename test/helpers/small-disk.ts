import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { requirePart } from './real-part';

export interface SmallDisk {
  path: string;
  /** Mounts it anew with other options, such as `ro` or `size=64m`; what is on it stays. */
  remount: (options: string) => void;
  /** Takes all space but `leftBytes`, with a file `ballast`. */
  fill: (leftBytes: number) => void;
  remove: () => void;
}

/** A real file system of its own, of so many bytes (`1m`); skips the test where none can be mounted: without root, or off Linux. */
export function smallDisk(context: Mocha.Context, size: string): SmallDisk {
  const path = mkdtempSync(join(tmpdir(), 'steward-disk-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path], {
    encoding: 'utf8',
  });
  if (mounted.status !== 0) {
    rmdirSync(path);
    const why = mounted.error?.message ?? mounted.stderr.trim();
    requirePart(context, false, `no small file system could be mounted (run as root on Linux): ${why}`);
  }
  return {
    path,
    remount: (options) => {
      expect(spawnSync('mount', ['-o', `remount,${options}`, path]).status, options).to.equal(0);
    },
    fill: (leftBytes) => {
      const ballast = join(path, 'ballast');
      writeFileSync(ballast, '');
      try {
        for (;;) writeFileSync(ballast, Buffer.alloc(4096), { flag: 'a' });
      } catch (error) {
        expect(error).to.have.property('code', 'ENOSPC');
      }
      const taken = readFileSync(ballast).length;
      writeFileSync(ballast, Buffer.alloc(taken - leftBytes));
    },
    remove: () => {
      expect(spawnSync('umount', [path]).status).to.equal(0);
      rmdirSync(path);
    },
  };
}
