import { chmodSync, existsSync, mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, join } from 'node:path';

import { removeFolder } from './scratch';

let folder = '';

/**
 * Once before all tests: they get a home and a temporary folder that are removed at the end, so that nothing of theirs
 * stays in those of the person who runs them.
 */
export function mochaGlobalSetup(): void {
  const { env } = process;
  const compiled = join(tmpdir(), `tsx-${process.getuid?.() ?? ''}`);
  folder = mkdtempSync(join(tmpdir(), 'st-'));
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
}

export function mochaGlobalTeardown(): void {
  removeFolder(folder);
}
