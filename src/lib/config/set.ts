import { homedir } from 'node:os';
import { isDeepStrictEqual } from 'node:util';

import { StewardError } from '../errors';
import { clean } from '../platform/terminal/terminal';
import { isCleanText } from './checks';
import { ENVIRONMENT, allKeys, dottedKey } from './files';
import { isLeaf, leavesOf, nodeAt, type AnyLeaf } from './key';
import { candidates } from './parse-value';
import { REDACTED } from './secret';
import { fileOfKey, whatIsWrong } from './validate';
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
  if (Array.isArray(value)) return value.map(String);
  throw new StewardError('usage', `${key} is not a list.`, {
    hint: `Set it as a whole: steward config set ${key} VALUE`,
  });
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
