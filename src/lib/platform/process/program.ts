import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

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
