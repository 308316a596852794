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
export async function takeOverFormer(area: Paths, clock: Clock): Promise<void> {
  const state = machineStatePath(area.host);
  const ids = formerMachineIds(state);
  if (ids.length === 0) return;
  const id = machineId(state);
  for (const path of [area.outbox, area.spool]) takeUp({ path }, { path }, { ids, to: id });
  for (const former of ids)
    for (const entry of readInstallManifest(area.installManifest, former)) {
      await withInstallManifest({ area, clock, machineId: id }, ({ record }) =>
        record({ ...entry, machine: id }),
      );
      await withInstallManifest({ area, clock, machineId: former }, ({ forget }) =>
        forget(entry.id, entry.path),
      );
    }
}
