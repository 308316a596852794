import { realpathSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { posix, win32 } from 'node:path';

import { StewardError, unless } from '../../errors';
import { folderHash } from './short-hash';
import { clean } from '../terminal/terminal';

/** The parts of the environment that determine steward's folders. */
export interface PathHost {
  platform: NodeJS.Platform;
  env: NodeJS.ProcessEnv;
  home: string;
}

export function processHost(): PathHost {
  return {
    platform: process.platform,
    env: process.env,
    // Look up the home folder only if needed, because a service account that sets STEWARD_HOME may not have
    // one.
    get home() {
      return homeFolder();
    },
  };
}

/**
 * Returns the absolute path of the user area: `$STEWARD_HOME` or `~/.steward`. Throws `config` if
 * STEWARD_HOME is relative.
 */
export function userAreaPath(host: PathHost = processHost()): string {
  const { resolve, join, isAbsolute } = pathOf(host);
  const set = nonEmpty(host.env['STEWARD_HOME']);
  if (set === undefined) return resolve(join(host.home, '.steward'));
  // Expands `~`, because paths in service files and JSON don't go through a shell.
  if (/^~(?:$|[/\\])/.test(set)) return resolve(join(host.home, set.slice(1)));
  if (isAbsolute(set)) return resolve(set);
  throw new StewardError('config', `STEWARD_HOME is not an absolute path: ${clean(set)}.`, {
    hint: 'Use an absolute path or one that begins with ~/, or unset the variable.',
  });
}

export function expandHome(path: string, home: string): string {
  return /^~[/\\]/.test(path) ? pathOf(process).join(home, path.slice(2)) : path;
}

/**
 * Returns the folder for machine-local state, such as locks, the socket and the token. Unlike the user area,
 * it must not be synced.
 */
export function machineStatePath(host: PathHost = processHost()): string {
  const { join } = pathOf(host);
  if (host.platform === 'win32') return join(localAppData(host), 'steward', 'state');
  if (host.platform === 'darwin') {
    return join(host.home, 'Library', 'Application Support', 'steward', 'state');
  }
  return join(absolute(host, 'XDG_STATE_HOME') ?? join(host.home, '.local', 'state'), 'steward');
}

/**
 * Sets HOME and SHELL if this user has no account, as in a container started with `--user`. Otherwise oclif
 * asks the system for both and fails.
 */
export function provideAccount(env: NodeJS.ProcessEnv = process.env): void {
  if (answer(() => userInfo().homedir) !== undefined) return;
  env['HOME'] ||= homeFolder();
  env['SHELL'] ||= '/bin/sh';
}

/** Returns the folder for data that can be recreated at any time, such as the code cache. */
export function cachePath(host: PathHost = processHost()): string {
  const { join } = pathOf(host);
  if (host.platform === 'win32') return join(localAppData(host), 'steward', 'cache');
  if (host.platform === 'darwin') return join(host.home, 'Library', 'Caches', 'steward');
  return join(absolute(host, 'XDG_CACHE_HOME') ?? join(host.home, '.cache'), 'steward');
}

/**
 * Returns the folder for machine-local state of a user area. Links and letter case in the area's path don't
 * affect the result.
 */
export function machineStateOf(userArea: string, host: PathHost = processHost()): string {
  const key = folderHash(canonical(userArea, host));
  return pathOf(host).join(machineStatePath(host), key);
}

/**
 * Resolves links in the part of a path that exists. The result stays the same when the rest is created later.
 */
function canonical(path: string, host: PathHost): string {
  const { dirname, basename, join } = pathOf(host);
  const real = unless(['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP'], () => realpathSync.native(path));
  const parent = dirname(path);
  return real ?? (parent === path ? path : join(canonical(parent, host), basename(path)));
}

function homeFolder(): string {
  // Avoids `homedir`, because loading `node:os` takes half a millisecond.
  const set = process.env[process.platform === 'win32' ? 'USERPROFILE' : 'HOME'];
  if (set !== undefined && pathOf(process).isAbsolute(set)) return set;
  // An empty or relative $HOME would make the untrusted current folder the home folder.
  for (const find of [() => homedir(), () => userInfo().homedir]) {
    const home = answer(find);
    if (home !== undefined && pathOf(process).isAbsolute(home)) return home;
  }
  throw new StewardError('config', 'Your user account has no home folder.', {
    hint: 'Set HOME to the absolute path of a folder that you own.',
  });
}

/**
 * Calls `find`; returns undefined if this user has no account, for example in a container started with
 * `--user`.
 */
function answer(find: () => string): string | undefined {
  return unless(['ERR_SYSTEM_ERROR'], find);
}

function localAppData(host: PathHost): string {
  return absolute(host, 'LOCALAPPDATA') ?? pathOf(host).join(host.home, 'AppData', 'Local');
}

/**
 * Returns the path in an environment variable. Ignores a relative path, as the XDG specification requires.
 */
function absolute(host: PathHost, name: string): string | undefined {
  const text = nonEmpty(host.env[name]);
  return text !== undefined && pathOf(host).isAbsolute(text) ? text : undefined;
}

export function nonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? undefined : text;
}

function pathOf(host: Pick<PathHost, 'platform'>): typeof posix {
  return host.platform === 'win32' ? win32 : posix;
}
