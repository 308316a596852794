import { byCodeUnits } from '../../platform/files/short-hash';
import type { MachineDay, MachineSpan } from './model';

/** A machine's day and the parts of it that are assigned to that machine. */
export interface Counted {
  day: MachineDay;
  parts: Part[];
  /** Number of the machine's seconds that are assigned to other machines. */
  lostSec: number;
}

export type Part = Pick<MachineSpan, 'app' | 'kind' | 'repo'> & { from: number; to: number };

interface Item {
  span: MachineSpan;
  from: number;
  to: number;
  counted: Counted;
}

/** Assigns each second to the machine with the most recent input. The machine with the lowest id wins ties. */
export function countOnce(days: readonly MachineDay[]): Counted[] {
  const all = days.map((day): Counted => ({ day, parts: [], lostSec: 0 }));
  let active: Item[] = [];
  let at = 0;
  const advance = (until: number): void => {
    while (active.length > 0 && at < until) {
      const end = active.reduce((least, { to }) => Math.min(least, to), until);
      const first = active.reduce((best, item) => (byFreshness(item, best) < 0 ? item : best));
      for (const item of active)
        if (item === first) addPart(item, at, end);
        else item.counted.lostSec += end - at;
      at = end;
      active = active.filter(({ to }) => to > end);
    }
  };
  for (const item of itemsOf(all)) {
    advance(item.from);
    at = item.from;
    active.push(item);
  }
  advance(Infinity);
  return all;
}

/** Returns all spans, sorted by start. Drops spans that overlap an earlier span of the same machine. */
function itemsOf(all: readonly Counted[]): Item[] {
  const machines = new Map<string, Item[]>();
  for (const counted of all) {
    const list = machines.get(counted.day.machine) ?? [];
    machines.set(counted.day.machine, list);
    for (const span of counted.day.spans) list.push({ span, from: span.from, to: span.to, counted });
  }
  const items = [...machines.values()].flatMap((list) => {
    let endSec = 0;
    return list.sort(byTime).filter((item) => {
      item.from = Math.max(item.from, endSec);
      endSec = Math.max(endSec, item.to);
      return item.from < item.to;
    });
  });
  return items.sort((a, b) => a.from - b.from);
}

function byTime(a: Item, b: Item): number {
  return a.from - b.from || a.to - b.to || byCodeUnits(textOf(a), textOf(b));
}

function textOf({ span: { app, kind, repo, input }, counted }: Item): string {
  return JSON.stringify([counted.day.record.date, app, kind, repo, input]);
}

function byFreshness(a: Item, b: Item): number {
  const [x, y] = [a.span.input ?? -1, b.span.input ?? -1];
  return y - x || byCodeUnits(a.counted.day.machine, b.counted.day.machine);
}

function addPart({ span: { app, kind, repo }, counted: { parts } }: Item, from: number, to: number): void {
  parts.push(repo === undefined ? { app, kind, from, to } : { app, kind, repo, from, to });
}

/**
 * Sorts captured days before backfilled days, because backfilled sessions may come from copied assistant
 * files.
 */
export function capturedFirst<T extends { day: MachineDay }>(all: readonly T[]): T[] {
  const isBackfilled = ({ day }: T): boolean => day.record.backfilled === true;
  return [...all.filter((each) => !isBackfilled(each)), ...all.filter(isBackfilled)];
}
