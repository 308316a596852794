import { basename, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import type { Context } from '../../app/context';
import { CONFIG_FILES, dottedKey } from '../../config/files';
import { leavesOf } from '../../config/leaf';
import { type LoadedConfig, defaultConfig } from '../../config/load';
import { valueAt } from '../../config/edit';
import type { UserArea } from '../../config/user-area';
import { whatIsWrong } from '../../config/files';
import { changeConfig } from '../../config/write';
import { readBytes, readText } from '../../platform/files/atomic-file';
import { exists, listFolder, lstatOf } from '../../platform/files/folder';
import { isObject, parseObject } from '../../platform/files/json-object';
import { isDay } from '../../platform/time/time';
import { insightStore } from '../../sense/insight-reads';
import { readEventLine } from '../../sense/event';
import { type ImportKind, type PlannedItem, fileItem, unfit } from './item';

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
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.some((line) => !('invalid' in readEventLine(line))) ? undefined : 'it holds no events';
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

const MAX_BYTES = 1024 * 1024;

interface SettingsFile {
  kind: ImportKind;
  path: string;
  /** Which of steward's files has the same keys. */
  id: 'sense' | 'work' | 'workRepo';
  format: 'json' | 'yaml';
  /** Keys that are taken over; all of that file where left out. */
  only?: readonly string[];
}

/** The settings of sense and of work that a folder has, key by key: those that are set here to something else stay. */
export async function settingsItems(
  context: Context,
  loaded: LoadedConfig,
  file: SettingsFile,
): Promise<PlannedItem[]> {
  const text = readText(file.path, { maxBytes: MAX_BYTES });
  if (text === undefined) return [];
  const content = await contentOf(text, file);
  if (content === undefined) return [unfit(file.kind, file.path, 'it cannot be read')];
  const owner = CONFIG_FILES.find(({ id }) => id === file.id);
  if (owner === undefined) return [];
  return leavesOf(owner.keys).flatMap(({ path, leaf }): PlannedItem[] => {
    if (file.only !== undefined && !file.only.includes(path.join('.'))) return [];
    const value = valueAt(content, path);
    if (value === undefined) return [];
    const key = dottedKey(owner, path);
    const wrong = whatIsWrong(leaf, value);
    if (wrong !== undefined) return [{ ...unfit(file.kind, file.path, `${key}${wrong}`), to: key }];
    const [now, preset] = [loaded.config, defaultConfig(context.area)].map((config) =>
      valueAt(config[file.id], path),
    );
    return [settingItem(context, { kind: file.kind, from: file.path, key, value, now, preset })];
  });
}

function settingItem(
  context: Context,
  {
    kind,
    from,
    key,
    value,
    now,
    preset,
  }: { kind: ImportKind; from: string; key: string; value: unknown; now: unknown; preset: unknown },
): PlannedItem {
  const wanted =
    Array.isArray(value) && Array.isArray(now)
      ? [...new Set([...(now as unknown[]), ...(value as unknown[])])]
      : value;
  const take = async (): Promise<boolean> => {
    await changeConfig(context, [{ key, to: () => wanted }]);
    return true;
  };
  const item = { kind, from, to: key, take };
  if (isDeepStrictEqual(wanted, now)) return { ...item, state: 'there', why: 'it is set so already' };
  // Watched repositories are added to those that are watched; every other value that a person chose stays.
  if (key === 'sense.repos' || now === undefined || isDeepStrictEqual(now, preset))
    return { ...item, state: 'new', why: null };
  return { ...item, state: 'conflict', why: 'it is set to something else here, which stays' };
}

async function contentOf(
  text: string,
  { format, id }: SettingsFile,
): Promise<Record<string, unknown> | undefined> {
  const found = format === 'json' ? parseObject(text) : await fromYaml(text);
  if (found === undefined || id === 'sense') return found;
  // The specification writes these keys with WORK before them: as a section, or with a dot.
  const section = isObject(found['WORK']) ? found['WORK'] : {};
  const dotted = Object.entries(found).map(([key, value]) => [key.replace(/^WORK\./, ''), value]);
  const all = { ...(Object.fromEntries(dotted) as Record<string, unknown>), ...section };
  return id === 'workRepo' && all['repo'] === undefined ? { ...all, repo: all['REPO'] } : all;
}

async function fromYaml(text: string): Promise<Record<string, unknown> | undefined> {
  const { parseYaml } = await import('../../config/text');
  const parsed = await parseYaml(text);
  return 'value' in parsed && isObject(parsed.value) ? parsed.value : undefined;
}
