import { join } from 'node:path';

import { stampOf } from '../platform/files/stat';
import { toIso } from '../platform/time/clock';
import { readMachines, readPublishedDay } from './exchange';
import type { ExchangeMachine, MachineInfo, MachineRead } from './format';

/** Returns what a machine has read of the others in the folder. */
export function readOthers(folder: string, ownId: string): MachineRead[] {
  const others = readMachines(folder).filter(({ id }) => id !== ownId);
  return others.map((machine) => ({
    id: machine.id,
    news: machine.info.publishedAt,
    at: newsAt(machine),
    to: machine.days.daily.findLast((day) => readPublishedDay(machine, day) !== undefined) ?? null,
  }));
}

/** Returns when a machine's news came. */
export function newsAt({ path }: Pick<ExchangeMachine, 'path'>): string {
  return toIso(stampOf(join(path, 'machine.json'))?.changedMs ?? 0);
}

/**
 * Returns how far another machine's clock is ahead: at least, because its news can't come before it was written, and
 * at most, because this machine's news couldn't come there before it was. Undefined while one of them is unknown.
 */
export function clockAhead(
  { publishedAt }: Pick<MachineInfo, 'publishedAt'>,
  at: string,
  read?: MachineRead,
) {
  if (read === undefined) return undefined;
  const leastMs = Date.parse(publishedAt) - Date.parse(at);
  const mostMs = Date.parse(read.at) - Date.parse(read.news);
  // A folder on a third machine has times by that one's clock.
  return leastMs > mostMs ? undefined : { leastMs, mostMs };
}
