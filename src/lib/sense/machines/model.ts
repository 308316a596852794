import type { AppKind } from '../classify';
import type { DailyRecord } from '../record';

/** Time in front of an application. Times are in epoch seconds. */
export interface MachineSpan {
  from: number;
  to: number;
  app: string;
  kind: AppKind;
  repo?: string;
  /** Time of the last known input at or before `to`. */
  input: number | null;
}

/** A machine's data for one of its local days. Commit and session ids are the same on every machine. */
export interface MachineDay {
  /** The machine's id. */
  machine: string;
  record: DailyRecord;
  /** Empty if the machine stores only the day's totals. */
  spans: readonly MachineSpan[];
  commits: readonly { id: string; repo: string; ts: number; subject?: string }[];
}

/** `so-far`: the machine's day isn't over, or the machine hasn't published the rest of the day yet. */
export type MachineState = 'recorded' | 'so-far' | 'not-recorded';

export interface MachineRow {
  id: string;
  name: string;
  state: MachineState;
  /** The machine's part of `totalMinutes`; null if not recorded. */
  minutes: number | null;
}

/** A day's record, merged from several machines. */
export interface UnionRecord extends DailyRecord {
  /** Every known machine, sorted by id. */
  machines: MachineRow[];
  /** Time that several machines recorded, counted once; null if a machine's spans are unknown. */
  overlapMinutes: number | null;
}
