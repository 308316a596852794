import { isDeepStrictEqual } from 'node:util';

import { StewardError } from '../errors';
import { processHost } from '../platform/files/paths';
import { clean } from '../platform/terminal/terminal';
import { valueAt } from './edit';
import { ENVIRONMENT, allKeys, nodeOf, schemaKey } from './files';
import { type AnyLeaf, isCleanText, isLeaf, settingsOf } from './leaf';
import { fromText, type LoadedConfig, type Origin } from './load';
import { KEYS } from './schema';
import { REDACTED } from './secret';
import { type Machine } from './user-area';
import { changeConfig } from './write';

interface KeyInput {
  /** The dotted key with the prefix of its file, such as `sense.pollIntervalSec`. */
  key: string;
  dryRun?: boolean;
}

interface SetInput extends KeyInput {
  /** The argument as typed: JSON, plain text or a comma-separated list, depending on the key. */
  value: string;
}

type SetDeps = Machine & { env?: NodeJS.ProcessEnv; home?: string };

/**
 * Sets a key. Throws `usage` if the key is unknown, the value is invalid, or a new list item doesn't exist on
 * this machine.
 */
export async function setConfig(deps: SetDeps, input: SetInput): Promise<SetResult> {
  const target = await targetOf(deps, input.key);
  const { key } = target;
  const parsed = fromText(key, input.value);
  if ('wrong' in parsed) {
    throw new StewardError('usage', `${key}${parsed.wrong}.`, {
      hint: 'Nothing was written. Choose a valid value.',
    });
  }
  const { value } = parsed;
  return change(deps, input, target, (stored) => {
    const known = itemsOf(stored);
    for (const item of itemsOf(value))
      if (!known.includes(item)) checkItem(target, resolved(target, item), item);
    return value;
  });
}

/** Removes a key from its file, so that its default applies. */
export async function unsetConfig(deps: SetDeps, input: KeyInput): Promise<SetResult> {
  return change(deps, input, await targetOf(deps, input.key), () => undefined);
}

/** Adds an item to a list unless the list already has it. */
export async function addToConfig(deps: SetDeps, input: SetInput): Promise<SetResult> {
  const target = await targetOf(deps, input.key);
  return change(deps, input, target, (stored) => {
    const list = listIn(target, stored);
    const item = itemFrom(target, input.value);
    if (list.some((known) => resolved(target, known) === item)) return stored;
    checkItem(target, item, item);
    return [...list, item];
  });
}

/** Removes an item from a list. Throws `not_found` if it isn't in the list. */
export async function removeFromConfig(deps: SetDeps, input: SetInput): Promise<SetResult> {
  const target = await targetOf(deps, input.key);
  return change(deps, input, target, (stored) => {
    const list = listIn(target, stored);
    const item = itemFrom(target, input.value);
    const rest = list.filter((known) => resolved(target, known) !== item);
    if (rest.length < list.length) return rest;
    throw new StewardError('not_found', `${clean(item)} is not in ${target.key}.`, {
      hint: list.length === 0 ? 'The list is empty.' : `Its items: ${clean(list.join(', '))}.`,
    });
  });
}

async function targetOf({ area, home = processHost().home }: SetDeps, name: string) {
  const key = schemaKey(name);
  return { key, leaf: await knownLeaf(key), host: { area, home } };
}

type Target = Awaited<ReturnType<typeof targetOf>>;

/**
 * Returns the definition of a key. Throws `usage`, with a suggestion, if the key is unknown or names a
 * section.
 */
async function knownLeaf(key: string): Promise<AnyLeaf> {
  const node = nodeOf(key);
  if (isLeaf(node)) {
    if (node.setBy === undefined) return node;
    throw new StewardError('usage', `${key} is not a setting.`, { hint: node.setBy });
  }
  if (node !== undefined) {
    const keys = settingsOf(node, [key]).map(({ path }) => path.join('.'));
    throw new StewardError('usage', `${key} is a section, not a key.`, {
      hint: `Its keys: ${keys.join(', ')}.`,
    });
  }
  throw new StewardError('usage', `Unknown configuration key ${JSON.stringify(key)}.`, {
    hint: /^goals?\b/.test(key)
      ? 'Goals are not settings. See them, and how to add one, with "steward goals".'
      : `${await suggestion(key)}List all keys with "steward config show --all".`,
  });
}

async function change(
  deps: SetDeps,
  { dryRun = false }: KeyInput,
  { key, leaf, host }: Target,
  to: (stored: unknown) => unknown,
) {
  const changed = await changeConfig(deps, [{ key, to }], { dryRun });
  const [own] = changed;
  if (own === undefined) throw new StewardError('internal', `${key} was not set.`);
  const env = deps.env ?? process.env;
  return {
    key,
    file: own.path,
    before: shown(leaf, own.before),
    /** The new value, or the default if the key was removed from the file. */
    after: shown(leaf, own.after ?? leaf.fallback(host)),
    changed: changed.some(({ before, after }) => !isDeepStrictEqual(before, after)),
    dryRun,
    /** The environment variable that overrides the file, or null. */
    overriddenBy:
      ENVIRONMENT.find((entry) => entry.key === key && (env[entry.name] ?? '') !== '')?.name ?? null,
  };
}

export type SetResult = Awaited<ReturnType<typeof change>>;

function itemsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** Returns a key's stored or default list. Throws `usage` if the key doesn't hold a list of items. */
function listIn({ key, leaf, host }: Target, stored: unknown): string[] {
  const value = stored ?? leaf.fallback(host);
  if (Array.isArray(value) && !leaf.whole) return value.map(String);
  const what = leaf.whole ? 'can only be set as a whole' : 'is not a list';
  throw new StewardError('usage', `${key} ${what}.`, {
    hint: `Use "steward config set ${key} VALUE". It takes ${leaf.expected}.`,
  });
}

function itemFrom(target: Target, value: string): string {
  if (isCleanText(value)) return resolved(target, value);
  throw new StewardError('usage', `The value for ${target.key} is empty or has more than one line.`, {
    hint: `${target.key} takes ${target.leaf.expected}.`,
  });
}

function resolved({ key, leaf, host }: Target, item: string): string {
  const [value = item] = itemsOf(leaf.resolve([item], host, key));
  return value;
}

function checkItem({ leaf }: Target, resolvedItem: string, item: string): void {
  const problem = leaf.refuses?.(resolvedItem);
  if (problem === undefined) return;
  throw new StewardError('usage', `${clean(item)}${problem}.`, {
    hint: 'Nothing was written. Use the folder that contains .git.',
  });
}

async function suggestion(key: string): Promise<string> {
  const keys = allKeys();
  const bySuffix = keys.filter((known) => known.endsWith(`.${key}`));
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

export interface ShownValue {
  key: string;
  /** The value, or null if unset. A secret is redacted. */
  value: unknown;
  source: Origin['from'];
  /** The file's path or the environment variable's name; null for defaults and flags. */
  from: string | null;
}

/** Returns every key with its resolved value and origin. Secrets are redacted. */
export function shownConfig(loaded: LoadedConfig): ShownValue[] {
  const { user, settings, sense, work } = loaded.config;
  const all = { ...user, ...settings, sense, WORK: work };
  return settingsOf(KEYS).map(({ path, leaf }) => {
    const key = path.join('.');
    const value = valueAt(all, path);
    const origin = loaded.origins.get(key) ?? { from: 'default' };
    return {
      key,
      value: leaf.secret ? String(value) || null : (value ?? null),
      source: origin.from,
      from: origin.from === 'file' ? origin.path : origin.from === 'env' ? origin.name : null,
    };
  });
}

/** Returns one key in the same form as `shownConfig`. Throws `usage` if the key is unknown. */
export async function shownKey(loaded: LoadedConfig, key: string): Promise<ShownValue> {
  await knownLeaf(schemaKey(key));
  return shownConfig(loaded).find((shown) => shown.key === schemaKey(key)) as ShownValue;
}

/** Formats a value for scripts: one line per list item, and an empty string for an unset value. */
export function plainValue(value: unknown): string {
  if (value === null) return '';
  if (Array.isArray(value)) return value.map(plainValue).join('\n');
  return typeof value === 'object' ? JSON.stringify(value) : clean(String(value));
}

/** Formats a value for display: a comma-separated list, or a word for an empty list or an unset value. */
export function valueWords(value: unknown): string {
  if (value === null || value === undefined) return 'not set';
  const words = (item: unknown): string =>
    item === '' ? '""' : typeof item === 'object' ? JSON.stringify(item) : String(item);
  if (Array.isArray(value)) return value.map(words).join(', ') || 'none';
  if (typeof value === 'object') {
    const pairs = Object.entries(value).map(([name, item]) => `${name}: ${words(item)}`);
    return pairs.join(', ') || 'none';
  }
  return value === '' ? 'empty' : String(value);
}
