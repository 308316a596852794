import { StewardError } from '../errors';
import { exists } from '../platform/files/folder';
import { clean } from '../platform/terminal/terminal';
import { CONFIG_FILES, dottedKey } from './files';
import { leavesOf } from './key';
import type { LoadedConfig, Origin } from './load';
import { valueAt } from './nested';
import { knownLeaf } from './set';
import { fileOfKey } from './validate';
import type { UserArea } from './user-area';

export interface ShownValue {
  key: string;
  /** null: not set. A secret is redacted. */
  value: unknown;
  source: Origin['from'];
  /** The file's path or the variable's name; null for a default or a flag. */
  from: string | null;
}

/** Every key with its resolved value and where that comes from; secrets only say whether they are set. */
export function shownConfig(loaded: LoadedConfig): ShownValue[] {
  return CONFIG_FILES.flatMap((file) =>
    leavesOf(file.keys).map(({ path, leaf }) => {
      const key = dottedKey(file, path);
      const value = valueAt(loaded.config[file.id], path);
      const origin = loaded.origins.get(key) ?? { from: 'default' };
      return {
        key,
        value: leaf.secret ? redacted(value) : (value ?? null),
        source: origin.from,
        from: placeOf(origin),
      };
    }),
  );
}

/** One key as `shownConfig` lists it; a key that is none is `usage`. */
export async function shownKey(loaded: LoadedConfig, key: string): Promise<ShownValue> {
  await knownLeaf(key);
  const { file, path } = fileOfKey(key);
  const found = shownConfig(loaded).find((shown) => shown.key === dottedKey(file, path));
  if (found === undefined) throw new StewardError('internal', `${key} has no value.`);
  return found;
}

/** A value for a script: a list one item a line, nothing for what is not set. */
export function plainValue(value: unknown): string {
  if (value === null) return '';
  if (Array.isArray(value)) return value.map(plainValue).join('\n');
  return typeof value === 'object' ? JSON.stringify(value) : clean(String(value));
}

export interface ConfigPlaces {
  userArea: string;
  exists: boolean;
  files: { name: string; path: string; exists: boolean }[];
}

export function configPlaces(area: UserArea): ConfigPlaces {
  return {
    userArea: area.root,
    exists: exists(area.root),
    files: CONFIG_FILES.map((file) => {
      const path = file.path(area);
      return { name: file.name, path, exists: exists(path) };
    }),
  };
}

/** A secret turns itself into its redacted form; an unset one into nothing. */
function redacted(value: unknown): string | null {
  const text = String(value);
  return text === '' ? null : text;
}

function placeOf(origin: Origin): string | null {
  if (origin.from === 'file') return origin.path;
  return origin.from === 'env' ? origin.name : null;
}

/** A value for a person: a list with commas, an empty one and an unset value in words. */
export function valueWords(value: unknown): string {
  if (value === null || value === undefined) return 'not set';
  if (Array.isArray(value))
    return value.length === 0 ? 'none' : value.map((item) => (item === '' ? '""' : String(item))).join(', ');
  if (typeof value === 'object') {
    const pairs = Object.entries(value).map(([name, text]) => `${name}: ${String(text)}`);
    return pairs.length === 0 ? 'none' : pairs.join(', ');
  }
  return value === '' ? 'empty' : String(value);
}
