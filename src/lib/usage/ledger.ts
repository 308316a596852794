import { join } from 'node:path';

import { readText, replaceFile } from '../platform/files/atomic-file';
import { ensureFolder, listFolder, removeFile } from '../platform/files/folder';
import { isObject, parseObject } from '../platform/files/json-object';
import { isDay, type Day } from '../platform/time/time';
import { groupOf, tokensOf, type Amounts } from './entry';

/** What the uses of a row have in common: assistant, session, repository (empty if unknown) and model. */
export type RowKey = readonly [assistant: string, session: string, repo: string, model: string];

/** A use by its id. Without a row it was purged, and reading it again must not bring it back. */
interface Kept {
  day: Day;
  row: string | undefined;
  amounts: Amounts;
  isCopy: boolean;
}

/**
 * Every use of the last 40 days by its id, so that nothing counts twice however often a file is read. One file a day,
 * in machine-local state.
 */
export interface Ledger {
  entries: Map<string, Kept>;
  /** The groups with an original, and the ids of the copies of each other group. */
  originals: Set<string>;
  copies: Map<string, string[]>;
  /** Days to write. */
  dirty: Set<Day>;
  /** Rows (`day\nrow`) that lost a use, whose stored sums may shrink. */
  shrunk: Set<string>;
}

export interface NewEntry {
  id: string;
  day: Day;
  row: RowKey;
  amounts: Amounts;
  isCopy: boolean;
  repeats: string | undefined;
}

const NOTHING: Amounts = [0, 0, 0, 0, 0, 0];

export function readLedger(folder: string): Ledger {
  const ledger: Ledger = {
    entries: new Map(),
    originals: new Set(),
    copies: new Map(),
    dirty: new Set(),
    shrunk: new Set(),
  };
  for (const day of ledgerDays(folder)) {
    const stored = parseObject(readText(fileOf(folder, day)) ?? '');
    const { rows, entries } = stored ?? {};
    if (stored?.['version'] !== 1 || !Array.isArray(rows) || !isObject(entries)) continue;
    const names = rows.map((row) => JSON.stringify(row));
    for (const [id, value] of Object.entries(entries)) {
      const [at, isCopy, ...amounts] = value as number[];
      const row = names[at ?? -1];
      // A kill between the writes of two days can leave an entry in both.
      drop(ledger, id);
      add(ledger, id, { day, row, amounts: amounts as unknown as Amounts, isCopy: isCopy === 1 });
    }
  }
  return ledger;
}

/** Adds a use, unless it is known. Of several versions of one use the fullest stays. */
export function put(ledger: Ledger, entry: NewEntry): void {
  const { id, day, isCopy, amounts, repeats } = entry;
  const group = groupOf(id);
  const known = ledger.entries.get(id);
  if (known !== undefined && known.row === undefined) return;
  if (isCopy && ledger.originals.has(group)) return;
  if (repeats !== undefined && ledger.entries.has(repeats)) return;
  if (!isCopy) for (const copy of ledger.copies.get(group) ?? []) drop(ledger, copy);
  const kept = ledger.entries.get(id);
  if (kept !== undefined && tokensOf(kept.amounts) >= tokensOf(amounts)) return;
  if (kept !== undefined) drop(ledger, id);
  add(ledger, id, { day, row: JSON.stringify(entry.row), amounts, isCopy });
  ledger.dirty.add(day);
}

function add(ledger: Ledger, id: string, kept: Kept): void {
  ledger.entries.set(id, kept);
  const group = groupOf(id);
  if (!kept.isCopy) ledger.originals.add(group);
  else ledger.copies.set(group, [...(ledger.copies.get(group) ?? []), id]);
}

function drop(ledger: Ledger, id: string): void {
  const kept = ledger.entries.get(id);
  if (kept === undefined) return;
  ledger.entries.delete(id);
  ledger.dirty.add(kept.day);
  if (kept.row !== undefined) ledger.shrunk.add(`${kept.day}\n${kept.row}`);
}

/** Empties the matching uses; only their ids stay. */
export function forget(ledger: Ledger, matches: (day: Day, row: RowKey) => boolean): void {
  for (const [id, kept] of ledger.entries) {
    if (kept.row === undefined || !matches(kept.day, JSON.parse(kept.row) as RowKey)) continue;
    ledger.entries.set(id, { ...kept, row: undefined, amounts: NOTHING });
    ledger.dirty.add(kept.day);
  }
}

/** Returns the sums by day and row of the days that changed. */
export function changedSums(ledger: Ledger): Map<Day, Map<string, number[]>> {
  const days = new Map([...ledger.dirty].map((day) => [day, new Map<string, number[]>()]));
  for (const { day, row, amounts } of ledger.entries.values()) {
    const rows = days.get(day);
    if (rows === undefined || row === undefined) continue;
    const sums = rows.get(row) ?? [...NOTHING];
    amounts.forEach((amount, at) => (sums[at] = (sums[at] ?? 0) + amount));
    rows.set(row, sums);
  }
  return days;
}

/** Writes the days that changed, and deletes those before `oldest`. */
export function writeLedger(folder: string, ledger: Ledger, oldest: Day): void {
  ensureFolder(folder);
  const days = new Map([...ledger.dirty].map((day) => [day, new Map<string, Kept>()]));
  for (const [id, kept] of ledger.entries) days.get(kept.day)?.set(id, kept);
  for (const [day, entries] of days) replaceFile(fileOf(folder, day), dayText(entries));
  for (const day of ledgerDays(folder)) if (day < oldest) removeFile(fileOf(folder, day));
}

function dayText(entries: ReadonlyMap<string, Kept>): string {
  const rows = [...new Set([...entries.values()].map(({ row }) => row))].filter((row) => row !== undefined);
  const places = new Map(rows.map((row, at) => [row, at]));
  const lines = [...entries].map(([id, { row, isCopy, amounts }]) => {
    const place = row === undefined ? -1 : (places.get(row) ?? -1);
    return `"${id}":${JSON.stringify([place, isCopy ? 1 : 0, ...amounts])}`;
  });
  return `{"version":1,"rows":[${rows.join()}],"entries":{${lines.join(',\n')}}}\n`;
}

function ledgerDays(folder: string): Day[] {
  return listFolder(folder)
    .filter((name) => name.endsWith('.json') && isDay(name.slice(0, -5)))
    .map((name) => name.slice(0, -5))
    .sort();
}

function fileOf(folder: string, day: Day): string {
  return join(folder, `${day}.json`);
}
