import { join } from 'node:path';

import type { Machine } from '../config/user-area';
import { removeFile } from '../platform/files/folder';
import { withLock } from '../platform/files/lock';
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
  const { area, clock } = machine;
  if (dryRun) return { dryRun, files: heldFiles(area, 'forget') };
  const lock = { clock, machineId: machine.machineId, waitMs: LOCK_WAIT_MS };
  return withLock(join(area.machine, 'sessions.lock'), lock, () => {
    const found = heldFiles(area, 'forget');
    for (const file of found) removeFile(file);
    return Promise.resolve({ dryRun, files: found });
  });
}
