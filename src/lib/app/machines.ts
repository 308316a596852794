import { join } from 'node:path';

import { fileMemory } from '../platform/files/file-cache';
import { knownMachineId } from '../platform/files/machine';
import type { DayMemory, StoredDays } from '../sync/machine-days';
import type { ReadDeps } from '../sense/read';
import type { Day } from '../platform/time/time';
import { localTimes } from '../platform/time/day-words';
import { readDay, todayOf } from '../sense/roll';
import { dayParts } from '../time/day-parts';
import { boundsOf } from '../time/record';
import { chooseMachines, type KnownMachines, type Machines } from '../time/machines/read';
import { VERSION } from '../platform/version';
import type { Context } from './context';
import { machineName, stateFile } from './sync-settings';

/**
 * Returns `deps` with a reader for the merged days of all machines, or for the days of the `wanted` machine.
 * Calls `note` for each unusable file. Throws `usage` if the machine is unknown. Only a process that `keeps` merged
 * days stores them for others, so that commands write nothing.
 */
export async function openMachines<T extends ReadDeps>(
  context: Context,
  deps: T,
  wanted?: string,
  note: (text: string) => unknown = () => undefined,
  keeps = false,
): Promise<T> {
  const { folder } = (await context.loadConfig()).config.user.sync;
  if (folder === undefined && wanted === undefined) return deps;
  // Load the module only if needed, so that reads without an exchange folder stay fast.
  const { knownMachines, machineFiles } = await import('../sync/machine-days');
  const { damagedNotes } = await import('../sync/exchange');
  const { readState, withFolder } = await import('../sync/state');
  const { area, clock } = context;
  let isDamaged = false;
  const onDamaged = damagedNotes((text) => {
    isDamaged = true;
    note(text);
  });
  const { copyFolder, mergedFolder, openReceived } = await import('../sync/received');
  // A day that lacks an unreadable file is not for commands, which must name the file.
  const store = {
    folder: mergedFolder(copyFolder(area.machine)),
    version: VERSION,
    writes: () => keeps && !isDamaged,
  };
  // A published day takes a few hundred KB, a merged one a few.
  const memory = { days: fileMemory(clock, 12), merged: fileMemory(clock, 400, store) };
  const localTime = localTimes(clock, deps.timezone);
  const noteOnce = once(note);
  const known = (): KnownMachines => {
    const { source, noteAway } = openReceived(folder, area, localTime, noteOnce);
    const { kept = [] } = withFolder(readState(stateFile(area)), folder);
    const id = folder === undefined ? (knownMachineId() ?? '') : context.machineId;
    return knownMachines(
      { id, name: machineName(area) },
      openStoredDays(deps, kept, memory),
      source,
      onDamaged,
      noteAway,
    );
  };
  const machines = (): Machines | undefined => chooseMachines(known(), wanted);
  if (wanted !== undefined) machines();
  return { ...deps, machines, machineFiles: () => (folder === undefined ? [] : machineFiles(folder)) };
}

function once(note: (text: string) => unknown): (text: string) => void {
  const noted = new Set<string>();
  return (text) => {
    if (!noted.has(text)) note(text);
    noted.add(text);
  };
}

/** Returns this machine's days as other machines get them. The merged records get the goals. */
export function openStoredDays(deps: ReadDeps, kept: readonly Day[], memory?: DayMemory): StoredDays {
  const { store, config, classify } = deps;
  const build = (day: Day) => readDay({ ...deps, goalTags: undefined }, store.readState().state, day).record;
  return {
    loggedDays: store.loggedDays,
    recordedDays: store.recordedDays,
    readRecord: (day) => store.readRecord(day, () => undefined),
    readLogged(day, record = build(day)) {
      const options = { ...boundsOf(record), pollIntervalSec: config.pollIntervalSec, classify };
      return { record, parts: dayParts(store.readLog(day).events, options) };
    },
    today: () => todayOf(deps),
    filesOf: (day) => [
      store.logOf(day),
      join(store.dailyPath, `${day}.json`),
      ...(day < todayOf(deps) ? [] : [store.statePath]),
    ],
    kept,
    memory,
  };
}
