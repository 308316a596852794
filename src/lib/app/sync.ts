import { isAbsolute, join } from 'node:path';

import { toStewardError, throwIfBug } from '../errors';
import { abandonedIds, renewId } from '../platform/files/area-owner';
import { takeOverFormer } from '../platform/files/former-ids';
import { removeFolder } from '../platform/files/folder';
import { marksOf } from '../platform/files/stat';
import { shortHash } from '../platform/files/short-hash';
import { withMachineLock } from '../platform/files/lock';
import { toIso } from '../platform/time/clock';
import { dayOf } from '../platform/time/time';
import { currentSessions } from '../sessions/state';
import { machinesFolder } from '../sync/exchange';
import { inFolder } from '../sync/folder';
import { keptText } from '../sync/checks';
import {
  machineFolderOf,
  publish,
  type PublishDeps,
  type PublishResult,
  type SyncContext,
} from '../sync/publish';
import { copyFolder, keepCopy } from '../sync/received';
import { share, SHARED_FILE } from '../sync/settings';
import { afterRenewal, renewalText } from '../sync/writer';
import { readState, withFolder, writeState, type SyncState } from '../sync/state';
import type { Context } from './context';
import { openSense } from './sense';
import { openSessions } from './sessions';
import { localData, markOfAll } from './sync-local';
import { machineName, stateFile } from './sync-settings';
import { VERSION } from '../platform/version';

const LOCK_WAIT_MS = 30_000;

/** @param wanted the settings to preview, instead of the stored ones */
export async function openSync(
  context: Context,
  wanted: { folder?: string; details?: boolean } = {},
): Promise<SyncContext> {
  const { area, clock } = context;
  const { sync, timezone } = (await context.loadConfig()).config.user;
  const state = stateFile(area);
  const { folder, details } = { ...sync, ...wanted };
  const before = withFolder(readState(state), folder);
  const sense = await openSense(context);
  const sessions = await openSessions(context);
  const today = dayOf(clock.now(), timezone);
  const name = machineName(area);
  const deps: PublishDeps = {
    clock,
    state,
    today,
    folder: folder ?? join(area.machine, 'no-exchange-folder'),
    machine: {
      get id() {
        return context.machineId;
      },
      name,
      timezone,
      version: VERSION,
    },
    mark: () => markOfAll(context, { details, timezone, today, name }),
    local: () => localData(context, sense, Object.values(currentSessions(sessions).sessions), details),
    former: () => formerFolders(context, before, folder),
  };
  return {
    folder,
    details,
    deps,
    locked: (work, waitMs = LOCK_WAIT_MS) =>
      withMachineLock(context, 'sync', waitMs, () => inFolder(deps.folder, work)),
  };
}

/** Returns this machine's folder in the previous exchange folder, which may contain what it published. */
function formerFolders(
  { machineId }: Context,
  { removals, others = {} }: SyncState,
  folder: string | undefined,
): string[] {
  // If sessions were removed, don't use other folders, because they may still contain these sessions.
  if (folder === undefined || removals.some(({ sessions }) => sessions)) return [];
  const [previous] = Object.entries(others)
    .filter(([path]) => isAbsolute(path))
    .slice(-1);
  return previous === undefined || previous[1] > 0 ? [] : [join(machinesFolder(previous[0]), machineId)];
}

/**
 * Publishes changes. Returns undefined if no exchange folder is set. Stores any error, so that `steward status` shows
 * it. Calls `onChanged` with the files of all machines that changed since the last run.
 */
export async function publishNow(
  context: Context,
  waitMs?: number,
  onChanged: (paths: readonly string[]) => unknown = () => undefined,
): Promise<PublishResult | undefined> {
  const { folder, deps, locked } = await openSync(context);
  if (folder === undefined) return undefined;
  const { root, host, machine } = context.area;
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
    await renew(context);
    return publishNow(context, waitMs, onChanged);
  }
  const shared = await shareHere(context);
  if (shared === 0) return done;
  // Settings that came may change what this machine publishes.
  const { files = 0 } = (await publishNow(context, waitMs, onChanged)) ?? {};
  return { ...done, files: done.files + shared + files };
}

/** Shares settings, if you chose that and any may have changed. Returns the number of published files. */
async function shareHere(context: Context): Promise<number> {
  const { folder = '', deps, locked } = await openSync(context);
  if (readState(deps.state).settings !== true) return 0;
  const { files, open } = (await import('./sharing')).openSharing(context, folder);
  // Once a day, because a folder may have become restricted.
  const markNow = (): string => `${deps.today} ${shortHash(marksOf(files).text)}`;
  const isChanged = await locked(async (): Promise<boolean> => {
    if (readState(deps.state).settingsMark === markNow()) return false;
    const hasWritten = await share(await open(), join(machineFolderOf(deps), SHARED_FILE));
    writeState(deps.state, { ...readState(deps.state), settingsMark: markNow() });
    return hasWritten;
  });
  return Number(isChanged);
}

/** Gives this machine a new id, and tells why at the next command. After a kill, the next run gives it another one. */
async function renew(context: Context): Promise<void> {
  const { area, clock } = context;
  const path = stateFile(area);
  const from = context.machineId;
  renewId(area.root, area.host, (id) => renewalText(from, id));
  await takeOverFormer(area, clock);
  writeState(path, afterRenewal(readState(path), clock.now()));
}

/** Publishes after a capture. Returns why publishing failed, or what this machine lost since it published. */
export async function publishAfter(context: Context): Promise<string | undefined> {
  try {
    const { kept = [] } = (await publishNow(context, 0)) ?? {};
    return kept.length === 0 ? undefined : keptText(kept);
  } catch (error) {
    const { kind, message } = throwIfBug(error);
    return kind === 'locked' ? undefined : `Not published to other machines: ${message}`;
  }
}
