import { minutes } from '../../platform/terminal/format';
import type { DailyRecord } from '../record';
import type { MachineRow, UnionRecord } from './model';

/** Formats each machine's time and the overlap between machines. */
export function machinesText(record: DailyRecord | UnionRecord): string {
  if (!('machines' in record)) return '';
  const { overlapMinutes: overlap } = record;
  const items = record.machines.map(({ name, minutes: own, state }) => {
    const soFar = state === 'so-far' && record.final ? ' so far' : '';
    return `${name} ${own === null ? 'not recorded' : minutes(own)}${soFar}`;
  });
  if (overlap !== 0)
    items.push(overlap === null ? 'overlap unknown' : `${minutes(overlap)} of overlap counted once`);
  return items.join(' · ');
}

/** Returns each machine's total time over several days, or undefined if the records aren't merged. */
export function machinesOver(records: readonly (DailyRecord | UnionRecord)[]): MachineRow[] | undefined {
  const machines = new Map<string, MachineRow>();
  for (const row of records.flatMap((record) => ('machines' in record ? record.machines : []))) {
    const known = machines.get(row.id);
    const minutes =
      row.minutes === null && (known?.minutes ?? null) === null
        ? null
        : (known?.minutes ?? 0) + (row.minutes ?? 0);
    machines.set(row.id, {
      ...row,
      state: [row.state, known?.state].includes('so-far')
        ? 'so-far'
        : row.state === 'not-recorded'
          ? (known?.state ?? row.state)
          : row.state,
      minutes: minutes === null ? null : Math.round(minutes * 10) / 10,
    });
  }
  return machines.size === 0 ? undefined : [...machines.values()];
}
