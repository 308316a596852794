import { join } from 'node:path';

import { StewardError } from '../errors';
import { exists, isOpenToOthers } from '../platform/files/folder';
import { processHost } from '../platform/files/paths';
import { folderHash } from '../platform/files/short-hash';
import { readCache, writeCache } from './area-cache';
import {
  CONFIG,
  CONFIG_FILES,
  type ConfigFile,
  ENVIRONMENT,
  candidates,
  isYaml,
  nodeOf,
  whatIsWrong,
} from './files';
import { isLeaf, leavesOf, type AnyLeaf, type ResolveHost, type Values } from './leaf';
import { type KnownContent, openFile, type OpenedFile } from './text';
import { KEYS, type Config } from './schema';
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
  /** The files to read. Defaults to all. */
  files?: readonly ConfigFile[];
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
  const warnings: string[] = [...openToOthers(input.area), ...strayNames(input.area)];
  const take = (values: Iterable<[string, unknown]>, origin: Origin): void => {
    for (const [key, value] of values) {
      stored.set(key, value);
      origins.set(key, origin);
    }
  };
  for (const file of input.files ?? CONFIG_FILES) {
    const path = file.path(input.area);
    const opened = await openCached(file, path, input.area);
    isUnreadable ||= !opened.isReadable;
    problems.push(...opened.problems.map((problem) => `${path}: ${problem}`));
    warnings.push(...opened.warnings.map((warning) => `${path}: ${warning}`));
    if (holdsSecret(opened.values) && isOpenToOthers(path)) {
      warnings.push(`${path}: other users of this machine can read its secrets; run chmod 600 on it`);
    }
    take(opened.values, { from: 'file', path });
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
  const [first] = candidates(text);
  const meant = typeof (first ?? text) === 'object' ? first : text;
  return { wrong: whatIsWrong(leaf, meant) ?? `: expected ${leaf.expected}` };
}

export function leafOf(key: string): AnyLeaf | undefined {
  const node = nodeOf(key);
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
  for (const { path, leaf } of leavesOf(KEYS)) {
    const key = path.join('.');
    const value = stored.has(key) ? stored.get(key) : leaf.fallback(host);
    if (!origins.has(key)) origins.set(key, { from: 'default' });
    place(root, path, leaf.resolve(value, host, key));
  }
  const { notifications, daidentity, sense, WORK, ...user } = root as Values<typeof KEYS>;
  return { user, settings: { notifications, daidentity }, sense, work: WORK, workRepo: WORK };
}

function place(root: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let at = root;
  path.slice(0, -1).forEach((name) => {
    at = (at[name] ??= {}) as Record<string, unknown>;
  });
  at[path[path.length - 1] as string] = value;
}

/** Returns one error for all problems. `variables` are the names of invalid environment variables. */
function invalid(problems: readonly string[], isUnreadable: boolean, variables: readonly string[]) {
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

/** Opens a file. Keeps the content of YAML until its text changes, because loading YAML takes 18 ms. */
async function openCached(file: ConfigFile, path: string, area: UserArea): Promise<OpenedFile> {
  if (!isYaml(file)) return openFile(file, path);
  const cache = file.name.replace('/', '-');
  const known = readCache<KnownContent>(cache, area);
  const opened = await openFile(file, path, known);
  const { text, content, values, problems } = opened;
  // A secret stays in the one file that you gave it to.
  if (text === undefined || problems.length > 0 || holdsSecret(values)) return opened;
  const hash = folderHash(text);
  if (hash !== known?.hash) writeCache(cache, area, { hash, content });
  return opened;
}

function holdsSecret(values: ReadonlyMap<string, unknown>): boolean {
  return [...values].some(
    ([key, value]) => leafOf(key)?.secret === true && value !== '' && !isSecretReference(String(value)),
  );
}

/** Warns of similar file names that a user may use by mistake. */
function strayNames(area: UserArea): string[] {
  return ['config.yml', 'config.json']
    .map((name) => join(area.root, name))
    .filter(exists)
    .map((stray) => `${stray}: steward does not read this file; use ${CONFIG.path(area)}`);
}

function openToOthers(area: UserArea): string[] {
  if (!isOpenToOthers(area.root)) return [];
  return [`${area.root}: other users of this machine can read it; run chmod 700 on it`];
}
