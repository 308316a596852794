import type * as system from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { devNull } from 'node:os';
import { basename, delimiter, isAbsolute, join } from 'node:path';

// The only file that starts processes. A name is looked up by the absolute entries of PATH alone, and the child gets
// a PATH of these entries, so that no program of the current folder is run: not by us and not by what we start.

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

/** Finds a program by its name, or undefined where it is not installed. */
export type FindProgram = (name: string) => string | undefined;

/** Where programs are looked up when the environment has no PATH at all. */
const SYSTEM_FOLDERS = process.platform === 'win32' ? '' : '/usr/bin:/bin';

/**
 * Returns the absolute path of a program: of a name by the absolute entries of PATH, of a path itself. Relative
 * paths and relative or empty entries lead into the current folder, which is not trusted. Starts nothing.
 */
export function findProgram(name: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
  if (isAbsolute(name)) return isProgram(name) ? name : undefined;
  if (/[\\/]/.test(name)) return undefined;
  const endings = process.platform === 'win32' && !/\.\w+$/.test(name) ? ['.exe', '.cmd', '.bat'] : [''];
  const folders = absoluteFolders(env['PATH'] ?? env['Path'] ?? SYSTEM_FOLDERS);
  // Ending by ending: Windows starts an .exe of a later folder, but no .cmd of an earlier one.
  return endings
    .flatMap((ending) => folders.map((folder) => join(folder, name + ending)))
    .find((path) => isProgram(path));
}

/** The entries of a PATH that do not depend on the current folder. */
export function absoluteFolders(path: string): string[] {
  return path.split(delimiter).filter((folder) => isAbsolute(folder));
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // Whatever keeps it from being looked at keeps it from being started.
    return false;
  }
}

/** A word of a POSIX shell that stands for exactly this text. */
export function forShell(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A word of fish that stands for exactly this text. */
export function forFish(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
