import type { ReadDeps } from '../sense/read';
import { chooseMachines, type KnownMachines, type Machines } from '../sense/machines/read';
import type { Context } from './context';

/**
 * Adds a reader for the merged days of all machines in the exchange folder, or for those of one machine.
 * Throws `usage` for an unknown name.
 */
export async function withMachines<T extends ReadDeps>(
  context: Context,
  deps: T,
  wanted?: string,
): Promise<T> {
  const { folder } = (await context.loadConfig()).config.user.sync;
  if (folder === undefined && wanted === undefined) return deps;
  // This module is loaded only if needed, so that reads without an exchange folder stay fast.
  const { knownMachines, machineFiles } = await import('./machine-days');
  const known = (): KnownMachines => knownMachines(context, deps, folder);
  const machines = (): Machines | undefined => chooseMachines(known(), wanted);
  // Throws for an unknown name before reading any data.
  if (wanted !== undefined) machines();
  return { ...deps, machines, machineFiles: () => (folder === undefined ? [] : machineFiles(folder)) };
}
