import { join } from 'node:path';

import { orElse } from '../errors';
import { readText, replaceFile } from '../platform/files/atomic-file';
import { ensureFolder, removeFile } from '../platform/files/folder';
import { isObject, parseObject, textOf } from '../platform/files/json-object';
import { isAmount } from '../platform/files/shape';
import type { Day } from '../platform/time/time';
import { AMOUNTS } from './entry';

/** The key of a row: assistant, session, repository (empty if unknown) and model. */
export type RowKey = readonly [assistant: string, session: string, repo: string, model: string];

/** One model's usage in one session and repository on one day. */
export interface DayRow extends Record<(typeof AMOUNTS)[number], number> {
  assistant: string;
  session: string;
  repo: string | null;
  model: string;
}

/**
 * Returns a day's rows, or an empty list if the day has no file. Passes the path of a damaged file to
 * `note`.
 */
export function readDayRows(
  folder: string,
  day: Day,
  note: (path: string) => void = () => undefined,
): DayRow[] {
  const path = fileOf(folder, day);
  return orElse(
    [],
    () => rowsIn(path, note),
    () => note(path),
  );
}

function rowsIn(path: string, note: (path: string) => void): DayRow[] {
  const text = readText(path);
  const stored = parseObject(text ?? '');
  const rows =
    stored?.['version'] === 1 && Array.isArray(stored['rows']) ? (stored['rows'] as unknown[]) : undefined;
  if (rows === undefined) {
    if (text !== undefined) note(path);
    return [];
  }
  if (!rows.every(hasValidAmounts)) note(path);
  return rows.filter(hasValidAmounts).flatMap((row): DayRow[] => {
    const [assistant, session, model] = [row['assistant'], row['session'], row['model']].map(textOf);
    if (assistant === undefined || session === undefined || model === undefined) return [];
    const amounts = AMOUNTS.map((name) => (typeof row[name] === 'number' ? row[name] : 0));
    return [rowOf([assistant, session, textOf(row['repo']) ?? '', model], amounts)];
  });
}

/** Returns a row with amounts in the order of `AMOUNTS`. */
export function rowOf([assistant, session, repo, model]: RowKey, amounts: readonly number[]): DayRow {
  const named = AMOUNTS.map((name, at) => [name, amounts[at] ?? 0]);
  const sums = Object.fromEntries(named) as Record<(typeof AMOUNTS)[number], number>;
  return { assistant, session, repo: repo === '' ? null : repo, model, ...sums };
}

function hasValidAmounts(row: unknown): row is Record<string, unknown> {
  return isObject(row) && AMOUNTS.every((name) => isAmount(row[name] ?? 0));
}

/**
 * Merges sums into a day. The larger sum wins, which preserves rows from deleted logs. Only the sums of rows
 * in `shrunk` may decrease.
 */
export function mergeDay(
  folder: string,
  day: Day,
  sums: ReadonlyMap<string, readonly number[]>,
  shrunk: ReadonlySet<string>,
): void {
  const rows = new Map(rowsIn(fileOf(folder, day), () => undefined).map((row) => [keyOf(row), row]));
  for (const key of shrunk) rows.delete(key);
  for (const [key, amounts] of sums) {
    const stored = rows.get(key);
    const larger = AMOUNTS.map((name, at) => Math.max(amounts[at] ?? 0, stored?.[name] ?? 0));
    rows.set(key, rowOf(JSON.parse(key) as RowKey, larger));
  }
  writeDay(folder, day, [...rows.values()]);
}

/** Writes a day's file. Removes the file if there are no rows. */
export function writeDay(folder: string, day: Day, rows: readonly DayRow[]): void {
  if (rows.length === 0) {
    removeFile(fileOf(folder, day));
    return;
  }
  ensureFolder(folder);
  const lines = rows.map((row) => JSON.stringify(row)).sort();
  replaceFile(fileOf(folder, day), `{"version":1,"date":"${day}","rows":[\n${lines.join(',\n')}\n]}\n`);
}

/** Moves a day to another folder, where it joins the rows of the same day. Safe to repeat. */
export function moveDay(from: string, into: string, day: Day): void {
  const rows = readDayRows(from, day);
  mergeDay(into, day, new Map(rows.map((row) => [keyOf(row), AMOUNTS.map((name) => row[name])])), new Set());
  removeFile(fileOf(from, day));
}

function keyOf({ assistant, session, repo, model }: DayRow): string {
  return JSON.stringify([assistant, session, repo ?? '', model]);
}

/** Returns the path of a day's file. */
export function fileOf(folder: string, day: Day): string {
  return join(folder, `${day}.json`);
}
