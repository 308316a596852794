import { StewardError } from '../../errors';
import { byCodeUnits } from '../../platform/files/short-hash';
import type { FileMemory } from '../../platform/files/file-cache';
import { addDays, type Day } from '../../platform/time/time';
import type { DayLedger } from '../ledger/model';
import type { DailyRecord, SessionRepos } from '../record';
import { distinct, mergeDays } from './merge';
import type { MachineDay, MachineName, UnionRecord } from './model';
import { countOnce, type Counted } from './overlap';
import type { MachineParts } from './timeline';

/** The machines to merge. */
export interface Machines {
  /** Sorted by id. */
  names: readonly MachineName[];
  /** Whether `names` includes this machine. */
  hasOwn: boolean;
  ownId: string;
  /** Keeps merged days until the files change that `inputs` lists for them. */
  memory?: FileMemory;
  inputs: (day: Day) => string[];
  /** Returns the days that any of the machines recorded, oldest first. */
  days: () => Day[];
  /** Returns the machines' data for the days. Omits days with damaged files. */
  read: (days: readonly Day[]) => MachineDay[];
  /** Returns the timeline data that other machines published for a day. */
  others: (day: Day) => (MachineName & MachineParts)[];
}

/** This machine, and the machines in the exchange folder. */
export interface KnownMachines {
  own: MachineName;
  others: readonly MachineName[];
  /** Returns the machines with these ids, or undefined if only this machine exists. */
  choose: (ids: ReadonlySet<string>) => Machines | undefined;
}

export interface UnionOptions {
  /** Returns the time per goal id. */
  goalTags?: ((ledger: DayLedger) => DailyRecord['goalTags']) | undefined;
}

/** Number of days to read at a time, so that a year needs little memory, and other requests needn't wait for it. */
const CHUNK_DAYS = 4;

/** Returns the merged records by date. Omits dates that no machine recorded. */
export function unionDays(machines: Machines, days: readonly Day[], options?: UnionOptions) {
  const records = [...unionParts(machines, days, options)].flat();
  return new Map(records.map((record) => [record.date, record]));
}

/** Yields the merged records of a few days at a time, oldest first. */
export function* unionParts(machines: Machines, days: readonly Day[], { goalTags }: UnionOptions = {}) {
  for (const { read, chunk } of chunksOf(machines, days)) {
    let merged: Map<Day, UnionRecord> | undefined;
    const mergedOn = (day: Day): UnionRecord | undefined =>
      (merged ??= new Map(
        mergeDays(read(), chunk, machines.names).map((record) => [record.date, record]),
      )).get(day);
    yield [...chunk].flatMap((day): UnionRecord[] => {
      const make = (): UnionRecord | undefined => mergedOn(day);
      const record =
        machines.memory === undefined ? make() : machines.memory.get(...rememberedAs(machines, day), make);
      return record === undefined ? [] : [{ ...record, goalTags: goalTags?.(record.ledger) ?? {} }];
    });
  }
}

/** Returns under which key a merged day is kept, and until which files change. */
function rememberedAs({ names, inputs }: Machines, day: Day): [key: string, paths: string[]] {
  return [`${day} ${JSON.stringify(names)}`, around(day).flatMap(inputs)];
}

/** Returns a day with its neighbours, because the local days of machines overlap with them. */
export function around(day: Day): Day[] {
  return [addDays(day, -1), day, addDays(day, 1)];
}

/** Merges the days with pauses, so that a daemon answers others meanwhile. A read after it finds them in memory. */
export async function readAhead(machines: Machines, days: readonly Day[], pause: () => Promise<void>) {
  for (const day of days) {
    if (machines.memory?.has(...rememberedAs(machines, day)) !== false) continue;
    for (const near of around(day)) {
      machines.read([near]);
      await pause();
    }
    unionDays(machines, [day]);
    await pause();
  }
}

/** Yields the machines' days, with the days around each chunk, because time zones differ. */
function* chunksOf(machines: Machines, days: readonly Day[]) {
  let known: MachineDay[] = [];
  for (let i = 0; i < days.length; i += CHUNK_DAYS) {
    const chunk = new Set(days.slice(i, i + CHUNK_DAYS));
    const read = (): MachineDay[] => {
      const wanted = new Set([...chunk].flatMap(around));
      known = known.filter(({ record }) => wanted.has(record.date));
      for (const { record } of known) wanted.delete(record.date);
      known.push(...machines.read([...wanted].sort()));
      return known;
    };
    yield { read, chunk };
  }
}

/** Yields each machine's days, with the time that counts for it. No second counts for two machines. */
export function* countedDays(machines: Machines, days: readonly Day[]): Generator<Counted> {
  for (const { read, chunk } of chunksOf(machines, days))
    yield* countOnce(distinct(read()), chunk).filter(({ day }) => chunk.has(day.record.date));
}

export function sessionReposOf({ ledger }: DailyRecord): SessionRepos {
  const repos = new Map<string, Set<string>>();
  for (const { repo, session } of ledger.agents)
    if (repo !== null) repos.set(repo, (repos.get(repo) ?? new Set()).add(session));
  const rows = [...repos].map(([repo, ids]) => ({ repo, sessions: ids.size }));
  return rows.sort((a, b) => b.sessions - a.sessions || byCodeUnits(a.repo, b.repo));
}

/** Returns the machines to merge (default: all), or undefined to read only this machine. */
export function chooseMachines(known: KnownMachines, wanted?: string): Machines | undefined {
  return known.choose(chosenMachines(known, wanted));
}

/** Returns the ids of the selected machines. Throws `usage` if `wanted` is unknown or ambiguous. */
export function chosenMachines({ own, others }: Pick<KnownMachines, 'own' | 'others'>, wanted?: string) {
  const all = [own, ...others];
  if (wanted === undefined) return new Set(all.map(({ id }) => id));
  const text = wanted.trim().toLowerCase();
  if (text === 'this') return new Set([own.id]);
  const found = matching(all, text);
  if (found.length === 1 && found[0] !== undefined) return new Set([found[0].id]);
  if (found.length > 1) throw ambiguous(wanted, found, own.id);
  throw new StewardError('usage', `Unknown machine: ${JSON.stringify(wanted)}.`, {
    hint: `Use a name, the start of an id, or "this". Known machines: ${listed(all, own.id)}.`,
  });
}

/** Returns the machines that a text names, by id, by name with or without the start of the id, or by that alone. */
export function matching<T extends MachineName>(all: readonly T[], wanted: string): T[] {
  const text = wanted.trim().toLowerCase();
  const isNamed = ({ id, name }: MachineName): boolean =>
    [text, `${text}-${id.slice(0, Math.max(0, name.length - text.length - 1))}`].includes(name.toLowerCase());
  const byName = all.filter(isNamed);
  const found = byName.length > 0 ? byName : all.filter(({ id }) => text !== '' && id.startsWith(text));
  const exact = all.filter(({ id }) => id === text);
  return exact.length > 0 ? exact : found;
}

export function ambiguous(wanted: string, found: readonly MachineName[], ownId?: string): StewardError {
  const problem = `More than one machine matches ${JSON.stringify(wanted)}: ${listed(found, ownId)}.`;
  const hint = 'Use one of these names, or run "steward sync rename NAME" on one of these machines.';
  return new StewardError('usage', problem, { hint });
}

export function listed(machines: readonly MachineName[], ownId?: string): string {
  return machines.map(({ id, name }) => `${name} (${id === ownId ? 'this' : id})`).join(', ');
}
