import { isAbsolute, join } from 'node:path';

import { areaAt } from '../config/user-area';
import { toStewardError, throwIfBug } from '../errors';
import { readOwners, renewId } from '../platform/files/area-owner';
import { takeOverFormer } from '../platform/files/former-ids';
import { knownMachineId } from '../platform/files/machine';
import { readText } from '../platform/files/atomic-file';
import { withLock } from '../platform/files/lock';
import { toIso } from '../platform/time/clock';
import { dayOf, type Day } from '../platform/time/time';
import { tidyLogs } from '../sense/roll';
import { senseStore } from '../sense/store';
import { currentSessions } from '../sessions/state';
import { machinesFolder } from '../sync/exchange';
import { inFolder } from '../sync/folder';
import { keptText } from '../sync/checks';
import { parseInfo } from '../sync/parse';
import { noteRetired } from '../sync/notes';
import { publish, type PublishDeps, type PublishResult, type SyncContext } from '../sync/publish';
import { copyFolder, keepCopy } from '../sync/received';
import { publishRetired } from '../sync/retire';
import { afterRenewal, renewalText, withRenewal } from '../sync/writer';
import { readState, withFolder, writeState, type Renewal, type SyncState } from '../sync/state';
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
      retired: retiredBy(context),
    },
    mark: () => {
      const { retired = [] } = deps.machine;
      return markOfAll(context, { details, timezone, today, name, retired });
    },
    local: () => localData(context, sense, Object.values(currentSessions(sessions).sessions), details),
    former: (day) => formerFolders(context, before, folder, day),
  };
  return {
    folder,
    details,
    deps,
    locked: (work, waitMs = LOCK_WAIT_MS) =>
      withLock(join(area.machine, 'sync.lock'), { clock, machineId: context.machineId, waitMs }, () =>
        Promise.resolve(inFolder(deps.folder, work)),
      ),
  };
}

/**
 * Returns other folders that may contain published files of this machine for a day: its folder in the
 * previous exchange folder, and the folders of adopted machines.
 */
function formerFolders(
  { area, machineId }: Context,
  { removals, retire = [], others = {} }: SyncState,
  folder: string | undefined,
  day: Day,
): string[] {
  // If sessions were removed, don't use other folders, because they may still contain these sessions.
  if (folder === undefined || removals.some(({ sessions }) => sessions)) return [];
  const adopted = retire.filter((id) => {
    const store = senseStore(areaAt(area.root, `machines/${id}/`, area.host));
    return store.logBytes(day) === undefined && !store.hasRecord(day);
  });
  const [previous] = Object.entries(others)
    .filter(([path]) => isAbsolute(path))
    .slice(-1);
  return [
    ...(previous === undefined || previous[1] > 0 ? [] : [join(machinesFolder(previous[0]), machineId)]),
    ...adopted.map((id) => join(machinesFolder(folder), id)),
  ];
}

/** Returns the ids of the machines that this machine has adopted. */
function retiredBy({ area }: Pick<Context, 'area'>): string[] {
  const id = knownMachineId();
  return readOwners(area.root).find(({ owner }) => owner === id)?.retired ?? [];
}

/** Returns the folders in which adopted machines' days are kept separate from this machine's data. */
export function adoptedFolders({ area }: Context): { id: string; path: string }[] {
  const owners = readOwners(area.root);
  const found = retiredBy({ area }).filter((id) => owners.some(({ owner }) => owner === id));
  return found.map((id) => ({ id, path: join(area.root, 'machines', id) }));
}

interface Adopted {
  deps: PublishDeps;
  tidy: () => void;
}

/** Opens the adopted machines whose data this machine publishes or withdraws. */
async function openAdopted(context: Context): Promise<Adopted[]> {
  const { area } = context;
  const owners = readOwners(area.root);
  const { folder } = (await context.loadConfig()).config.user.sync;
  const { retire = [] } = withFolder(readState(stateFile(area)), folder);
  const ids = retiredBy(context).filter(
    (id) => retire.includes(id) || owners.some(({ owner }) => owner === id),
  );
  const machines = await Promise.all(
    ids.map(async (id): Promise<Adopted> => {
      const { sense, usage } = areaAt(area.root, `machines/${id}/`, area.host);
      const own = { ...context, area: { ...area, sense, usage }, machineId: id };
      const { deps } = await openSync(own);
      const stored = readText(join(machinesFolder(deps.folder), id, 'machine.json'));
      const { name = id } = parseInfo(stored ?? '') ?? {};
      const { deps: roll } = await openSense(own);
      const tidy = (): void => tidyLogs({ ...roll, afterRecords: () => undefined });
      const former = (day: Day): string[] => deps.former?.(day).filter((path) => path.endsWith(id)) ?? [];
      return { deps: { ...deps, former, machine: { ...deps.machine, name } }, tidy };
    }),
  );
  return machines.filter(({ deps }) => retire.includes(deps.machine.id) || deps.local().days().length > 0);
}

/**
 * Publishes the data of adopted machines that is still in the user area, and withdraws their other published
 * files.
 */
function publishAdopted(state: string, machines: readonly Adopted[]): void {
  const { retire = [] } = readState(state);
  for (const { deps, tidy } of machines) {
    publishRetired(deps, retire.includes(deps.machine.id));
    tidy();
  }
}

/**
 * Publishes the data of adopted machines before an exchange through git. Returns the machines' ids, because
 * the exchange must replace the machines' branches.
 */
export async function prepareAdopted(context: Context): Promise<string[]> {
  const { deps, locked } = await openSync(context);
  const machines = await openAdopted(context);
  if (machines.length > 0) await locked(() => publishAdopted(deps.state, machines));
  return idsOf(machines);
}

function idsOf(machines: readonly Adopted[]): string[] {
  return machines.map(({ deps }) => deps.machine.id);
}

/**
 * Publishes changes. Returns undefined if no exchange folder is
 * set. Stores any error, so that `steward status` shows it.
 */
export async function publishNow(context: Context, waitMs?: number): Promise<PublishResult | undefined> {
  const { folder, engine } = (await context.loadConfig()).config.user.sync;
  if (folder === undefined) return undefined;
  const { deps, locked } = await openSync(context);
  const before = withFolder(readState(deps.state), folder);
  const isSame = before.folder === folder && before.checked === deps.today && before.problem === undefined;
  const isDue = !isSame || before.retire !== undefined;
  const adopted = isDue ? await openAdopted(context) : [];
  const done = await locked(() => {
    try {
      const result = inFolder(deps.folder, () => {
        const published = publish(deps);
        if (published.renewal !== undefined) return published;
        keepCopy(deps.folder, copyFolder(context.area.machine));
        publishAdopted(deps.state, adopted);
        return published;
      });
      // With git, the next exchange withdraws the files from the repository.
      if (engine !== 'git') noteRetired(deps.state, idsOf(adopted));
      return result;
    } catch (error) {
      const { kind, message, hint } = toStewardError(error);
      const problem = { at: toIso(deps.clock.now()), message, ...(hint === undefined ? {} : { hint }) };
      if (kind !== 'internal') writeState(deps.state, { ...readState(deps.state), problem });
      throw error;
    }
  }, waitMs);
  if (done.renewal === undefined) return done;
  await renew(context, done.renewal);
  return publishNow(context, waitMs);
}

/** Gives this machine a new id, and tells why at the next command. After a kill the next run continues. */
async function renew(context: Context, why: Renewal): Promise<void> {
  const { area, clock } = context;
  const path = stateFile(area);
  const state = readState(path);
  const { from } = state.renewing ?? { from: context.machineId };
  if (state.renewing === undefined) writeState(path, withRenewal(state, { from, why }));
  renewId(area.root, area.host, from, (id) => renewalText(why, { before: from, id }));
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
