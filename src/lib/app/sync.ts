import { join } from 'node:path';

import type { Job } from '../daemon/jobs';
import { toStewardError } from '../errors';
import { withLock } from '../platform/files/lock';
import { toIso } from '../platform/time/clock';
import { dayOf } from '../platform/time/time';
import { asRecord } from '../sense/record';
import { currentSessions } from '../sessions/state';
import { inFolder } from '../sync/folder';
import { publish, type PublishDeps, type PublishResult } from '../sync/publish';
import { readState, writeState, type Removal } from '../sync/state';
import type { Context } from './context';
import { openSense } from './sense';
import { openSessions } from './sessions';
import { localData, markOfAll } from './sync-local';
import { machineName, stateFile } from './sync-settings';
import { VERSION } from './version';

export interface SyncContext {
  folder: string | undefined;
  details: boolean;
  deps: PublishDeps;
  /** Runs `work` under the lock for changes to this machine's published files. */
  locked: <T>(work: () => T, waitMs?: number) => Promise<T>;
}

const LOCK_WAIT_MS = 30_000;
const JOB_SEC = 300;

export async function openSync(context: Context): Promise<SyncContext> {
  const { area, clock } = context;
  const { sync, timezone } = (await context.loadConfig()).config.user;
  const state = stateFile(area);
  const { folder, details } = sync;
  const sense = await openSense(context);
  const sessions = await openSessions(context);
  const today = dayOf(clock.now(), timezone);
  const name = machineName(area);
  const deps: PublishDeps = {
    ...{ clock, state, today, asRecord },
    folder: folder ?? join(area.machine, 'no-exchange-folder'),
    machine: {
      get id() {
        return context.machineId;
      },
      ...{ name, timezone, version: VERSION },
    },
    mark: () => {
      const { path, workEvents } = sessions;
      return markOfAll(context, { details, timezone, today, name, workEvents, sessions: path });
    },
    local: () => localData(context, sense, Object.values(currentSessions(sessions).sessions), details),
  };
  return {
    ...{ folder, details, deps },
    locked: (work, waitMs = LOCK_WAIT_MS) =>
      withLock(join(area.machine, 'sync.lock'), { clock, machineId: context.machineId, waitMs }, () =>
        Promise.resolve(inFolder(deps.folder, work)),
      ),
  };
}

/** Publishes changes. Returns undefined if no exchange folder is set. Stores an error for `steward status`. */
export async function publishNow(context: Context, waitMs?: number): Promise<PublishResult | undefined> {
  if ((await context.loadConfig()).config.user.sync.folder === undefined) return undefined;
  const { deps, locked } = await openSync(context);
  return locked(() => {
    try {
      return inFolder(deps.folder, () => publish(deps));
    } catch (error) {
      const { kind, message, hint } = toStewardError(error);
      const problem = { at: toIso(deps.clock.now()), message, ...(hint === undefined ? {} : { hint }) };
      if (kind !== 'internal') writeState(deps.state, { ...readState(deps.state), problem });
      throw error;
    }
  }, waitMs);
}

/** Publishes after a capture. Returns the problem, if any. */
export async function publishAfter(context: Context): Promise<string | undefined> {
  try {
    await publishNow(context, 0);
    return undefined;
  } catch (error) {
    const { kind, message } = toStewardError(error);
    if (kind === 'internal') throw error;
    return kind === 'locked' ? undefined : `Not published to other machines: ${message}`;
  }
}

export function syncJob(context: Context): Job {
  return {
    id: 'sync',
    everySec: () => JOB_SEC,
    run: async () => {
      if ((await publishNow(context)) === undefined) return 'no exchange folder is set';
      const { exchangeWhenDue } = await import('./sync-engine');
      await exchangeWhenDue(context);
      return undefined;
    },
  };
}

/**
 * Deletes local data, then the published copies. Stores the removal first, so that a later run can complete
 * it.
 */
export async function withRemoval<T>(
  context: Context,
  removal: Removal,
  work: () => Promise<T>,
): Promise<{ value: T; problem?: string }> {
  if ((await context.loadConfig()).config.user.sync.folder === undefined) return { value: await work() };
  const { deps, locked } = await openSync(context);
  await locked(() => {
    const state = readState(deps.state);
    writeState(deps.state, { ...state, removals: [...state.removals, removal] });
  });
  const value = await work();
  try {
    await publishNow(context);
    return { value };
  } catch (error) {
    const { kind, message } = toStewardError(error);
    if (kind === 'internal') throw error;
    return { value, problem: `Published files not removed; steward will retry. ${message}` };
  }
}
