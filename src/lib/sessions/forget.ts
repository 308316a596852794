import type { Machine } from '../config/user-area';
import { removeFile } from '../platform/files/folder';
import { withMachineLock } from '../platform/files/lock';
import { heldFiles } from './held';

export interface Forgotten {
  dryRun: boolean;
  /** Absolute paths of the files that were removed or, in a dry run, would be removed. */
  files: string[];
}

const LOCK_WAIT_MS = 5_000;

/**
 * Deletes everything that hooks have stored, but keeps the session files. A running session reappears with
 * its next event.
 */
export async function forgetSessions(machine: Machine, dryRun: boolean): Promise<Forgotten> {
  const { area } = machine;
  if (dryRun) return { dryRun, files: heldFiles(area, 'forget') };
  return withMachineLock(machine, 'sessions', LOCK_WAIT_MS, () => {
    const files = heldFiles(area, 'forget');
    files.forEach(removeFile);
    return { dryRun, files };
  });
}
