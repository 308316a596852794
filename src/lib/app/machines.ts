import { fileMemory } from '../platform/files/file-cache';
import { knownMachineId } from '../platform/files/machine';
import { localTimes } from '../platform/time/day-words';
import { VERSION } from '../platform/version';
import type { ReadDeps } from '../sense/read';
import { storedDays } from '../sense/stored-days';
import { machineName } from '../sync/name';
import { readState, stateFile, withFolder } from '../sync/state';
import { chooseMachines, type KnownMachines, type Machines } from '../time/machines/read';
import type { Context } from './context';

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
  const { damagedNotes, noteOnce } = await import('../sync/exchange');
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
  const tell = noteOnce(note);
  const known = (): KnownMachines => {
    const { source, noteAway } = openReceived(folder, area, localTime, tell);
    const { kept = [] } = withFolder(readState(stateFile(area)), folder);
    const id = folder === undefined ? (knownMachineId() ?? '') : context.machineId;
    return knownMachines(
      { id, name: machineName(area) },
      { ...storedDays(deps), kept, memory },
      source,
      onDamaged,
      noteAway,
    );
  };
  const machines = (): Machines | undefined => chooseMachines(known(), wanted);
  if (wanted !== undefined) machines();
  return { ...deps, machines, machineFiles: () => (folder === undefined ? [] : machineFiles(folder)) };
}
