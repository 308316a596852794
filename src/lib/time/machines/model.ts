import type { AppKind } from '../classify';
import type { DailyRecord } from '../record';
import type { MachineUse } from './split';

/** A span in which an application was in the foreground. Times are in epoch seconds. */
export interface MachineSpan extends Omit<MachineUse, 'machine'> {
  app: string;
  kind: AppKind;
  repo?: string;
}

/** Identifies a commit on every machine. Commits of the same author and second differ in `patch`, if it is known. */
export interface CommitKey {
  id: string;
  patch?: string;
}

export function keyOfCommit({ id, patch = '' }: CommitKey): string {
  return `${id} ${patch}`;
}

/** A machine's data for one local day. Commit and session ids are the same on every machine. */
export interface MachineDay {
  machine: string;
  record: DailyRecord;
  /** The periods with tracked time. Empty if the machine stores only totals. */
  spans: readonly MachineSpan[];
  commits: readonly (CommitKey & { repo: string; ts: number; subject?: string })[];
}

export interface MachineName {
  id: string;
  name: string;
  /** When the machine published what is shown, if the exchange folder is not reachable. */
  asOf?: string;
}

/** The fewest characters of an id that are added to a name. */
const SHORT_ID = 4;

/** Returns the machines with distinct names: to a name that several have, the start of the id is added. */
export function distinctNames(all: readonly MachineName[]): MachineName[] {
  return all.map((machine) => {
    const { id, name } = machine;
    const same = all.filter((other) => other.id !== id && other.name.toLowerCase() === name.toLowerCase());
    let length = SHORT_ID;
    while (same.some((other) => other.id.startsWith(id.slice(0, length)))) length += 1;
    return same.length === 0 ? machine : { ...machine, name: `${name}-${id.slice(0, length)}` };
  });
}

export interface MachineRow extends MachineName {
  /** `so-far`: the day isn't over yet, or the machine has published only part of the day. */
  state: 'recorded' | 'so-far' | 'not-recorded';
  /** The machine's share of `totalMinutes`, or null if not recorded. */
  minutes: number | null;
}

/** A day's record that combines several machines. */
export interface UnionRecord extends DailyRecord {
  /** All known machines, sorted by id. */
  machines: MachineRow[];
  /**
   * Minutes that several machines recorded at the same time. The totals count such time once. Null if
   * unknown.
   */
  overlapMinutes: number | null;
}
