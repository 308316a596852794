import * as v from 'valibot';

import { isObject, parseJson } from '../platform/files/json-object';
import { clean, truncated } from '../platform/terminal/terminal';
import { type AnyLeaf, type Tree, isLeaf, nodeAt, settingsOf } from './leaf';
import { KEYS, SENSE_KEYS, SETTINGS_KEYS, SYNC_STATE, USER_KEYS, WORK_KEYS, WORK_REPO_KEYS } from './schema';
import type { UserArea } from './user-area';

/** Environment variables, and the configuration keys that they override. */
export const ENVIRONMENT: readonly { name: string; key: string }[] = [
  { name: 'STEWARD_TIMEZONE', key: 'timezone' },
  { name: 'STEWARD_MANAGED_URL', key: 'agents.managed.url' },
  { name: 'STEWARD_MANAGED_API_KEY', key: 'agents.managed.apiKey' },
  { name: 'STEWARD_TELEGRAM_SERVER', key: 'notifications.telegram.server' },
  { name: 'STEWARD_HOST', key: 'daemon.host' },
  { name: 'STEWARD_PORT', key: 'daemon.port' },
];

/** The file format that this version writes. Files with a newer format are read-only. */
export const FORMAT = 1;

export interface ConfigFile {
  /** Path relative to the user area. */
  name: string;
  path: (area: UserArea) => string;
  /** Prefix of the file's keys in `config set` and `config show`. The file itself omits the prefix. */
  prefix: string;
  keys: Tree;
}

/** Which folder is exchanged, and how. */
export const SYNC_PLACE = 'state/sync.json';

const { repo, enabled } = WORK_REPO_KEYS;

/** The one file that settings are written to. */
export const CONFIG = file(
  'config.yaml',
  '',
  {
    ...USER_KEYS,
    notifications: SETTINGS_KEYS.notifications,
    sense: SENSE_KEYS,
    WORK: { ...WORK_KEYS, repo, enabled },
  },
  (area) => area.config,
);

/**
 * All files in the order in which they are read. The first file that may hold a key owns it; a value in a later
 * file, where the specification or an earlier version has it, overrides the owner's until it is moved.
 */
export const CONFIG_FILES: readonly ConfigFile[] = [
  file(SYNC_PLACE, '', { sync: SYNC_STATE }, (area) => area.syncPlace),
  CONFIG,
  file('settings.json', '', SETTINGS_KEYS, (area) => area.settings),
  file('sense/config.json', 'sense', SENSE_KEYS, (area) => area.sense.config),
  file('work/config.yaml', 'WORK', WORK_KEYS, (area) => area.work.config),
  file('work/work_repo.json', 'WORK', WORK_REPO_KEYS, (area) => area.work.repo),
];

/** Returns the paths of the files that `loadConfig` reads. */
export function configPaths(area: UserArea): string[] {
  return CONFIG_FILES.map((file) => file.path(area));
}

function file(name: string, prefix: string, keys: Tree, path: ConfigFile['path']): ConfigFile {
  return { name, path, prefix, keys };
}

/** Returns the path of a key in a file, or undefined if the file may not hold it. */
export function pathIn({ prefix, keys }: ConfigFile, key: string): string[] | undefined {
  const path = key.split('.');
  if (prefix !== '' && path.shift() !== prefix) return undefined;
  return isLeaf(nodeAt(keys, path)) ? path : undefined;
}

/** Returns the files that may hold a key. The first one owns it. */
export function holdersOf(key: string): ConfigFile[] {
  return CONFIG_FILES.filter((file) => pathIn(file, key) !== undefined);
}

export function dottedKey({ prefix }: ConfigFile, path: readonly string[]): string {
  return [...(prefix === '' ? [] : [prefix]), ...path].join('.');
}

/** Returns the key that the specification calls `WORK.REPO` or `daidentity.…`, or the key itself. */
export function schemaKey(key: string): string {
  return key
    .replace(/(?<=^WORK\.)(?:REPO|ENABLED)$/, (name) => name.toLowerCase())
    .replace(/^daidentity\./, 'da.');
}

/** Returns the definition of a key in the schema's spelling, or the section with this name. */
export function nodeOf(key: string): AnyLeaf | Tree | undefined {
  return nodeAt(KEYS, key.split('.'));
}

/** Returns all settings by their dotted keys. */
export function allKeys(): string[] {
  return settingsOf(KEYS).map(({ path }) => path.join('.'));
}

export function isAtTop({ name }: ConfigFile): boolean {
  return !name.includes('/');
}

export function isYaml({ name }: ConfigFile): boolean {
  return name.endsWith('.yaml');
}

/** A file's values by dotted key. `problems` stop the program; `warnings` don't. */
export interface CheckedFile {
  values: Map<string, unknown>;
  problems: string[];
  warnings: string[];
}

export function checkContent(file: ConfigFile, content: unknown): CheckedFile {
  const checked: CheckedFile = { values: new Map(), problems: [], warnings: [] };
  if (content === undefined || (content === null && isYaml(file))) return checked;
  if (!isObject(content)) {
    checked.problems.push(`expected key-value pairs at the top level, found ${typeWords(content)}`);
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
    if (node === undefined) noteUnknown(here, checked);
    else if (isLeaf(node)) checkLeaf(file, node, value, here, checked);
    else if (isObject(value)) checkTree(file, node, value, here, checked);
    // A section is null if all its keys are commented out.
    else if (!(value === null && isYaml(file))) {
      const nested = Object.keys(node).join(', ');
      checked.problems.push(
        `${here.join('.')}: expected key-value pairs (${nested}), found ${typeWords(value)}`,
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
 * item, the text begins with the item's index, and with the item's key if the check says what it expects there.
 */
export function whatIsWrong(leaf: AnyLeaf, value: unknown): string | undefined {
  const result = v.safeParse(leaf.check(), value);
  if (result.success) return undefined;
  const { path = [], message } = result.issues[0];
  const isExact = message.startsWith('expected ');
  const inside = isExact ? path : Array.isArray(value) ? path.slice(0, 1) : [];
  const place = inside.map(({ key }) => (typeof key === 'number' ? `[${key}]` : `.${clean(String(key))}`));
  const found = describe(inside.length === 0 ? value : inside.at(-1)?.value, leaf.quiet);
  return `${place.join('')}: ${isExact ? message : `expected ${leaf.expected}`}, found ${found}`;
}

function noteUnknown(path: readonly string[], checked: CheckedFile): void {
  const key = clean(path.join('.'));
  const places: [string, Tree][] = [
    ['', CONFIG.keys],
    ['sense.', KEYS.sense],
    ['WORK.', KEYS.WORK],
  ];
  const place = path.length === 1 ? places.find(([, keys]) => Object.hasOwn(keys, path[0] ?? '')) : undefined;
  if (place === undefined) checked.warnings.push(`${key}: unknown key, ignored`);
  else checked.problems.push(`${key}: this key belongs in config.yaml as ${place[0]}${key}; move it there`);
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

/**
 * Returns the values that a text may represent, in the order to try: JSON, the text itself, a boolean for
 * `on` or `off`, a comma-separated list.
 */
export function candidates(text: string): unknown[] {
  const asList = text.trim() === '' ? [] : text.split(',').map((item) => item.trim());
  const asSwitch = text === 'on' || text === 'off' ? [text === 'on'] : [];
  return [parseJson(text), text, ...asSwitch, asList].filter((value) => value !== undefined);
}
