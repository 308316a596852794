import { dirname, join } from 'node:path';

import type { Clock } from '../platform/time/clock';
import { exists, listFolder, removeFile } from '../platform/files/folder';
import { withLock } from '../platform/files/lock';
import { rotatedName } from '../platform/files/journal';
import { archivedFiles } from './archive';
import { namesFolder, nameFiles } from './names';
import { archiveOf, type SessionReadDeps } from './state';

export interface ForgetDeps extends SessionReadDeps {
  clock: Clock;
  machineId: string;
  /** Path of `state/sessions.json`. */
  path: string;
  workEvents: string;
  /** Path of `state/spool`. */
  spool: string;
  /** Path of `observability/hooks.jsonl`. */
  hookLog: string;
  locks: string;
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
  if (dryRun) return { dryRun, files: filesOf(deps) };
  const lock = { clock: deps.clock, machineId: deps.machineId, waitMs: LOCK_WAIT_MS };
  return withLock(join(deps.locks, 'sessions.lock'), lock, async () => {
    const files = filesOf(deps);
    for (const file of files) removeFile(file);
    return { dryRun, files };
  });
}

function filesOf({ path, workEvents, spool, hookLog, locks }: ForgetDeps): string[] {
  const state = dirname(path);
  return [
    ...listFolder(state)
      .filter((name) => /^\.?sessions(?:-live)?\.json/.test(name))
      .map((name) => join(state, name)),
    ...archivedFiles(archiveOf(path)),
    ...nameFiles(namesFolder(locks)),
    ...[workEvents, hookLog].flatMap((log) => [log, rotatedName(log)]).filter((log) => exists(log)),
    ...[spool, join(spool, 'claimed'), join(spool, 'dead')].flatMap((folder) =>
      namesIn(folder).map((name) => join(folder, name)),
    ),
  ];
}

function namesIn(folder: string): string[] {
  return exists(folder)
    ? listFolder(folder).filter((name) => name.endsWith('.json') || name.startsWith('.'))
    : [];
}
