import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { isAlive } from '../../src/lib/platform/files/lock';
import { requirePart, requirePrograms } from './real-part';

const LIBRARIES = ['x86_64-linux-gnu', 'aarch64-linux-gnu'].map(
  (name) => `/usr/lib/${name}/faketime/libfaketime.so.1`,
);
const SHARED_MEMORY = '/dev/shm';

/** Skips without the program and its library; in CI that fails. */
export function requireFaketime(context: Mocha.Context): void {
  requirePrograms(context, { faketime: 'faketime' });
  const isThere = LIBRARIES.some((path) => existsSync(path));
  requirePart(context, isThere, 'libfaketime not installed: apt-get install libfaketime');
}

/** Variables with which a process starts at a moment; `standing`: its clock stays there. */
export function fakeTime(ms: number, { standing = false } = {}): Record<string, string> {
  forgetKilledClocks();
  return {
    LD_PRELOAD: LIBRARIES.find((path) => existsSync(path)) ?? '',
    FAKETIME: `${standing ? '' : '@'}${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')}`,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    NO_FAKE_STAT: '1',
  };
}

/**
 * libfaketime names its shared memory after the pid and leaves it behind when the process is killed. It then ends
 * the next process with the same pid, so a long run would fail once pids repeat.
 */
function forgetKilledClocks(): void {
  for (const name of readdirSync(SHARED_MEMORY)) {
    const pid = /^(?:sem\.)?faketime_(?:shm|sem)_(\d+)$/.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(SHARED_MEMORY, name), { force: true });
  }
}
