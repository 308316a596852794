import { dirname, join } from 'node:path';

import { StewardError } from '../errors';
import { exists, isOpenToOthers } from '../platform/files/folder';
import { processHost } from '../platform/files/paths';
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

export type Origin =
  { from: 'default' } | { from: 'file'; path: string } | { from: 'env'; name: string } | { from: 'flag' };

interface LoadInput {
  area: UserArea;
  /** The environment variables. Defaults to those of this process. */
  env?: NodeJS.ProcessEnv;
  /** The folder that replaces `~` in paths. Defaults to the user's home folder. */
  home?: string;
  /** Values from flags by dotted key, which override all other sources. */
  flags?: Readonly<Record<string, unknown>>;
  /** The only file to read. Keys of other files get their default values. */
  only?: ConfigFile['id'];
}

export interface LoadedConfig {
  config: Config;
  /** Where each value comes from, by dotted key. */
  origins: ReadonlyMap<string, Origin>;
  /** Warnings about unknown keys and file permissions that are too open. */
  warnings: string[];
}

/**
 * Loads the configuration from the defaults, the user area's files, the environment and flags. Throws one
 * `config` error with the problems of all files.
 */
export async function loadConfig(input: LoadInput): Promise<LoadedConfig> {
  const host: ResolveHost = { area: input.area, home: input.home ?? processHost().home };
  const stored = new Map<string, unknown>();
  const origins = new Map<string, Origin>();
  const problems: string[] = [];
  const invalidVariables: string[] = [];
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
      warnings.push(`${path}: other users of this machine can read its secrets; run chmod 600 on it`);
    }
    take(checked.values, { from: 'file', path });
  }
  for (const { name, key } of ENVIRONMENT) {
    const value = (input.env ?? process.env)[name];
    if (value === undefined || value === '') continue;
    const parsed = fromText(key, value);
    if ('value' in parsed) take([[key, parsed.value]], { from: 'env', name });
    else {
      invalidVariables.push(name);
      problems.push(`${name} (environment)${parsed.wrong}`);
    }
  }
  take(checkFlags(input.flags ?? {}), { from: 'flag' });
  if (problems.length > 0) throw invalid(problems, isUnreadable, invalidVariables);
  return { config: resolveAll(stored, origins, host), origins, warnings };
}

/** Returns the paths of the files that `loadConfig` reads. */
export function configPaths(area: UserArea): string[] {
  return CONFIG_FILES.map((file) => file.path(area));
}

/** Returns the defaults without reading anything. */
export function defaultConfig(area: UserArea, home: string = processHost().home): Config {
  return resolveAll(new Map(), new Map(), { area, home });
}

/** Parses a key's value from the text of an environment variable or an argument. */
export function fromText(key: string, text: string): { value: unknown } | { wrong: string } {
  const leaf = leafOf(key);
  if (leaf === undefined) throw new StewardError('internal', `${key} is not a configuration key.`);
  const value = candidates(text).find((candidate) => whatIsWrong(leaf, candidate) === undefined);
  if (value !== undefined) return { value };
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
    const wrong = leaf === undefined ? ' is not a configuration key' : whatIsWrong(leaf, value);
    if (wrong !== undefined) {
      throw new StewardError('usage', `${key}${wrong}.`, {
        hint: 'Run the command with --help to see its flags.',
      });
    }
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
  // The cast is safe, because schema.ts derives `Config` from these trees.
  return root as unknown as Config;
}

function place(root: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let at = root;
  path.slice(0, -1).forEach((name) => {
    at = (at[name] ??= {}) as Record<string, unknown>;
  });
  at[path[path.length - 1] as string] = value;
}

/** Returns one error for all problems. `variables` are the names of invalid environment variables. */
function invalid(
  problems: readonly string[],
  isUnreadable: boolean,
  variables: readonly string[],
): StewardError {
  const count =
    problems.length === 1
      ? 'The configuration has a problem'
      : `The configuration has ${problems.length} problems`;
  const list = problems.map((problem) => `\n  ${problem}`).join('');
  const edit = isUnreadable ? 'Edit the file' : 'Edit the file or use "steward config set KEY VALUE"';
  const fixes = [
    ...(variables.length === 0 ? [] : [`Unset or correct ${variables.join(', ')}.`]),
    ...(problems.length === variables.length ? [] : [`${edit}.`]),
  ];
  return new StewardError('config', `${count}:${list}`, {
    hint: `${fixes.join(' ')} Nothing is captured until the configuration is valid.`,
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
    .map((stray) => `${stray}: steward does not read this file; use ${path}`);
}

function openToOthers(area: UserArea): string[] {
  if (!isOpenToOthers(area.root)) return [];
  return [`${area.root}: other users of this machine can read it; run chmod 700 on it`];
}
