import { join } from 'node:path';

import { StewardError } from '../../errors';
import { createFile, readText, replaceFile } from './atomic-file';
import { ensureFolder, exists } from './folder';
import { machineStatePath } from './paths';

/**
 * Returns the random id that distinguishes machines that share a user area. Creates it on the first call;
 * concurrent first calls return the same id.
 */
export function machineId(statePath: string = machineStatePath()): string {
  const path = join(statePath, 'machine-id');
  const stored = readId(path);
  if (stored !== undefined) return stored;
  const made = newId();
  ensureFolder(statePath);
  if (!createFile(path, made) && readId(path) === undefined) replaceFile(path, made);
  const id = readId(path);
  if (id !== undefined) return id;
  throw new StewardError('unavailable', `Could not store the machine id in ${path}.`, {
    hint: 'Check the disk and the permissions, and that no other program is writing to this file.',
  });
}

/** Returns the machine id, or undefined if it hasn't been created yet. */
export function knownMachineId(statePath: string = machineStatePath()): string | undefined {
  return readId(join(statePath, 'machine-id'));
}

/** Sets the machine id. If `id` is undefined, replaces an existing id with a new random one. */
export function setMachineId(statePath: string, id: string | undefined): void {
  const path = join(statePath, 'machine-id');
  ensureFolder(statePath);
  if (id !== undefined) replaceFile(path, `${id}\n`);
  else if (exists(path)) replaceFile(path, newId());
}

/**
 * Gives this machine another id, random by default, and remembers the old one: a folder of the user area that the old
 * id owns stays this machine's. Safe to repeat after a crash.
 */
export function renewMachineId(statePath: string = machineStatePath(), id?: string): void {
  const former = formerMachineIds(statePath);
  const ids = new Set([...former, machineId(statePath)]);
  replaceFile(join(statePath, 'former-ids'), `${[...ids].join('\n')}\n`);
  setMachineId(statePath, id);
}

/** Returns the ids that this machine had before, oldest first. */
export function formerMachineIds(statePath: string = machineStatePath()): string[] {
  const text = readText(join(statePath, 'former-ids'), { maxBytes: 4096 }) ?? '';
  const own = knownMachineId(statePath);
  return text.split('\n').filter((id) => isMachineId(id) && id !== own);
}

export function isMachineId(text: string): boolean {
  return /^[0-9a-f]{12}$/.test(text);
}

function newId(): string {
  return `${process.getBuiltinModule('node:crypto').randomBytes(6).toString('hex')}\n`;
}

function readId(path: string): string | undefined {
  const text = readText(path, { maxBytes: 4096 })?.trim();
  return text !== undefined && isMachineId(text) ? text : undefined;
}
