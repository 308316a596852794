import { join } from 'node:path';

import { StewardError } from '../../errors';
import { createFile, readText, replaceFile } from './atomic-file';
import { ensureFolder } from './folder';
import { machineStatePath } from './paths';

/**
 * The id of this machine: random, made once, kept in machine-local state. It tells events
 * and locks of machines apart that share a synced user area, and says nothing else about the machine.
 * Of any number of first runs at once, all get the same one.
 */
export function machineId(statePath: string = machineStatePath()): string {
  const path = join(statePath, 'machine-id');
  const stored = readId(path);
  if (stored !== undefined) return stored;
  // Loaded once in the life of a machine: every hook would wait 2 ms for it.
  const { randomBytes } = process.getBuiltinModule('node:crypto');
  const made = `${randomBytes(6).toString('hex')}\n`;
  ensureFolder(statePath);
  if (!createFile(path, made) && readId(path) === undefined) replaceFile(path, made);
  const id = readId(path);
  if (id !== undefined) return id;
  throw new StewardError('unavailable', `${path} does not keep what is written to it.`, {
    hint: 'Check the disk, and that no other program writes to this file.',
  });
}

/** The same where it was made already: for what only reads. */
export function knownMachineId(statePath: string = machineStatePath()): string | undefined {
  return readId(join(statePath, 'machine-id'));
}

function readId(path: string): string | undefined {
  const text = readText(path, { maxBytes: 4096 })?.trim();
  return text !== undefined && /^[0-9a-f]{12}$/.test(text) ? text : undefined;
}
