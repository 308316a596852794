import { isAbsolute, join } from 'node:path';

import type { Machine } from '../config/user-area';
import { throwIfBug, toStewardError } from '../errors';
import { abandonedIds, renewId } from '../platform/files/area-owner';
import { removeFolder } from '../platform/files/folder';
import { takeOverFormer } from '../platform/files/former-ids';
import { shortHash } from '../platform/files/short-hash';
import { marksOf } from '../platform/files/stat';
import { toIso } from '../platform/time/clock';
import { keptText } from './checks';
import { machinesFolder } from './exchange';
import { inFolder } from './folder';
import { machineFolderOf, publish, type PublishResult, type SyncContext } from './publish';
import { copyFolder, keepCopy } from './received';
import { share, SHARED_FILE, type ShareDeps } from './settings';
import { readState, writeState, type SyncState } from './state';
import { afterRenewal, renewalText } from './writer';

interface PublicationDeps {
  machine: Machine;
  /** Opens the exchange, again after each change of this machine's id or settings. */
  openSync: () => Promise<SyncContext>;
  /** Returns the files with the settings that may be shared, and what shares them. */
  sharing: (folder: string) => Promise<{ files: readonly string[]; open: () => Promise<ShareDeps> }>;
}

/**
 * Publishes changes. Returns undefined if no exchange folder is set. Stores any error, so that `steward status` shows
 * it. Calls `onChanged` with the files of all machines that changed since the last run.
 */
export async function publishChanges(
  on: PublicationDeps,
  onChanged: (paths: readonly string[]) => unknown = () => undefined,
  waitMs?: number,
): Promise<PublishResult | undefined> {
  const { folder, deps, locked } = await on.openSync();
  if (folder === undefined) return undefined;
  const { root, host, machine } = on.machine.area;
  const done = await locked(() => {
    try {
      return inFolder(deps.folder, () => {
        const published = publish(deps);
        if (published.needsNewId === true) return published;
        for (const id of abandonedIds(root, host)) removeFolder(join(machinesFolder(deps.folder), id));
        onChanged(keepCopy(deps.folder, copyFolder(machine)));
        return published;
      });
    } catch (error) {
      const { kind, message, hint } = toStewardError(error);
      const problem = { at: toIso(deps.clock.now()), message, ...(hint === undefined ? {} : { hint }) };
      if (kind !== 'internal') writeState(deps.state, { ...readState(deps.state), problem });
      throw error;
    }
  }, waitMs);
  if (done.needsNewId === true) {
    await renew(on.machine, deps.state);
    return publishChanges(on, onChanged, waitMs);
  }
  const shared = await shareHere(on);
  if (shared === 0) return done;
  // Settings that came may change what this machine publishes.
  const { files = 0 } = (await publishChanges(on, onChanged, waitMs)) ?? {};
  return { ...done, files: done.files + shared + files };
}

/** Shares settings, if you chose that and any may have changed. Returns the number of published files. */
async function shareHere(on: PublicationDeps): Promise<number> {
  const { folder = '', deps, locked } = await on.openSync();
  if (readState(deps.state).settings !== true) return 0;
  const { files, open } = await on.sharing(folder);
  // Once a day, because a folder may have become restricted.
  const markNow = (): string => `${deps.today} ${shortHash(marksOf(files).text)}`;
  return locked(async () => {
    if (readState(deps.state).settingsMark === markNow()) return 0;
    const hasWritten = await share(await open(), join(machineFolderOf(deps), SHARED_FILE));
    writeState(deps.state, { ...readState(deps.state), settingsMark: markNow() });
    return Number(hasWritten);
  });
}

/** Gives this machine a new id, and tells why at the next command. After a kill, the next run gives it another one. */
async function renew({ area, clock, machineId: from }: Machine, state: string): Promise<void> {
  renewId(area.root, area.host, (id) => renewalText(from, id));
  await takeOverFormer(area, clock);
  writeState(state, afterRenewal(readState(state), clock.now()));
}

/** Publishes after a capture. Returns why publishing failed, or what this machine lost since it published. */
export async function publishAfterCapture(on: PublicationDeps): Promise<string | undefined> {
  try {
    const { kept = [] } = (await publishChanges(on, undefined, 0)) ?? {};
    return kept.length === 0 ? undefined : keptText(kept);
  } catch (error) {
    const { kind, message } = throwIfBug(error);
    return kind === 'locked' ? undefined : `Not published to other machines: ${message}`;
  }
}

/** Returns this machine's folder in the previous exchange folder, which may contain what it published. */
export function formerFolders(machineId: string, state: SyncState, folder: string | undefined): string[] {
  const { removals, others = {} } = state;
  // If sessions were removed, don't use other folders, because they may still contain these sessions.
  if (folder === undefined || removals.some(({ sessions }) => sessions)) return [];
  const [previous] = Object.entries(others)
    .filter(([path]) => isAbsolute(path))
    .slice(-1);
  return previous === undefined || previous[1] > 0 ? [] : [join(machinesFolder(previous[0]), machineId)];
}
