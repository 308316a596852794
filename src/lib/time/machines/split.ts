import { byCodeUnits } from '../../platform/files/short-hash';
import { listIn } from '../ledger/spans';

/** A span in which a machine was in use. */
export interface MachineUse {
  machine: string;
  from: number;
  to: number;
  /** Time of the last input at or before `to`, or null if unknown. */
  input: number | null;
}

/**
 * Assigns each moment to the machine with the most recent input. The machine with the lowest id wins ties.
 * Passes each part of a span to `assign` or, if it is assigned to another machine, to `drop`.
 */
export function splitByMachine<T extends MachineUse>(
  spans: readonly T[],
  textOf: (span: T) => string,
  assign: (span: T, from: number, to: number) => void,
  drop: (span: T, from: number, to: number) => void = () => undefined,
): void {
  let active: T[] = [];
  let at = 0;
  const advance = (until: number): void => {
    while (active.length > 0 && at < until) {
      const end = active.reduce((least, { to }) => Math.min(least, to), until);
      const first = active.reduce((best, span) => (byFreshness(span, best) < 0 ? span : best));
      for (const span of active) (span === first ? assign : drop)(span, at, end);
      at = end;
      active = active.filter(({ to }) => to > end);
    }
  };
  for (const span of withoutOwnOverlaps(spans, textOf)) {
    advance(span.from);
    at = span.from;
    active.push(span);
  }
  advance(Infinity);
}

/** Sorts the spans by start. Drops the parts that overlap an earlier span of the same machine. */
function withoutOwnOverlaps<T extends MachineUse>(spans: readonly T[], textOf: (span: T) => string): T[] {
  const byTime = (a: T, b: T): number => a.from - b.from || a.to - b.to || byCodeUnits(textOf(a), textOf(b));
  const machines = new Map<string, T[]>();
  for (const span of spans) listIn(machines, span.machine).push(span);
  const rest: T[] = [];
  for (const list of machines.values()) {
    let end = 0;
    for (const span of list.sort(byTime)) {
      const from = Math.max(span.from, end);
      if (from < span.to) rest.push(from === span.from ? span : { ...span, from });
      end = Math.max(end, span.to);
    }
  }
  return rest.sort((a, b) => a.from - b.from);
}

function byFreshness(a: MachineUse, b: MachineUse): number {
  return (b.input ?? -1) - (a.input ?? -1) || byCodeUnits(a.machine, b.machine);
}
