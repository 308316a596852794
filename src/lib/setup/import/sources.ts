import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import type { Context } from '../../app/context';
import { whatIsWrong } from '../../config/files';
import { leavesOf, type Tree } from '../../config/leaf';
import { defaultConfig, type LoadedConfig } from '../../config/load';
import { valueAt } from '../../config/edit';
import { SENSE_KEYS, WORK_KEYS, WORK_REPO_KEYS } from '../../config/schema';
import type { UserArea } from '../../config/user-area';
import { setKeys } from '../../config/write';
import { readBytes, readText } from '../../platform/files/atomic-file';
import { daysIn } from '../../platform/files/day-files';
import { exists, lstatOf } from '../../platform/files/folder';
import { isObject, parseObject } from '../../platform/files/json-object';
import { readObject } from '../../platform/files/object-file';
import { insightStore } from '../../sense/insight-reads';
import { readEventLine } from '../../time/event';
import { fileItem, unfit, type ImportKind, type PlannedItem } from './item';

/** Plans the import of the event logs, records and insights in a sense folder. */
export async function senseItems(folder: string, { sense }: Pick<UserArea, 'sense'>): Promise<PlannedItem[]> {
  const items: PlannedItem[] = [];
  for (const day of daysIn(join(folder, 'events'), '.jsonl')) {
    const [from, to] = [join(folder, 'events', `${day}.jsonl`), join(sense.events, `${day}.jsonl`)];
    const item = await fileItem('sense events', from, to, noEvents, beginsWith);
    // If a day has a record but no event log, the log was deleted after its retention period. Don't restore
    // the log.
    const record = `${day}.json`;
    const isRecorded =
      !exists(to) && exists(join(sense.daily, record)) && !exists(join(folder, 'daily', record));
    const isOld = isRecorded && item.state === 'new';
    items.push(isOld ? { ...item, state: 'there', why: 'this day already has a record' } : item);
  }
  for (const day of daysIn(join(folder, 'daily'))) {
    const name = `${day}.json`;
    const hasLog = lstatOf(join(folder, 'events', `${day}.jsonl`))?.isFile === true;
    const wrong = hasLog
      ? "not a steward record; it will be rebuilt from the day's events"
      : 'not a steward record';
    const [from, to] = [join(folder, 'daily', name), join(sense.daily, name)];
    const problem = (text: string): string | undefined => (isRecord(text) ? undefined : wrong);
    items.push(await fileItem('sense records', from, to, problem, sameRecord));
  }
  const reads = insightStore(join(folder, 'insights'));
  for (const day of daysIn(join(folder, 'insights'))) {
    const [from, to] = [join(folder, 'insights', `${day}.json`), join(sense.insights, `${day}.json`)];
    const problem = (): string | undefined =>
      reads.read(day).read === null ? 'not a steward insight' : undefined;
    items.push(await fileItem('sense insights', from, to, problem));
  }
  return items;
}

/**
 * Returns a problem if a log contains no valid event. A few invalid lines are acceptable, because the rollup
 * quarantines them.
 */
function noEvents(text: string): string | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.some((line) => !('invalid' in readEventLine(line))) ? undefined : 'contains no valid events';
}

function isRecord(text: string): boolean {
  const value = parseObject(text) ?? {};
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

function sameRecord(from: string, to: string): boolean {
  const content = (path: string) => ({ ...readObject(path), generatedAt: null });
  return isDeepStrictEqual(content(from), content(to));
}

/** Returns whether the target is the same log, possibly with more lines appended. */
function beginsWith(from: string, to: string): boolean {
  const [old, now] = [readBytes(from), readBytes(to)];
  return old !== undefined && now !== undefined && now.subarray(0, old.length).equals(old);
}

const MAX_BYTES = 1024 * 1024;

/** The keys to import. Not the privacy of the work repository, because steward must verify it itself. */
const IMPORTED: Record<'sense' | 'work' | 'workRepo', { prefix: string; keys: Tree }> = {
  sense: { prefix: 'sense', keys: SENSE_KEYS },
  work: { prefix: 'WORK', keys: WORK_KEYS },
  workRepo: { prefix: 'WORK', keys: { repo: WORK_REPO_KEYS.repo } },
};

/** Plans the import of a settings file, key by key. Keeps values that you have set. */
export function settingsItems(context: Context, { config }: LoadedConfig) {
  return async (kind: ImportKind, path: string, id: keyof typeof IMPORTED): Promise<PlannedItem[]> => {
    const text = readText(path, { maxBytes: MAX_BYTES });
    if (text === undefined) return [];
    const content = await contentOf(text, path, id);
    if (content === undefined) return [unfit(kind, path, 'cannot be parsed')];
    const { prefix, keys } = IMPORTED[id];
    return leavesOf(keys).flatMap(({ path: names, leaf }): PlannedItem[] => {
      const value = valueAt(content, names);
      if (value === undefined) return [];
      const key = [prefix, ...names].join('.');
      const wrong = whatIsWrong(leaf, value);
      if (wrong !== undefined) return [{ ...unfit(kind, path, `${key}${wrong}`), to: key }];
      const [now, preset] = [config, defaultConfig(context.area)].map((from) => valueAt(from[id], names));
      return [settingItem(context, { kind, from: path, to: key }, { value, now, preset })];
    });
  };
}

function settingItem(
  context: Context,
  about: { kind: ImportKind; from: string; to: string },
  { value, now, preset }: { value: unknown; now: unknown; preset: unknown },
): PlannedItem {
  const isList = Array.isArray(value) && Array.isArray(now);
  const imported = isList ? [...new Set([...(now as unknown[]), ...(value as unknown[])])] : value;
  const take = async (): Promise<boolean> => {
    await setKeys(context, { [about.to]: imported });
    return true;
  };
  if (isDeepStrictEqual(imported, now))
    return { ...about, take, state: 'there', why: 'already set to this value' };
  if (about.to === 'sense.repos' || now === undefined || isDeepStrictEqual(now, preset))
    return { ...about, take, state: 'new', why: null };
  return { ...about, take, state: 'conflict', why: 'you already set a different value' };
}

async function contentOf(text: string, path: string, id: string) {
  const found = path.endsWith('.json') ? parseObject(text) : await fromYaml(text);
  if (found === undefined || id === 'sense') return found;
  const section = isObject(found['WORK']) ? found['WORK'] : {};
  const dotted = Object.entries(found).map(([key, value]) => [key.replace(/^WORK\./, ''), value]);
  const all = { ...(Object.fromEntries(dotted) as Record<string, unknown>), ...section };
  return id === 'workRepo' && all['repo'] === undefined ? { ...all, repo: all['REPO'] } : all;
}

async function fromYaml(text: string): Promise<Record<string, unknown> | undefined> {
  const { parseYaml } = await import('../../platform/files/yaml-document');
  const parsed = await parseYaml(text);
  return 'value' in parsed && isObject(parsed.value) ? parsed.value : undefined;
}
