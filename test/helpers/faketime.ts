import { existsSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
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

/** A clock that a test moves, for all processes with its variables. It runs as fast as the real one. */
export interface MovableClock {
  env: Record<string, string>;
  /** Variables of a process whose timers follow the clock as well. */
  withTimers: Record<string, string>;
  now: () => number;
  set: (ms: number) => void;
}

/** @param file where the processes read how far the clock is from the real one */
export function movableClock(file: string, ms: number): MovableClock {
  forgetKilledClocks();
  let offsetSec = 0;
  const set = (atMs: number): void => {
    offsetSec = Math.ceil((atMs - Date.now()) / 1000);
    // Every process reads the file all the time, so it must never be empty.
    writeFileSync(`${file}.new`, `${offsetSec < 0 ? '' : '+'}${offsetSec}\n`);
    renameSync(`${file}.new`, file);
  };
  set(ms);
  return {
    env: {
      LD_PRELOAD: LIBRARIES.find((path) => existsSync(path)) ?? '',
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1',
    },
    withTimers: { FAKETIME_DONT_FAKE_MONOTONIC: '0' },
    now: () => Date.now() + offsetSec * 1000,
    set,
  };
}

/**
 * libfaketime names its shared memory after the pid and leaves it behind when the process is killed. It then ends
 * the next process with the same pid, so a long run would fail once pids repeat.
 */
function forgetKilledClocks(): void {
  for (const name of readdirSync(SHARED_MEMORY)) {
    const pid = /^(?:sem\.)?faketime_(?:shm|sem)_(\d+)$/.exec(name)?.[1];
    const path = join(SHARED_MEMORY, name);
    if (pid !== undefined && !isAlive(Number(pid)) && isOwn(path)) rmSync(path, { force: true });
  }
}

/** Only their own user may remove these files. */
function isOwn(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.uid === process.getuid?.();
}
