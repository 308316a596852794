import { join } from 'node:path';

import type { Machine } from '../config/user-area';
import { removeFile } from '../platform/files/folder';
import { withLock } from '../platform/files/lock';
import { filesAt, heldFiles } from './held';

export interface ForgetDeps extends Pick<Machine, 'area' | 'clock'> {
  machineId: () => string;
  /** The log of the hooks, which the configuration can move. */
  workEvents: string;
}

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
export async function forgetSessions(deps: ForgetDeps, dryRun: boolean): Promise<Forgotten> {
  const { area, clock, machineId, workEvents } = deps;
  const files = (): string[] => [...new Set([...heldFiles(area, 'forget'), ...filesAt(workEvents)])];
  if (dryRun) return { dryRun, files: files() };
  const lock = { clock, machineId: machineId(), waitMs: LOCK_WAIT_MS };
  return withLock(join(area.machine, 'sessions.lock'), lock, () => {
    const found = files();
    for (const file of found) removeFile(file);
    return Promise.resolve({ dryRun, files: found });
  });
}
