import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, join } from 'node:path';

import { removeFolder } from './scratch';

/** A file system in memory: tests wait for the disk at every step, and what they write is gone at their end. */
const MEMORY = '/dev/shm';
const ENOUGH_BYTES = 4 * 2 ** 30;

/** Returns whether the tests can work in memory. In many containers it holds 64 MB, or may hold no programs. */
function worksInMemory(): boolean {
  if (process.env['TMPDIR'] || !existsSync(MEMORY)) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  if (bavail * bsize < ENOUGH_BYTES) return false;
  let probe = '';
  try {
    probe = mkdtempSync(join(MEMORY, 'st-'));
    writeFileSync(join(probe, 'program'), '#!/bin/sh\n', { mode: 0o755 });
    return spawnSync(join(probe, 'program')).status === 0;
  } catch {
    return false;
  } finally {
    if (probe) removeFolder(probe);
  }
}

/**
 * Gives all tests a home and a temporary folder that are removed at the end, so that nothing of theirs stays in those of
 * the person who runs them.
 */
function enterOwnHome(): void {
  const { env } = process;
  const compiled = join(tmpdir(), `tsx-${process.getuid?.() ?? ''}`);
  const folder = mkdtempSync(join(worksInMemory() ? MEMORY : tmpdir(), 'st-'));
  // Some tests run programs as another user.
  chmodSync(folder, 0o1777);
  // tsx keeps there what it has compiled: without it, each run would compile all anew.
  if (existsSync(compiled)) symlinkSync(compiled, join(folder, basename(compiled)));
  // npm is to find its settings and its cache.
  env['npm_config_userconfig'] ??= join(homedir(), '.npmrc');
  env['npm_config_cache'] ??= join(homedir(), '.npm');
  const home = join(folder, 'home');
  mkdirSync(home);
  for (const name of ['TMPDIR', 'TEMP', 'TMP']) env[name] = folder;
  for (const name of ['HOME', 'USERPROFILE']) env[name] = home;
  // Hints name a command as npm would start it, not as the tests were started.
  for (const name of ['npm_command', 'npm_lifecycle_event']) delete env[name];
  for (const name of Object.keys(env))
    if (/^(XDG_(CONFIG|CACHE|STATE|DATA)_HOME|LOCALAPPDATA)$/.test(name)) delete env[name];
  process.on('exit', () => removeFolder(folder));
}

// Before any test file is loaded, as some make a home then. What mocha starts for parallel files inherits it.
if (process.env['MOCHA_WORKER_ID'] === undefined) enterOwnHome();
