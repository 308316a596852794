import { join } from 'node:path';

import { withMachineLock } from '../platform/files/lock';
import { dayOf } from '../platform/time/time';
import { VERSION } from '../platform/version';
import { storedDays } from '../sense/stored-days';
import { currentSessions } from '../sessions/state';
import { inFolder } from '../sync/folder';
import { localData, markOfAll } from '../sync/local';
import { machineName } from '../sync/name';
import { formerFolders, publishAfterCapture, publishChanges } from '../sync/publication';
import type { PublishDeps, SyncContext } from '../sync/publish';
import { readState, stateFile, withFolder } from '../sync/state';
import { readDayRows } from '../usage/days';
import type { Context } from './context';
import { openSense } from './sense';
import { openSessions } from './sessions';

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
  const sense = (await openSense(context)).deps;
  const { store } = sense;
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
    mark: () => markOfAll(area, store.loggedDays().map(store.logOf), { details, timezone, today, name }),
    local: () =>
      localData({
        area,
        details,
        stored: storedDays(sense),
        usageOf: (day) => readDayRows(area.usage, day),
        sessions: Object.values(currentSessions(sessions).sessions),
      }),
    former: () => formerFolders(context.machineId, before, folder),
  };
  return {
    folder,
    details,
    deps,
    locked: (work, waitMs = LOCK_WAIT_MS) =>
      withMachineLock(context, 'sync', waitMs, () => inFolder(deps.folder, work)),
  };
}

function openPublication(context: Context) {
  return {
    machine: context,
    openSync: () => openSync(context),
    sharing: async (folder: string) => (await import('./sharing')).openSharing(context, folder),
  };
}

/** Publishes changes. Returns undefined if no exchange folder is set. */
export function publishNow(context: Context, onChanged?: (paths: readonly string[]) => unknown) {
  return publishChanges(openPublication(context), onChanged);
}

/** Publishes after a capture. Returns why publishing failed, or what this machine lost since it published. */
export function publishAfter(context: Context): Promise<string | undefined> {
  return publishAfterCapture(openPublication(context));
}
