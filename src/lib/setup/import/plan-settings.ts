import { isDeepStrictEqual } from 'node:util';

import { CONFIG_FILES, dottedKey } from '../../config/files';
import { leavesOf } from '../../config/key';
import type { LoadedConfig } from '../../config/load';
import { valueAt } from '../../config/nested';
import { whatIsWrong } from '../../config/validate';
import { changeConfig } from '../../config/write';
import { defaultConfig } from '../../config/load';
import { readText } from '../../platform/files/atomic-file';
import { isObject, parseObject } from '../../platform/files/json-object';
import type { Context } from '../../app/context';
import { unfit, type ImportKind, type PlannedItem } from './item';

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
  const { parseYaml } = await import('../../config/yaml-text');
  const parsed = await parseYaml(text);
  return 'value' in parsed && isObject(parsed.value) ? parsed.value : undefined;
}
