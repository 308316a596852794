import { withoutTier } from './prices';
import { tokensIn, type DatedRow } from './rollup';

/** A machine's usage rows. Session ids are hashed, so that they are the same on every machine. */
export interface MachineUsage {
  id: string;
  rows: readonly DatedRow[];
}

/**
 * Merges the machines' usage. Logs may be copied between machines, so each day of a session counts only on
 * the machine that recorded the most. The order of `machines` doesn't matter.
 */
export function mergeUsage(machines: readonly MachineUsage[]): DatedRow[] {
  const sorted = [...machines].sort((a, b) => (a.id < b.id ? -1 : 1));
  const best = new Map<string, { size: number; rows: DatedRow[] }>();
  for (const { rows } of sorted) {
    const groups = new Map<string, { size: number; rows: DatedRow[] }>();
    for (const row of rows) {
      const key = JSON.stringify([row.day, row.assistant, row.session, withoutTier(row.model)]);
      const group = groups.get(key) ?? { size: 0, rows: [] };
      groups.set(key, group);
      group.rows.push(row);
      group.size += tokensIn(row);
    }
    for (const [key, group] of groups) {
      const known = best.get(key);
      const isMore = (than: typeof group): boolean =>
        group.size > than.size || (group.size === than.size && placed(group) > placed(than));
      if (known === undefined || isMore(known)) best.set(key, group);
    }
  }
  return [...best.values()].flatMap(({ rows }) => rows);
}

function placed({ rows }: { rows: readonly DatedRow[] }): number {
  return rows.filter(({ repo }) => repo !== null).length;
}
