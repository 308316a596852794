import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

import { unless } from '../../errors';

/**
 * Makes a folder and those above it that are missing, each for its user alone (0700). Not by Node's `recursive`:
 * that never returns where the system says of a folder in one that is there that there is no such folder, as /proc
 * does. What stands there already is no error, whatever it is: the caller looks. Throws what the system says.
 *
 * @returns those that it has made, the outermost first
 */
export function makeFolders(path: string): string[] {
  const missing: string[] = [];
  for (let at = resolve(path); !isThere(at) && dirname(at) !== at; at = dirname(at)) missing.push(at);
  return missing.reverse().filter(make);
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function make(folder: string): boolean {
  // Another process was first; or a link that leads nowhere.
  const made = unless(['EEXIST'], () => {
    mkdirSync(folder, { mode: 0o700 });
    return true;
  });
  return made === true;
}
