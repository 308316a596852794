import type * as system from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { devNull } from 'node:os';
import { basename, delimiter, isAbsolute, join } from 'node:path';

// Only this file starts processes. It removes relative entries from PATH, so that neither steward nor a child
// process runs a program in the current folder.

/** A path that never exists. Starting it fails with the same error as a missing program. */
const MISSING = '/nonexistent/';

/** Loaded on first use, because most hooks don't start a program. */
const childProcess = (): typeof system => process.getBuiltinModule('node:child_process');

/** Like Node's `spawn`. Accepts an absolute path, or the name of a program on the PATH. */
export function spawn(file: string, args: readonly string[], options: system.SpawnOptions) {
  const env = environmentOf(options.env ?? process.env);
  return childProcess().spawn(pathOf(file, env), args, { ...options, env });
}

/** Like Node's `spawnSync`, but finds programs in the same way as `spawn`. */
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

/**
 * Removes relative entries and those of projects from PATH. Replaces an empty PATH, because it would mean the
 * current folder.
 */
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

/** Returns a program's path, or undefined if the program isn't installed. */
export type FindProgram = (name: string) => string | undefined;

/** The search path if the environment has no PATH. */
const SYSTEM_FOLDERS = process.platform === 'win32' ? '' : '/usr/bin:/bin';

/** Returns the absolute path of a program, given its name or absolute path. Rejects relative paths. */
export function findProgram(name: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
  if (isAbsolute(name)) return isProgram(name) ? name : undefined;
  if (/[\\/]/.test(name)) return undefined;
  const endings = process.platform === 'win32' && !/\.\w+$/.test(name) ? ['.exe', '.cmd', '.bat'] : [''];
  const folders = absoluteFolders(env['PATH'] ?? env['Path'] ?? SYSTEM_FOLDERS);
  // An .exe in any folder takes precedence over a .cmd in an earlier folder.
  return endings
    .flatMap((ending) => folders.map((folder) => join(folder, name + ending)))
    .find((path) => isProgram(path));
}

/** A project's own programs, which npm puts first on the PATH of the commands that it starts. */
const PROJECT_FOLDER = /[\\/]node_modules[\\/]\.bin[\\/]?$/;

function absoluteFolders(path: string): string[] {
  return path.split(delimiter).filter((folder) => isAbsolute(folder) && !PROJECT_FOLDER.test(folder));
}

function isProgram(path: string): boolean {
  try {
    // Most folders don't have the program, and an exception takes longer than the search.
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Quotes text as one word for a POSIX shell. */
export function forShell(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Quotes text as one word for fish. */
export function forFish(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
