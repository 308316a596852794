import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** Finds a program by its name, or undefined where it is not installed. */
export type FindProgram = (name: string) => string | undefined;

/**
 * The absolute path of a program on the PATH. Entries that are not absolute are left out, since they lead into
 * the current folder, which is not trusted (decisions.md 9). Starts nothing.
 */
export function findProgram(name: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
  const endings = process.platform === 'win32' && !/\.\w+$/.test(name) ? ['.exe', '.cmd', '.bat'] : [''];
  for (const folder of (env['PATH'] ?? env['Path'] ?? '').split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const found = endings.map((ending) => join(folder, name + ending)).find(isProgram);
    if (found !== undefined) return found;
  }
  return undefined;
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
