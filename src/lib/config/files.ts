import * as v from 'valibot';

import { isObject } from '../platform/files/json-object';
import { clean, truncated } from '../platform/terminal/terminal';
import { type AnyLeaf, type Tree, isLeaf, settingsOf } from './leaf';
import { type Config, SENSE_KEYS, SETTINGS_KEYS, USER_KEYS, WORK_KEYS, WORK_REPO_KEYS } from './schema';
import type { UserArea } from './user-area';

/** Environment variables, and the configuration keys that they override. */
export const ENVIRONMENT: readonly { name: string; key: string }[] = [
  { name: 'STEWARD_TIMEZONE', key: 'timezone' },
  { name: 'STEWARD_MANAGED_URL', key: 'agents.managed.url' },
  { name: 'STEWARD_MANAGED_API_KEY', key: 'agents.managed.apiKey' },
  { name: 'STEWARD_HOST', key: 'daemon.host' },
  { name: 'STEWARD_PORT', key: 'daemon.port' },
];

/** The file format that this version writes. Files with a newer format are read-only. */
export const FORMAT = 1;

export interface ConfigFile {
  /** Name of the file's section in the resolved configuration. */
  id: keyof Config;
  /** Path relative to the user area. */
  name: string;
  path: (area: UserArea) => string;
  format: 'yaml' | 'json';
  /** Prefix of the file's keys in `config set` and `config show`. The file itself omits the prefix. */
  prefix: string;
  keys: Tree;
  /** Whether the file may be a symbolic link that the user created. */
  followLink: boolean;
  /** Similar file names that a user may use by mistake. steward doesn't read such files. */
  notRead: readonly string[];
}

function file(
  id: keyof Config,
  name: string,
  prefix: string,
  keys: Tree,
  path: ConfigFile['path'],
): ConfigFile {
  const format = name.endsWith('.yaml') ? 'yaml' : 'json';
  const notRead = format === 'yaml' ? ['config.yml', 'config.json'] : [];
  return { id, name, path, format, prefix, keys, followLink: prefix === '', notRead };
}

export const CONFIG_FILES: readonly ConfigFile[] = [
  file('user', 'config.yaml', '', USER_KEYS, (area) => area.config),
  file('settings', 'settings.json', '', SETTINGS_KEYS, (area) => area.settings),
  file('sense', 'sense/config.json', 'sense', SENSE_KEYS, (area) => area.sense.config),
  file('work', 'work/config.yaml', 'WORK', WORK_KEYS, (area) => area.work.config),
  file('workRepo', 'work/work_repo.json', 'WORK', WORK_REPO_KEYS, (area) => area.work.repo),
];

export function dottedKey(file: ConfigFile, path: readonly string[]): string {
  return [...(file.prefix === '' ? [] : [file.prefix]), ...path].join('.');
}

/** Returns all settings, each with the prefix of its file. */
export function allKeys(): string[] {
  return CONFIG_FILES.flatMap((file) => settingsOf(file.keys).map(({ path }) => dottedKey(file, path)));
}

/** A file's values by dotted key. `problems` stop the program; `warnings` don't. */
interface CheckedFile {
  values: Map<string, unknown>;
  problems: string[];
  warnings: string[];
}

export function checkContent(file: ConfigFile, content: unknown): CheckedFile {
  const checked: CheckedFile = { values: new Map(), problems: [], warnings: [] };
  if (content === undefined || (content === null && file.format === 'yaml')) return checked;
  if (!isObject(content)) {
    checked.problems.push(`expected ${keysAndValues(file)} at the top level, found ${typeWords(content)}`);
    return checked;
  }
  const { version, ...rest } = content;
  if (version !== undefined) checkVersion(version, checked);
  checkTree(file, file.keys, rest, [], checked);
  return checked;
}

function checkVersion(version: unknown, checked: CheckedFile): void {
  if (typeof version !== 'number' || !Number.isInteger(version) || version < 1) {
    checked.problems.push(`version: expected a positive whole number, found ${describe(version, false)}`);
    return;
  }
  if (version > FORMAT) {
    checked.warnings.push(
      `format ${version} is newer than this version of steward supports (${FORMAT}), so the file is read-only`,
    );
  }
}

function checkTree(
  file: ConfigFile,
  tree: Tree,
  content: Record<string, unknown>,
  path: readonly string[],
  checked: CheckedFile,
): void {
  for (const [name, value] of Object.entries(content)) {
    const here = [...path, name];
    const node = Object.hasOwn(tree, name) ? tree[name] : undefined;
    if (node === undefined) noteUnknown(file, here, checked);
    else if (isLeaf(node)) checkLeaf(file, node, value, here, checked);
    else if (isObject(value)) checkTree(file, node, value, here, checked);
    // A section is null if all its keys are commented out.
    else if (!(value === null && file.format === 'yaml')) {
      const nested = Object.keys(node).join(', ');
      checked.problems.push(
        `${here.join('.')}: expected ${keysAndValues(file)} (${nested}), found ${typeWords(value)}`,
      );
    }
  }
}

function checkLeaf(
  file: ConfigFile,
  leaf: AnyLeaf,
  value: unknown,
  path: readonly string[],
  checked: CheckedFile,
): void {
  const wrong = whatIsWrong(leaf, value);
  if (wrong === undefined) checked.values.set(dottedKey(file, path), value);
  else checked.problems.push(`${path.join('.')}${wrong}`);
}

/**
 * Returns `: expected …, found …` for an invalid value, or undefined for a valid value. For an invalid list
 * item, the text begins with the item's index.
 */
export function whatIsWrong(leaf: AnyLeaf, value: unknown): string | undefined {
  const result = v.safeParse(leaf.check, value);
  if (result.success) return undefined;
  const item = result.issues[0].path?.[0];
  const inList = Array.isArray(value) && item !== undefined;
  const found = describe(inList ? item.value : value, leaf.quiet);
  return `${inList ? `[${String(item.key)}]` : ''}: expected ${leaf.expected}, found ${found}`;
}

function noteUnknown(file: ConfigFile, path: readonly string[], checked: CheckedFile): void {
  const top = path[0] ?? '';
  const isOwner = ({ prefix, keys }: ConfigFile): boolean => prefix === top || Object.hasOwn(keys, top);
  const owner = path.length === 1 ? CONFIG_FILES.find(isOwner) : undefined;
  const key = clean(path.join('.'));
  if (owner === undefined || owner === file) checked.warnings.push(`${key}: unknown key, ignored`);
  else checked.problems.push(`${key}: this key belongs in ${owner.name}; move it there`);
}

/** Returns the file that a dotted key belongs to, and the key's path in that file. */
export function fileOfKey(key: string): { file: ConfigFile; path: string[] } {
  const parts = key.split('.');
  const owners = CONFIG_FILES.filter((file) => file.prefix !== '' && file.prefix === parts[0]);
  const [, name = ''] = parts;
  for (const spelling of [name, name.toLowerCase()]) {
    const owner = owners.find(({ keys }) => Object.hasOwn(keys, spelling));
    if (owner !== undefined) return { file: owner, path: [spelling, ...parts.slice(2)] };
  }
  if (owners[0] !== undefined) return { file: owners[0], path: parts.slice(1) };
  const open = CONFIG_FILES.filter((file) => file.prefix === '');
  const file = open.find(({ keys }) => Object.hasOwn(keys, parts[0] ?? '')) ?? open[0];
  return { file: file as ConfigFile, path: parts };
}

/** Formats a value for a message, sanitized and shortened. If `quiet` is true, returns only the type. */
function describe(value: unknown, quiet: boolean): string {
  if (quiet || value === null || typeof value === 'object' || value === undefined) return typeWords(value);
  return truncated(clean(JSON.stringify(value)), 60);
}

function typeWords(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'key-value pairs';
  if (typeof value === 'string') return value === '' ? 'an empty string' : 'a string';
  return typeof value === 'boolean' ? 'true or false' : 'a number';
}

function keysAndValues(file: ConfigFile): string {
  return file.format === 'json' ? 'an object with keys' : 'key-value pairs';
}

/**
 * Returns the values that a text may represent, in the order to try: JSON, the text itself, a boolean for
 * `on` or `off`, a comma-separated list.
 */
export function candidates(text: string): unknown[] {
  const asList = text.trim() === '' ? [] : text.split(',').map((item) => item.trim());
  const asSwitch = text === 'on' || text === 'off' ? [text === 'on'] : [];
  return [...asJson(text), text, ...asSwitch, asList];
}

function asJson(text: string): unknown[] {
  try {
    return [JSON.parse(text) as unknown];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}
