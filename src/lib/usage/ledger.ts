import { replaceFile } from '../platform/files/atomic-file';
import { daysIn } from '../platform/files/day-files';
import { ensureFolder, removeFile } from '../platform/files/folder';
import { isObject } from '../platform/files/json-object';
import { readObject } from '../platform/files/object-file';
import type { Day } from '../platform/time/time';
import { fileOf, rowOf, type RowKey } from './days';
import { AMOUNTS, tokensOf, type Amounts } from './entry';
import type { DatedRow } from './rollup';

/**
 * A version of a response: the second part of its id, the index of its row (-1 if purged), its depth, its
 * amounts, and its time. Purged responses, and those of earlier versions of steward, have no time.
 */
type Version = [rest: string, row: number, depth: number, ...amounts: Amounts, ms?: number];

interface LedgerDay {
  version: 1;
  rows: RowKey[];
  /** Responses by the first part of their ids. */
  answers: Record<string, Version[]>;
}

/**
 * Remembers the responses of the last 40 days, so that a reread log doesn't count twice. Each day is stored
 * in a machine-local file. For purged responses, only the ids are kept.
 */
export interface Ledger {
  days: Map<Day, LedgerDay>;
  dirty: Set<Day>;
  /**
   * Rows from which a response was removed; their stored sums may decrease. Each string has two lines: the
   * day, and the row as JSON.
   */
  shrunk: Set<string>;
}

interface NewEntry {
  id: string;
  ms: number;
  day: Day;
  row: RowKey;
  amounts: Amounts;
  depth: number;
}

const PURGED = -1;

/** Reads the days from `from` on. */
export function readLedger(folder: string, from: Day = ''): Ledger {
  const ledger: Ledger = { days: new Map(), dirty: new Set(), shrunk: new Set() };
  for (const day of daysIn(folder).filter((known) => known >= from)) {
    const stored = readObject(fileOf(folder, day));
    const isKnown = stored?.['version'] === 1 && Array.isArray(stored['rows']) && isObject(stored['answers']);
    if (isKnown) ledger.days.set(day, stored as unknown as LedgerDay);
  }
  return ledger;
}

/**
 * Adds an entry unless it is known. The most complete version of a response wins, and an original replaces
 * its copies, whichever was read first.
 */
export function put(ledger: Ledger, entry: NewEntry): void {
  const [group = '', rest = ''] = entry.id.split('.');
  const known = versionsOf(ledger, group);
  if (known.some(({ version }) => version[2] < entry.depth)) return;
  const size = tokensOf(entry.amounts);
  const isReplaced = (version: Version): boolean =>
    version[2] > entry.depth ||
    (version[0] === rest && version[1] !== PURGED && tokensOf(amountsOf(version)) < size);
  for (const { day, version } of known) if (isReplaced(version)) remove(ledger, day, group, version);
  if (versionsOf(ledger, group).some(({ version }) => version[0] === rest)) return;
  add(ledger, group, rest, entry);
}

function versionsOf({ days }: Ledger, group: string): { day: Day; version: Version }[] {
  const found: { day: Day; version: Version }[] = [];
  for (const [day, { answers }] of days) {
    const versions = answers[group];
    if (versions !== undefined) for (const version of versions) found.push({ day, version });
  }
  return found;
}

function add({ days, dirty }: Ledger, group: string, rest: string, entry: NewEntry): void {
  const { day, row, depth, amounts, ms } = entry;
  const into = days.get(day) ?? { version: 1, rows: [], answers: {} };
  days.set(day, into);
  let place = into.rows.findIndex((known) => known.every((part, at) => part === row[at]));
  if (place === -1) place = into.rows.push(row) - 1;
  (into.answers[group] ??= []).push([rest, place, depth, ...amounts, ms]);
  dirty.add(day);
}

function remove({ days, dirty, shrunk }: Ledger, day: Day, group: string, version: Version): void {
  const from = days.get(day);
  if (from === undefined) return;
  from.answers[group] = (from.answers[group] ?? []).filter((one) => one !== version);
  dirty.add(day);
  shrunk.add(`${day}\n${JSON.stringify(from.rows[version[1]])}`);
}

/** Removes matching responses, but keeps their ids. */
export function forget(ledger: Ledger, matches: (day: Day, row: RowKey) => boolean): void {
  for (const [day, { rows, answers }] of ledger.days) {
    const isGone = rows.map((row) => matches(day, row));
    if (!isGone.includes(true)) continue;
    for (const version of Object.values(answers).flat()) {
      if (isGone[version[1]] === true) version.splice(1, 9, PURGED, version[2], 0, 0, 0, 0, 0, 0);
    }
    rows.forEach((_, at) => isGone[at] === true && rows.splice(at, 1, ['', '', '', '']));
    ledger.dirty.add(day);
  }
}

/** Returns a day's sums. The keys are rows as JSON. */
export function sumsOf({ days }: Ledger, day: Day): Map<string, number[]> {
  const { rows, answers } = days.get(day) ?? { rows: [], answers: {} };
  const sums = rows.map(() => [0, 0, 0, 0, 0, 0]);
  for (const version of Object.values(answers).flat()) {
    const sum = sums[version[1]];
    if (sum !== undefined) amountsOf(version).forEach((amount, at) => (sum[at] = (sum[at] ?? 0) + amount));
  }
  const used = rows.map((row, at) => [JSON.stringify(row), sums[at] ?? []] as const);
  return new Map(used.filter(([, sum]) => sum.some((amount) => amount > 0)));
}

function amountsOf(version: Version): Amounts {
  return version.slice(3, 3 + AMOUNTS.length) as unknown as Amounts;
}

/** A response's row. `ms` is its time; 0 if an earlier version of steward stored it. */
export type ResponseRow = DatedRow & { ms: number };

/** Returns the rows of the responses since then, one for each. */
export function rowsSince(folder: string, sinceMs: number, from: Day): ResponseRow[] {
  return [...readLedger(folder, from).days].flatMap(([day, { rows, answers }]) =>
    Object.values(answers)
      .flat()
      .map((version) => ({ version, ms: version[9] ?? 0 }))
      .filter(({ version, ms }) => ms >= sinceMs && version[1] !== PURGED)
      .map(({ version, ms }) => ({ ...rowOf(rows[version[1]] as RowKey, amountsOf(version)), day, ms })),
  );
}

/** Writes the changed days, and deletes the days before `oldest`. */
export function writeLedger(folder: string, { days, dirty }: Ledger, oldest: Day): void {
  ensureFolder(folder);
  for (const day of dirty) replaceFile(fileOf(folder, day), `${JSON.stringify(days.get(day))}\n`);
  for (const day of daysIn(folder)) if (day < oldest) removeFile(fileOf(folder, day));
}
