// The only file that starts processes. A name is looked up by the absolute entries of PATH alone, and the child gets
// a PATH of these entries, so that no program of the current folder is run: not by us and not by what we start.
import type * as system from 'node:child_process';
import { devNull } from 'node:os';
import { basename, delimiter, isAbsolute } from 'node:path';

import { absoluteFolders, findProgram } from './program';

/** Never exists by convention: what is not installed fails to start as it would by Node's own look-up. */
const MISSING = '/nonexistent/';

/** Loaded with the first program: most hooks start none. */
const childProcess = (): typeof system => process.getBuiltinModule('node:child_process');

/** Node's `spawn` of a program by its name on the PATH or its absolute path; a relative path is not found. */
export function spawn(
  file: string,
  args: readonly string[],
  options: system.SpawnOptions,
): system.ChildProcess {
  const env = environmentOf(options.env ?? process.env);
  return childProcess().spawn(pathOf(file, env), args, { ...options, env });
}

/** The same for `spawnSync`. */
export function spawnSync(
  file: string,
  args: readonly string[],
  options: system.SpawnSyncOptionsWithStringEncoding,
): system.SpawnSyncReturns<string> {
  const env = environmentOf(options.env ?? process.env);
  return childProcess().spawnSync(pathOf(file, env), args, { ...options, env });
}

function pathOf(file: string, env: NodeJS.ProcessEnv): string {
  return isAbsolute(file) ? file : (findProgram(file, env) ?? MISSING + basename(file));
}

/** Without any absolute entry PATH becomes a place without programs: an empty one means the current folder. */
function environmentOf(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const changed = { ...env };
  for (const name of Object.keys(env).filter(isPath)) {
    changed[name] = absoluteFolders(env[name] ?? '').join(delimiter) || devNull;
  }
  return changed;
}

function isPath(name: string): boolean {
  return name === 'PATH' || (process.platform === 'win32' && name.toUpperCase() === 'PATH');
}
