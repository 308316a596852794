import { randomBytes } from 'node:crypto';
import { join } from 'node:path';

import { readText, replaceFile } from './atomic-file';
import { ensureFolder } from './folder';
import { machineStatePath } from './paths';

/**
 * The id of this machine (decisions.md 9): random, made once, kept in machine-local state. It tells events
 * and locks of machines apart that share a synced user area, and says nothing else about the machine.
 */
export function machineId(statePath: string = machineStatePath()): string {
  const path = join(statePath, 'machine-id');
  const stored = readText(path, { maxBytes: 64 })?.trim();
  if (stored !== undefined && /^[0-9a-f]{12}$/.test(stored)) return stored;
  const made = randomBytes(6).toString('hex');
  ensureFolder(statePath);
  replaceFile(path, `${made}\n`);
  // Two first runs at once: both use what the file holds in the end.
  return readText(path, { maxBytes: 64 })?.trim() ?? made;
}
