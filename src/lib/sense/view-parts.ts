import { toAscii, type Palette } from '../platform/terminal/format';
import { clean } from '../platform/terminal/terminal';
import type { AppTime, DailyRecord } from './record';

/** What the text is for. A pipe is 80 columns without colour. */
export interface TextOptions {
  columns: number;
  color: boolean;
  /** False for terminals without block characters; true when left out. */
  unicode?: boolean;
}

/** Lines as one text without spaces at their ends; colour codes at an end stay. */
export function finish(lines: readonly string[], options: TextOptions): string {
  const text = lines.map((line) => line.trimEnd()).join('\n');
  return options.unicode === false ? toAscii(text) : text;
}

/** No layout is made for less. */
export const MIN_COLUMNS = 32;

/** What the record shows first: most of the time, in so many rows, the rest as one. */
export function topApps(record: DailyRecord, rows: number): { named: AppTime[]; rest: AppTime[] } {
  const count = record.apps.length <= rows ? record.apps.length : rows - 1;
  return { named: record.apps.slice(0, count), rest: record.apps.slice(count) };
}

export function isEmpty(record: DailyRecord): boolean {
  return record.totalMinutes === 0 && record.commits.count === 0 && record.sessions.count === 0;
}

/** The hours from the first to the last in which something was seen. */
export function seenHours(record: DailyRecord): DailyRecord['hours'] {
  const isSeen = record.hours.map((hour) => hour.creation + hour.consumption + hour.neutral > 0);
  return record.hours.slice(Math.max(0, isSeen.indexOf(true)), isSeen.lastIndexOf(true) + 1);
}

/** A bar whose parts have the colours of their kinds. */
export function paintShares(text: string, record: DailyRecord, colors: Palette): string {
  const chars = [...text];
  const columns = (minutes: number): number =>
    record.totalMinutes === 0 ? 0 : Math.round((minutes / record.totalMinutes) * chars.length);
  const first = columns(record.creationMinutes);
  const second = columns(record.creationMinutes + record.consumptionMinutes);
  return (
    colors.creation(chars.slice(0, first).join('')) +
    colors.consumption(chars.slice(first, second).join('')) +
    colors.neutral(chars.slice(second).join(''))
  );
}

/** A name from elsewhere on one line; one that is empty is said as unknown. */
export function nameOf(text: string): string {
  const name = clean(text).trim();
  return name === '' ? 'unknown' : name;
}
