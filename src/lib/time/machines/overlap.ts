import type { MachineDay, MachineSpan } from './model';
import { splitByMachine } from './split';

/** A machine's day and the parts of it that are assigned to that machine. */
export interface Counted {
  day: MachineDay;
  parts: Part[];
  /** Number of the machine's seconds that are assigned to other machines. */
  lostSec: number;
}

export type Part = Pick<MachineSpan, 'app' | 'kind' | 'repo'> & { from: number; to: number };

/** Assigns each second to one machine, as `splitByMachine` does. */
export function countOnce(days: readonly MachineDay[]): Counted[] {
  const all = days.map((day): Counted => ({ day, parts: [], lostSec: 0 }));
  const items = all.flatMap((counted) =>
    counted.day.spans.map((span) => ({ ...span, machine: counted.day.machine, counted })),
  );
  splitByMachine(
    items,
    ({ app, kind, repo, input, counted }) =>
      JSON.stringify([counted.day.record.date, app, kind, repo, input]),
    ({ app, kind, repo, counted: { parts } }, from, to) =>
      parts.push(repo === undefined ? { app, kind, from, to } : { app, kind, repo, from, to }),
    ({ counted }, from, to) => (counted.lostSec += to - from),
  );
  return all;
}

/**
 * Sorts captured days before backfilled days, because backfilled sessions may come from copied assistant
 * files.
 */
export function capturedFirst<T extends { day: MachineDay }>(all: readonly T[]): T[] {
  const isBackfilled = ({ day }: T): boolean => day.record.backfilled === true;
  return [...all.filter((each) => !isBackfilled(each)), ...all.filter(isBackfilled)];
}
