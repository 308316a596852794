import type { Day } from '../../platform/time/time';
import type { MachineDay, MachineSpan } from './model';
import { splitByMachine, type MachineUse } from './split';

/** A machine's day and the parts of it that are assigned to that machine. */
export interface Counted {
  day: MachineDay;
  parts: Part[];
  /** Number of the machine's seconds that are assigned to other machines. */
  lostSec: number;
}

export type Part = Pick<MachineSpan, 'app' | 'kind' | 'repo'> & { from: number; to: number };

/**
 * Assigns each second of the wanted days to one machine, as `splitByMachine` does. Of the other days, only what
 * overlaps with them counts.
 */
export function countOnce(days: readonly MachineDay[], wanted: ReadonlySet<Day>): Counted[] {
  const all = days.map((day): Counted => ({ day, parts: [], lostSec: 0 }));
  let [first, last] = [Infinity, -Infinity];
  for (const { record, spans } of days) {
    if (!wanted.has(record.date)) continue;
    for (const { from, to } of spans) [first, last] = [Math.min(first, from), Math.max(last, to)];
  }
  const items: (MachineUse & { span: MachineSpan; counted: Counted })[] = [];
  for (const counted of all) {
    const { machine, spans } = counted.day;
    for (const span of spans) {
      const { from, to, input } = span;
      if (to > first && from < last) items.push({ machine, from, to, input, span, counted });
    }
  }
  splitByMachine(
    items,
    ({ span: { app, kind, repo, input }, counted }) =>
      JSON.stringify([counted.day.record.date, app, kind, repo, input]),
    ({ span: { app, kind, repo }, counted: { parts } }, from, to) =>
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
