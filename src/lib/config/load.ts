import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

import { StewardError } from '../errors';
import { exists, isOpenToOthers } from '../platform/files/folder';
import {
  CONFIG_FILES,
  ENVIRONMENT,
  dottedKey,
  type ConfigFile,
  candidates,
  checkContent,
  fileOfKey,
  whatIsWrong,
} from './files';
import { isLeaf, leavesOf, nodeAt, type AnyLeaf, type ResolveHost } from './leaf';
import { readConfigFile } from './text';
import type { Config } from './schema';
import { isSecretReference } from './secret';
import type { UserArea } from './user-area';

/** Where a value comes from. */
export type Origin =
  { from: 'default' } | { from: 'file'; path: string } | { from: 'env'; name: string } | { from: 'flag' };

export interface LoadInput {
  area: UserArea;
  /** The process's own by default. */
  env?: NodeJS.ProcessEnv;
  /** The user's home folder, for paths that begin with `~/`; the process's own by default. */
  home?: string;
  /** Values of flags by dotted key; they stand over everything else. */
  flags?: Readonly<Record<string, unknown>>;
  /** Reads one file alone, for what must not stop at a mistake in the others; their keys keep the defaults. */
  only?: ConfigFile['id'];
}

export interface LoadedConfig {
  config: Config;
  /** By dotted key, for every key. */
  origins: ReadonlyMap<string, Origin>;
  /** What a person should know and nothing stops at: unknown keys, open permissions . */
  warnings: string[];
}

/**
 * The one loader: config.yaml, settings.json and sense/config.json of the user area, then
 * the environment, then flags, over the defaults. A missing file is its defaults. Everything that is wrong,
 * in all files, is one `config` error; nothing is ever read from the current folder.
 */
export async function loadConfig(input: LoadInput): Promise<LoadedConfig> {
  const host: ResolveHost = { area: input.area, home: input.home ?? homedir() };
  const stored = new Map<string, unknown>();
  const origins = new Map<string, Origin>();
  const problems: string[] = [];
  const misset: string[] = [];
  let isUnreadable = false;
  const warnings: string[] = openToOthers(input.area);
  const take = (values: Iterable<[string, unknown]>, origin: Origin): void => {
    for (const [key, value] of values) {
      stored.set(key, value);
      origins.set(key, origin);
    }
  };
  for (const file of CONFIG_FILES.filter(({ id }) => id === (input.only ?? id))) {
    const path = file.path(input.area);
    const read = await readConfigFile(file, path);
    if ('problem' in read) {
      problems.push(`${path}: ${read.problem}`);
      isUnreadable = true;
      continue;
    }
    const checked = checkContent(file, read.content);
    problems.push(...checked.problems.map((problem) => `${path}: ${problem}`));
    warnings.push(...checked.warnings.map((warning) => `${path}: ${warning}`));
    warnings.push(...strayNames(file, path));
    if (holdsSecret(checked.values) && isOpenToOthers(path)) {
      warnings.push(`${path}: other users of this machine can read the secrets in it; run chmod 600 on it`);
    }
    take(checked.values, { from: 'file', path });
  }
  for (const { name, key } of ENVIRONMENT) {
    const value = (input.env ?? process.env)[name];
    if (value === undefined || value === '') continue;
    const fit = fromText(key, value);
    if ('value' in fit) take([[key, fit.value]], { from: 'env', name });
    else {
      misset.push(name);
      problems.push(`${name} (environment)${fit.wrong}`);
    }
  }
  take(checkFlags(input.flags ?? {}), { from: 'flag' });
  if (problems.length > 0) throw invalid(problems, isUnreadable, misset);
  return { config: resolveAll(stored, origins, host), origins, warnings };
}

/** The defaults alone, without reading anything. */
export function defaultConfig(area: UserArea, home: string = homedir()): Config {
  return resolveAll(new Map(), new Map(), { area, home });
}

/** Reads a text (a variable, an argument) as a key's value. */
export function fromText(key: string, text: string): { value: unknown } | { wrong: string } {
  const leaf = leafOf(key);
  if (leaf === undefined) throw new StewardError('internal', `${key} is not a key of the configuration.`);
  const fit = candidates(text).find((value) => whatIsWrong(leaf, value) === undefined);
  if (fit !== undefined) return { value: fit };
  return { wrong: whatIsWrong(leaf, text) ?? `: expected ${leaf.expected}` };
}

export function leafOf(key: string): AnyLeaf | undefined {
  const { file, path } = fileOfKey(key);
  const node = nodeAt(file.keys, path);
  return isLeaf(node) ? node : undefined;
}

function checkFlags(flags: Readonly<Record<string, unknown>>): [string, unknown][] {
  const set = Object.entries(flags).filter(([, value]) => value !== undefined);
  for (const [key, value] of set) {
    const leaf = leafOf(key);
    const wrong = leaf === undefined ? ' is not a key of the configuration' : whatIsWrong(leaf, value);
    if (wrong !== undefined) throw new StewardError('usage', `${key}${wrong}.`);
  }
  return set;
}

function resolveAll(
  stored: ReadonlyMap<string, unknown>,
  origins: Map<string, Origin>,
  host: ResolveHost,
): Config {
  const root: Record<string, unknown> = {};
  for (const file of CONFIG_FILES) {
    for (const { path, leaf } of leavesOf(file.keys)) {
      const key = dottedKey(file, path);
      const value = stored.has(key) ? stored.get(key) : leaf.fallback(host);
      if (!origins.has(key)) origins.set(key, { from: 'default' });
      place(root, [file.id, ...path], leaf.resolve(value, host, key));
    }
  }
  // The trees give the shape: schema.ts derives the type of Config from the same ones.
  return root as unknown as Config;
}

function place(root: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let at = root;
  path.slice(0, -1).forEach((name) => {
    at = (at[name] ??= {}) as Record<string, unknown>;
  });
  at[path[path.length - 1] as string] = value;
}

/** @param misset variables of the environment with a wrong value; a problem each */
function invalid(
  problems: readonly string[],
  isUnreadable: boolean,
  misset: readonly string[],
): StewardError {
  const count = problems.length === 1 ? 'A problem' : `${problems.length} problems`;
  const list = problems.map((problem) => `\n  ${problem}`).join('');
  const remedies = [
    ...(misset.length === 0 ? [] : [`Unset or correct ${misset.join(', ')}`]),
    // A file that does not parse is one that `config set` does not change.
    ...(problems.length === misset.length
      ? []
      : [
          `Correct what is named, in the file itself${isUnreadable ? '' : ' or with `steward config set KEY VALUE`'}`,
        ]),
  ];
  return new StewardError('config', `${count} in the configuration:${list}`, {
    hint: `${remedies.join('. ')}; until then nothing is captured.`,
  });
}

function holdsSecret(values: ReadonlyMap<string, unknown>): boolean {
  return [...values].some(
    ([key, value]) => leafOf(key)?.secret === true && value !== '' && !isSecretReference(String(value)),
  );
}

function strayNames(file: ConfigFile, path: string): string[] {
  return file.notRead
    .map((name) => join(dirname(path), name))
    .filter(exists)
    .map((stray) => `${stray}: this file is not read; its place is ${path}`);
}

function openToOthers(area: UserArea): string[] {
  if (!isOpenToOthers(area.root)) return [];
  return [`${area.root}: other users of this machine can look into it; run chmod 700 on it`];
}
