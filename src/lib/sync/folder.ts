import { dirname, isAbsolute, join, relative, sep } from 'node:path';

import { errnoCode, StewardError, toStewardError, withOwnHint } from '../errors';
import { createFile, tempOf } from '../platform/files/atomic-file';
import { ensureFolder, exists, removeFile } from '../platform/files/folder';
import { kindOf, realPath } from '../platform/files/stat';
import { forShell } from '../platform/process/spawn';
import { machinesFolder } from './exchange';

/** Throws `usage` if the folder is unsuitable. Writes nothing. */
export function checkFolder(folder: string, ownFolders: readonly string[]): void {
  if (exists(folder) && kindOf(folder) !== 'folder') {
    throw new StewardError('usage', `${folder} is not a folder.`, { hint: 'Choose a different path.' });
  }
  const parent = realPath(exists(folder) ? folder : dirname(folder));
  if (parent === undefined || kindOf(parent) !== 'folder') {
    throw new StewardError('usage', `The folder ${dirname(folder)} does not exist.`, {
      hint: 'Create the folder or connect its drive. steward creates only the last folder of the path.',
    });
  }
  const real = exists(folder) ? parent : join(parent, relative(dirname(folder), folder));
  for (const path of ownFolders) {
    const other = realPath(path) ?? path;
    if (!isWithin(real, other) && !isWithin(other, real)) continue;
    throw new StewardError('usage', `${folder} overlaps with ${path}.`, {
      hint: "Choose a folder outside of steward's own files; otherwise, the sync tool would copy them.",
    });
  }
}

/** Creates the exchange folder and its `machines` subfolder, if the folder is suitable. */
export function prepareFolder(folder: string, ownFolders: readonly string[]): void {
  checkFolder(folder, ownFolders);
  const probe = tempOf(join(folder, 'steward'));
  try {
    ensureFolder(folder, { allowLink: true });
    createFile(probe, '');
    removeFile(probe);
    ensureFolder(machinesFolder(folder));
  } catch (error) {
    throw new StewardError('usage', `Cannot write to ${folder}: ${toStewardError(error).message}`, {
      hint: 'Choose a folder that you can write to.',
      cause: error,
    });
  }
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** Says that the exchange folder is missing, or replaces the error's hint if the error is about the folder. */
export function aboutFolder(folder: string, error: unknown): unknown {
  const cause = error instanceof StewardError ? error.cause : error;
  const missing = errnoCode(cause) === 'ENOENT' ? missingFolder(folder) : undefined;
  const hint = 'Make the exchange folder writable, or use another one: steward sync setup FOLDER';
  return missing ?? withOwnHint(error, folder, hint);
}

/**
 * Runs `work`, which accesses the exchange folder. Adjusts the error if `work` throws or rejects with one about the
 * folder.
 */
export function inFolder<T>(folder: string, work: () => T): T {
  const fail = (error: unknown): never => {
    throw aboutFolder(folder, error);
  };
  try {
    const done = work();
    return done instanceof Promise ? (done.catch(fail) as T) : done;
  } catch (error) {
    return fail(error);
  }
}

/** @param former the folders and repositories that this machine has left, in which published files may remain */
export function noFolder(former: readonly string[] = []): StewardError {
  const commands = former.map((place) => `steward sync leave ${forShell(place)} --remove`);
  return new StewardError('not_found', 'No exchange folder is set.', {
    hint:
      commands.length === 0
        ? 'Set one: steward sync setup FOLDER'
        : `This machine has left already. To delete what it published before: ${commands.join(', ')}`,
  });
}

/** Throws `unavailable` if the exchange folder is missing. Never recreates the folder. */
export function requireFolder(folder: string): void {
  const missing = inFolder(folder, () => missingFolder(folder));
  if (missing !== undefined) throw missing;
}

function missingFolder(folder: string): StewardError | undefined {
  if (kindOf(machinesFolder(folder)) === 'folder') return undefined;
  if (exists(folder)) {
    const problem = `${folder} has no "machines" subfolder, so its drive may not be mounted.`;
    const hint = `If you emptied the folder, run: steward sync setup ${forShell(folder)}`;
    return new StewardError('unavailable', problem, { hint });
  }
  return new StewardError('unavailable', `Exchange folder not found: ${folder}.`, {
    hint: 'Connect the drive or start the sync tool to resume publishing. To stop publishing: steward sync leave',
  });
}
