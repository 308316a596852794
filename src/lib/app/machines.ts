import type { ReadDeps } from '../sense/read';
import { chooseMachines, type KnownMachines, type Machines } from '../time/machines/read';
import type { Context } from './context';

/**
 * Returns `deps` with a reader for the merged days of all machines, or for the days of the `wanted` machine.
 * Calls `note` for each unusable file. Throws `usage` if the machine is unknown.
 */
export async function withMachines<T extends ReadDeps>(
  context: Context,
  deps: T,
  wanted?: string,
  note: (text: string) => unknown = () => undefined,
): Promise<T> {
  const { folder } = (await context.loadConfig()).config.user.sync;
  if (folder === undefined && wanted === undefined) return deps;
  // Load the module only if needed, so that reads without an exchange folder stay fast.
  const { knownMachines, machineFiles } = await import('./machine-days');
  const { damagedNotes } = await import('../sync/exchange');
  const onDamaged = damagedNotes(note);
  const known = (): KnownMachines => knownMachines(context, deps, folder, onDamaged);
  const machines = (): Machines | undefined => chooseMachines(known(), wanted);
  if (wanted !== undefined) machines();
  return { ...deps, machines, machineFiles: () => (folder === undefined ? [] : machineFiles(folder)) };
}
