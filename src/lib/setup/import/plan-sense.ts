import { basename, join } from 'node:path';

import type { UserArea } from '../../config/user-area';
import { exists, listFolder, lstatOf } from '../../platform/files/folder';
import { isObject, parseObject } from '../../platform/files/json-object';
import { readBytes, readText } from '../../platform/files/atomic-file';
import { isDay } from '../../platform/time/time';
import { insightStore } from '../../sense/insight-store';
import { lineReader } from '../../sense/log-line';
import { fileItem } from './copy-item';
import type { PlannedItem } from './item';

/** The logs, records and reads of a folder of sense; what a record's Markdown says is in the record. */
export async function senseItems(folder: string, { sense }: Pick<UserArea, 'sense'>): Promise<PlannedItem[]> {
  const items: PlannedItem[] = [];
  for (const day of daysIn(join(folder, 'events'), '.jsonl')) {
    const name = `${day}.jsonl`;
    const to = join(sense.events, name);
    const from = join(folder, 'events', name);
    // A raw log is discarded once its day is recorded and its retention is over: it is not fetched again.
    const isRecorded =
      !exists(to) &&
      exists(join(sense.daily, `${day}.json`)) &&
      !exists(join(folder, 'daily', `${day}.json`));
    const item = await fileItem('sense events', from, to, noEvents, beginsWith);
    items.push(
      isRecorded && item.state === 'new' ? { ...item, state: 'there', why: 'its day is recorded' } : item,
    );
  }
  for (const day of daysIn(join(folder, 'daily'), '.json')) items.push(await recordItem(folder, day, sense));
  const reads = insightStore(join(folder, 'insights'));
  for (const day of daysIn(join(folder, 'insights'), '.json')) {
    const name = `${day}.json`;
    const isRead = (): string | undefined =>
      reads.read(day).read === null ? 'it has another shape than a read of steward' : undefined;
    items.push(
      await fileItem('sense insights', join(folder, 'insights', name), join(sense.insights, name), isRead),
    );
  }
  return items;
}

function recordItem(folder: string, day: string, sense: UserArea['sense']): Promise<PlannedItem> {
  const name = `${day}.json`;
  const hasLog = lstatOf(join(folder, 'events', `${day}.jsonl`))?.isFile === true;
  return fileItem(
    'sense records',
    join(folder, 'daily', name),
    join(sense.daily, name),
    (text) => {
      if (isRecord(text)) return undefined;
      return hasLog
        ? 'it has another shape; steward makes it anew from the events of its day'
        : 'it has another shape than a record of steward';
    },
    sameRecord,
  );
}

function daysIn(folder: string, end: string): string[] {
  return listFolder(folder)
    .filter((name) => name.endsWith(end) && isDay(basename(name, end)))
    .map((name) => basename(name, end))
    .sort();
}

/** A log without one event is none. Lines that are no events are set aside when the day is recorded. */
function noEvents(text: string): string | undefined {
  const { read } = lineReader();
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.some((line) => !('invalid' in read(line))) ? undefined : 'it holds no events';
}

function isRecord(text: string): boolean {
  const value = parseObject(text);
  if (value === undefined) return false;
  const numbers = ['totalMinutes', 'creationMinutes', 'consumptionMinutes', 'neutralMinutes'];
  return (
    typeof value['date'] === 'string' &&
    numbers.every((key) => typeof value[key] === 'number') &&
    Array.isArray(value['apps']) &&
    Array.isArray(value['hours']) &&
    isObject(value['commits']) &&
    isObject(value['sessions'])
  );
}

/** The same but for when it was made. */
function sameRecord(from: string, to: string): boolean {
  const content = (path: string): string =>
    JSON.stringify({ ...parseObject(readText(path) ?? ''), generatedAt: null });
  return content(from) === content(to);
}

/** What was imported, and has grown since. */
function beginsWith(from: string, to: string): boolean {
  const [old, now] = [readBytes(from), readBytes(to)];
  return old !== undefined && now !== undefined && now.subarray(0, old.length).equals(old);
}
