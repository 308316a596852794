import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

/** What the folders depend on; the process's own by default, so that tests can ask for any system. */
export interface PathHost {
  platform: NodeJS.Platform;
  env: NodeJS.ProcessEnv;
  home: string;
}

export function processHost(): PathHost {
  return { platform: process.platform, env: process.env, home: homedir() };
}

/** The user area: `$STEWARD_HOME`, default `~/.steward` (decisions.md 1). Always absolute. */
export function userAreaPath(host: PathHost = processHost()): string {
  return resolve(nonEmpty(host.env['STEWARD_HOME']) ?? join(host.home, '.steward'));
}

/** Machine-local state (locks, socket, token): never inside a user area that a person may sync. */
export function machineStatePath(host: PathHost = processHost()): string {
  if (host.platform === 'win32') {
    return join(
      nonEmpty(host.env['LOCALAPPDATA']) ?? join(host.home, 'AppData', 'Local'),
      'steward',
      'state',
    );
  }
  if (host.platform === 'darwin')
    return join(host.home, 'Library', 'Application Support', 'steward', 'state');
  return join(absolute(host.env['XDG_STATE_HOME']) ?? join(host.home, '.local', 'state'), 'steward');
}

/** What can be made again at any time, such as the code cache. */
export function cachePath(host: PathHost = processHost()): string {
  if (host.platform === 'win32') {
    return join(
      nonEmpty(host.env['LOCALAPPDATA']) ?? join(host.home, 'AppData', 'Local'),
      'steward',
      'cache',
    );
  }
  if (host.platform === 'darwin') return join(host.home, 'Library', 'Caches', 'steward');
  return join(absolute(host.env['XDG_CACHE_HOME']) ?? join(host.home, '.cache'), 'steward');
}

/** The machine-local folder of one user area: two areas on a machine never share a lock or a socket. */
export function machineStateOf(userArea: string, host: PathHost = processHost()): string {
  const key = createHash('sha256').update(userArea).digest('hex').slice(0, 12);
  return join(machineStatePath(host), key);
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? undefined : text;
}

/** XDG variables that are relative are to be ignored (the XDG base directory specification). */
function absolute(text: string | undefined): string | undefined {
  return text !== undefined && isAbsolute(text) ? text : undefined;
}
