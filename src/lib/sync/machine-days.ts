import { join } from 'node:path';

import type { FileMemory } from '../platform/files/file-cache';
import { addDays, type Day } from '../platform/time/time';
import { distinctNames, type MachineDay, type MachineName } from '../time/machines/model';
import type { KnownMachines } from '../time/machines/read';
import type { DailyRecord } from '../time/record';
import { publishedDay, type LocalDay } from './day';
import {
  dayFileOf,
  machinesFolder,
  readMachines,
  readPublishedDay,
  readPublishedSessions,
  type OnDamagedFile,
} from './exchange';
import type { ExchangeMachine, PublishedDay } from './format';
import type { ExchangeSource } from './received';

/** A day with a log. */
export type LoggedDay = Pick<LocalDay, 'parts'> & { record: DailyRecord };

/** What a long-running process keeps of days until their files change: as published, and merged. */
export interface DayMemory {
  days: FileMemory;
  merged: FileMemory;
}

/** This machine's stored days. */
export interface StoredDays {
  loggedDays: () => Day[];
  recordedDays: () => Day[];
  readRecord: (day: Day) => DailyRecord | undefined;
  /** Returns a day from its log, with the given record or one that it builds. */
  readLogged: (day: Day, record?: DailyRecord) => LoggedDay;
  today: () => Day;
  /** Days whose published files contain what this machine has lost. */
  kept: readonly Day[];
  /** Returns the files that contain a day. */
  filesOf: (day: Day) => string[];
  memory?: DayMemory | undefined;
}

/** Returns this machine and the other machines in the exchange folder. */
export function knownMachines(
  { id, name }: MachineName,
  stored: StoredDays,
  source: ExchangeSource | undefined,
  onDamaged: OnDamagedFile,
  onOthers: (others: readonly MachineName[]) => unknown = () => undefined,
): KnownMachines {
  const { found, others, own, nameOf, names } = namedMachines({ id, name }, source, onDamaged);
  onOthers(names);
  return {
    own,
    others: names,
    choose(ids) {
      const chosen = others.filter(({ id }) => ids.has(id));
      const hasOwn = ids.has(own.id);
      if (chosen.length === 0 && !(hasOwn && stored.kept.length > 0)) return undefined;
      const ownDay = ownDays(
        stored,
        found.find(({ id }) => id === own.id),
        chosen,
      );
      const isPublished = new Map(chosen.map((machine) => [machine.id, new Set(machine.days.daily)]));
      const dayOf = (machine: ExchangeMachine, day: Day): MachineDay[] => {
        if (isPublished.get(machine.id)?.has(day) !== true) return [];
        const published = publishedIn(stored.memory, machine, day, onDamaged);
        return published === undefined ? [] : [{ machine: machine.id, ...published }];
      };
      return {
        hasOwn,
        ownId: own.id,
        ...(stored.memory && { memory: stored.memory.merged }),
        inputs: (day) => [
          ...(hasOwn ? stored.filesOf(day) : []),
          ...found
            .filter(({ id }) => ids.has(id))
            .flatMap(({ path }) => [dayFileOf(path, 'daily', day), dayFileOf(path, 'sessions', day)]),
        ],
        names: [...(hasOwn ? [own] : []), ...chosen.map(nameOf)],
        days: () =>
          [
            ...new Set([
              ...(hasOwn ? [...stored.loggedDays(), ...stored.recordedDays(), ...stored.kept] : []),
              ...chosen.flatMap(({ days }) => days.daily),
            ]),
          ].sort(),
        read: (days) =>
          days.flatMap((day) => [
            ...chosen.flatMap((machine) => dayOf(machine, day)),
            ...(hasOwn ? ownDay(day).map((published) => ({ machine: own.id, ...published })) : []),
          ]),
        others: (day) =>
          chosen.map((machine) => ({
            ...nameOf(machine),
            day: dayOf(machine, day)[0],
            sessions: readPublishedSessions(machine, day, onDamaged),
          })),
      };
    },
  };
}

/**
 * Returns the machines in the exchange folder, and distinct names of this machine and the others, which say when one
 * published what a copy contains.
 */
export function namedMachines(
  self: MachineName,
  source: Pick<ExchangeSource, 'folder' | 'isCopy'> | undefined,
  onDamaged: OnDamagedFile,
) {
  const found = source === undefined ? [] : readMachines(source.folder, onDamaged);
  const others = found.filter((machine) => machine.id !== self.id);
  const given = others.map(({ id, info }) => ({
    id,
    name: info.name,
    ...(source?.isCopy === true ? { asOf: info.publishedAt } : {}),
  }));
  const [own = self, ...names] = distinctNames([self, ...given]);
  const byId = new Map(names.map((machine) => [machine.id, machine]));
  return { found, others, own, names, nameOf: ({ id }: ExchangeMachine) => byId.get(id) ?? own };
}

/** Returns the files and folders to watch for changes to other machines' day files. */
export function machineFiles(folder: string): string[] {
  const machines = machinesFolder(folder);
  return [
    machines,
    ...readMachines(folder).flatMap(({ path }) =>
      ['machine.json', 'daily', 'sessions', 'usage'].map((name) => join(path, name)),
    ),
  ];
}

function publishedIn(
  memory: DayMemory | undefined,
  machine: ExchangeMachine,
  day: Day,
  onDamaged?: OnDamagedFile,
): PublishedDay | undefined {
  const path = dayFileOf(machine.path, 'daily', day);
  const read = () => readPublishedDay(machine, day, onDamaged);
  return memory === undefined ? read() : memory.days.get(path, [path], read);
}

/**
 * Returns a function that reads this machine's days in full, but with the ids used in published days. The
 * function reads a day's event log only if the published day is outdated.
 */
function ownDays(
  { loggedDays, readRecord, readLogged, memory, ...source }: StoredDays,
  own: ExchangeMachine | undefined,
  others: readonly ExchangeMachine[],
): (day: Day) => PublishedDay[] {
  const logged = new Set(loggedDays());
  const today = source.today();
  const known = new Set(others.flatMap(({ days }) => days.daily));
  const isAlone = (day: Day): boolean => ![-1, 0, 1].some((count) => known.has(addDays(day, count)));
  const kept = new Set(source.kept);
  const withoutLog = (record: DailyRecord, before?: PublishedDay) => [
    publishedDay({ record, parts: undefined }, before),
  ];
  return (day) => {
    const whole = own !== undefined && kept.has(day) ? readPublishedDay(own, day) : undefined;
    if (whole !== undefined) return [whole];
    const stored = day < today ? readRecord(day) : undefined;
    const isClosed = stored !== undefined && (stored.final || !logged.has(day));
    // If no other machine has data for this or an adjacent day, no times can overlap.
    if (isClosed && isAlone(day)) return withoutLog(stored);
    const before = isClosed && own !== undefined ? publishedIn(memory, own, day) : undefined;
    const isComplete =
      before?.record.generatedAt === stored?.generatedAt &&
      before?.record.commits.count === stored?.commits.count;
    if (isComplete && before !== undefined) return [before];
    if (isClosed && !logged.has(day)) return withoutLog(stored, before);
    if (!logged.has(day)) return day === today ? withoutLog(readLogged(day).record) : [];
    const read = () => [publishedDay(readLogged(day, isClosed ? stored : undefined), undefined)];
    return memory?.days.get(`log ${day}`, source.filesOf(day), read) ?? read();
  };
}
