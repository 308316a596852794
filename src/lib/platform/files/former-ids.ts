import { join } from 'node:path';

import type { Clock } from '../time/clock';
import { readInstallManifest, withInstallManifest } from './install-manifest';
import { formerMachineIds, machineId } from './machine';
import { machineStatePath, type PathHost } from './paths';
import { takeUp } from './take-up';

interface Paths {
  host: PathHost;
  /** This area's machine-local state. */
  machine: string;
  outbox: string;
  spool: string;
  installManifest: string;
}

/** Assigns to this machine's id what it queued and installed under the ids that it had before. */
export async function takeOverFormer(
  { host, machine, outbox, spool, installManifest: path }: Paths,
  clock: Clock,
): Promise<void> {
  const state = machineStatePath(host);
  const ids = formerMachineIds(state);
  if (ids.length === 0) return;
  const id = machineId(state);
  for (const queue of [outbox, spool]) takeUp({ path: queue }, { path: queue }, { ids, to: id });
  const deps = { path, lockPath: join(machine, 'install.lock'), clock };
  for (const former of ids)
    for (const entry of readInstallManifest(path, former)) {
      await withInstallManifest({ ...deps, machineId: id }, ({ record }) =>
        record({ ...entry, machine: id }),
      );
      await withInstallManifest({ ...deps, machineId: former }, ({ forget }) => forget(entry.id, entry.path));
    }
}
