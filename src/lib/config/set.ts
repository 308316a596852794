import { homedir } from 'node:os';
import { isDeepStrictEqual } from 'node:util';

import { StewardError } from '../errors';
import { exists } from '../platform/files/folder';
import { clean } from '../platform/terminal/terminal';
import { CONFIG_FILES, ENVIRONMENT, allKeys, candidates, dottedKey, fileOfKey, whatIsWrong } from './files';
import { type AnyLeaf, isCleanText, isLeaf, leavesOf, nodeAt } from './leaf';
import type { LoadedConfig, Origin } from './load';
import { REDACTED } from './secret';
import type { UserArea } from './user-area';
import { valueAt } from './edit';
import { changeConfig, type WriteDeps } from './write';

export interface KeyInput {
  /** Dotted, with the prefix of its owner: `sense.pollIntervalSec`. */
  key: string;
  dryRun?: boolean;
}

export interface SetInput extends KeyInput {
  /** As typed: JSON, a plain text, or a list with commas, whichever fits the key. */
  value: string;
}

export interface SetResult {
  key: string;
  /** The file that owns the key. */
  file: string;
  /** Null: the file did not have it. */
  before: unknown;
  /** The value now; the default where the file does not have the key. */
  after: unknown;
  changed: boolean;
  dryRun: boolean;
  /** A variable that stands over what was set; null when none does. */
  overriddenBy: string | null;
}

export type SetDeps = WriteDeps & { env?: NodeJS.ProcessEnv; home?: string };

/**
 * Sets one key. An unknown key, a value that does not fit, or a new item of a list that the machine does not have is
 * `usage`; secrets come back redacted.
 */
export async function setConfig(deps: SetDeps, input: SetInput): Promise<SetResult> {
  const leaf = await knownLeaf(input.key);
  const value = fitting(input.key, leaf, input.value);
  return change(deps, input, leaf, (stored) => {
    const known = itemsOf(stored);
    for (const item of itemsOf(value)) if (!known.includes(item)) refuse(deps, input.key, leaf, item);
    return value;
  });
}

/** Takes one key out of its file, so that its default counts again. */
export async function unsetConfig(deps: SetDeps, input: KeyInput): Promise<SetResult> {
  return change(deps, input, await knownLeaf(input.key), () => undefined);
}

/** Adds one item to a list; an item that is there already changes nothing. */
export async function addToConfig(deps: SetDeps, input: SetInput): Promise<SetResult> {
  const leaf = await knownLeaf(input.key);
  const item = itemFrom(deps, input, leaf);
  return change(deps, input, leaf, (stored) => {
    const list = listIn(deps, input.key, leaf, stored);
    if (list.some((known) => resolved(deps, input.key, leaf, known) === item)) return stored;
    refuse(deps, input.key, leaf, item);
    return [...list, item];
  });
}

/** Removes one item from a list; one that is not in it is `not_found`. */
export async function removeFromConfig(deps: SetDeps, input: SetInput): Promise<SetResult> {
  const leaf = await knownLeaf(input.key);
  const item = itemFrom(deps, input, leaf);
  return change(deps, input, leaf, (stored) => {
    const list = listIn(deps, input.key, leaf, stored);
    const rest = list.filter((known) => resolved(deps, input.key, leaf, known) !== item);
    if (rest.length < list.length) return rest;
    throw new StewardError('not_found', `${clean(item)} is not in ${input.key}.`, {
      hint: list.length === 0 ? 'The list is empty.' : `The list is: ${clean(list.join(', '))}`,
    });
  });
}

/** The leaf of a key that a person typed; an unknown key or a section is `usage`, with what may have been meant. */
export async function knownLeaf(key: string): Promise<AnyLeaf> {
  const { file, path } = fileOfKey(key);
  const node = nodeAt(file.keys, path);
  if (isLeaf(node)) return node;
  if (node !== undefined) {
    const inside = leavesOf(node, path).map((found) => dottedKey(file, found.path));
    throw new StewardError('usage', `${key} is a section, not a key.`, {
      hint: `Its keys are ${inside.join(', ')}.`,
    });
  }
  throw new StewardError('usage', `There is no key ${JSON.stringify(key)} in the configuration.`, {
    hint: `${await suggestion(key)}\`steward config show\` lists every key.`,
  });
}

async function change(
  deps: SetDeps,
  { key, dryRun = false }: KeyInput,
  leaf: AnyLeaf,
  to: (stored: unknown) => unknown,
): Promise<SetResult> {
  const changed = await changeConfig(deps, [{ key, to }], { dryRun });
  const own = changed.find((one) => one.key === key);
  if (own === undefined) throw new StewardError('internal', `${key} was not set.`);
  return {
    key,
    file: own.path,
    before: shown(leaf, own.before),
    after: shown(leaf, own.after ?? leaf.fallback(hostOf(deps))),
    changed: changed.some(({ before, after }) => !isDeepStrictEqual(before, after)),
    dryRun,
    overriddenBy: overriddenBy(key, deps.env ?? process.env),
  };
}

function fitting(key: string, leaf: AnyLeaf, text: string): unknown {
  const value = candidates(text).find((candidate) => whatIsWrong(leaf, candidate) === undefined);
  if (value !== undefined) return value;
  throw new StewardError('usage', `${key}${whatIsWrong(leaf, text) ?? ' does not fit'}.`, {
    hint: 'Nothing was written; give a value that fits.',
  });
}

function itemsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** The list that a key holds; its default where the file does not have it. */
function listIn(deps: SetDeps, key: string, leaf: AnyLeaf, stored: unknown): string[] {
  const value = stored ?? leaf.fallback(hostOf(deps));
  if (Array.isArray(value) && !leaf.whole) return value.map(String);
  throw new StewardError(
    'usage',
    `${key} is ${leaf.whole ? 'a program with its arguments' : 'not a list'}.`,
    {
      hint: `Set it as a whole: steward config set ${key} ${leaf.whole ? `'["PROGRAM", "ARGUMENT"]'` : 'VALUE'}`,
    },
  );
}

/** An item as a list stores it: a path is absolute. */
function itemFrom(deps: SetDeps, { key, value }: SetInput, leaf: AnyLeaf): string {
  if (isCleanText(value)) return resolved(deps, key, leaf, value);
  throw new StewardError('usage', `The value for ${key} is empty or has more than one line.`, {
    hint: `${key} takes ${leaf.expected}.`,
  });
}

function resolved(deps: SetDeps, key: string, leaf: AnyLeaf, item: string): string {
  const [value = item] = itemsOf(leaf.resolve([item], hostOf(deps), key));
  return value;
}

function refuse(deps: SetDeps, key: string, leaf: AnyLeaf, item: string): void {
  const why = leaf.refuses?.(resolved(deps, key, leaf, item));
  if (why === undefined) return;
  throw new StewardError('usage', `${clean(item)}${why}.`, {
    hint: 'Nothing was written.',
  });
}

function hostOf({ area, home = homedir() }: SetDeps): { area: SetDeps['area']; home: string } {
  return { area, home };
}

async function suggestion(key: string): Promise<string> {
  const keys = allKeys();
  const isSense = (known: string): boolean => known.startsWith('sense.');
  const bySuffix = keys
    .filter((known) => known.endsWith(`.${key}`))
    .sort((one, other) => Number(isSense(other)) - Number(isSense(one)));
  if (bySuffix.length > 0) return `Did you mean ${bySuffix.join(' or ')}? `;
  const { closest, distance } = await import('fastest-levenshtein');
  const near = closest(key, keys);
  return distance(key, near) <= Math.max(2, key.length / 3) ? `Did you mean ${near}? ` : '';
}

function shown(leaf: AnyLeaf, stored: unknown): unknown {
  if (stored === undefined) return null;
  if (!leaf.secret) return stored;
  return stored === '' ? '' : REDACTED;
}

function overriddenBy(key: string, env: NodeJS.ProcessEnv): string | null {
  const found = ENVIRONMENT.find((entry) => entry.key === key && (env[entry.name] ?? '') !== '');
  return found?.name ?? null;
}

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
