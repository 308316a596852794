import { realpathSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { posix, win32 } from 'node:path';

import { StewardError, unless } from '../../errors';
import { folderHash } from './short-hash';
import { clean } from '../terminal/terminal';

/** What the folders depend on; the process's own by default, so that tests can ask for any system. */
export interface PathHost {
  platform: NodeJS.Platform;
  env: NodeJS.ProcessEnv;
  home: string;
}

export function processHost(): PathHost {
  return {
    platform: process.platform,
    env: process.env,
    // Asked for only where it is needed: a service account with STEWARD_HOME set may have none.
    get home() {
      return homeFolder();
    },
  };
}

/**
 * The user area: `$STEWARD_HOME` (a leading `~` is the home folder), default `~/.steward`.
 * Always absolute: one that would be another folder in each folder that one stands in is `config`, and so is no home
 * folder to be found.
 */
export function userAreaPath(host: PathHost = processHost()): string {
  const { resolve, join, isAbsolute } = pathOf(host);
  const set = nonEmpty(host.env['STEWARD_HOME']);
  if (set === undefined) return resolve(join(host.home, '.steward'));
  // Written in a service file or in JSON, where no shell expands it.
  if (/^~(?:$|[/\\])/.test(set)) return resolve(join(host.home, set.slice(1)));
  if (isAbsolute(set)) return resolve(set);
  throw new StewardError('config', `STEWARD_HOME is not an absolute path: ${clean(set)}.`, {
    hint: 'Use an absolute path or one that begins with ~/, or unset it.',
  });
}

/** A path that may begin with `~/`, the home folder. */
export function expandHome(path: string, home: string): string {
  return /^~[/\\]/.test(path) ? pathOf(process).join(home, path.slice(2)) : path;
}

/** Machine-local state (locks, socket, token): never inside a user area that a person may sync. */
export function machineStatePath(host: PathHost = processHost()): string {
  const { join } = pathOf(host);
  if (host.platform === 'win32') return join(localAppData(host), 'steward', 'state');
  if (host.platform === 'darwin') {
    return join(host.home, 'Library', 'Application Support', 'steward', 'state');
  }
  return join(absolute(host, 'XDG_STATE_HOME') ?? join(host.home, '.local', 'state'), 'steward');
}

/** What can be made again at any time, such as the code cache. */
export function cachePath(host: PathHost = processHost()): string {
  const { join } = pathOf(host);
  if (host.platform === 'win32') return join(localAppData(host), 'steward', 'cache');
  if (host.platform === 'darwin') return join(host.home, 'Library', 'Caches', 'steward');
  return join(absolute(host, 'XDG_CACHE_HOME') ?? join(host.home, '.cache'), 'steward');
}

/**
 * The machine-local folder of one user area: two areas on a machine never share a lock or a socket, and one
 * area has one however its path is spelled (through links, in other case where the disk does not tell).
 */
export function machineStateOf(userArea: string, host: PathHost = processHost()): string {
  const key = folderHash(canonical(userArea, host));
  return pathOf(host).join(machineStatePath(host), key);
}

/** The path without links, as far as it exists: the same before its last folders are made and after. */
function canonical(path: string, host: PathHost): string {
  const { dirname, basename, join } = pathOf(host);
  const real = unless(['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP'], () => realpathSync.native(path));
  const parent = dirname(path);
  return real ?? (parent === path ? path : join(canonical(parent, host), basename(path)));
}

function homeFolder(): string {
  // What `homedir` asks first; every run waits for this, and half a millisecond for the module.
  const set = process.env[process.platform === 'win32' ? 'USERPROFILE' : 'HOME'];
  if (set !== undefined && pathOf(process).isAbsolute(set)) return set;
  // An empty or relative $HOME would make the current folder, which is not trusted, the user's home.
  for (const find of [() => homedir(), () => userInfo().homedir]) {
    const home = answer(find);
    if (home !== undefined && pathOf(process).isAbsolute(home)) return home;
  }
  throw new StewardError('config', 'Your user has no home folder.', {
    hint: 'Set HOME, or STEWARD_HOME, to the absolute path of a folder that you own.',
  });
}

/** A user that the system does not list (a container's --user) has no answer. */
function answer(find: () => string): string | undefined {
  return unless(['ERR_SYSTEM_ERROR'], find);
}

function localAppData(host: PathHost): string {
  return absolute(host, 'LOCALAPPDATA') ?? pathOf(host).join(host.home, 'AppData', 'Local');
}

/** XDG variables that are relative are to be ignored (the XDG base directory specification). */
function absolute(host: PathHost, name: string): string | undefined {
  const text = nonEmpty(host.env[name]);
  return text !== undefined && pathOf(host).isAbsolute(text) ? text : undefined;
}

/** A variable that is set to nothing is not set. */
export function nonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? undefined : text;
}

function pathOf(host: Pick<PathHost, 'platform'>): typeof posix {
  return host.platform === 'win32' ? win32 : posix;
}
