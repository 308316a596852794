import { isAbsolute, join, resolve } from 'node:path';
import * as v from 'valibot';

import { exists } from '../platform/files/folder';
import { gitFolderAt } from '../platform/files/git-folder';
import { expandHome } from '../platform/files/paths';
import { isLoopbackHost } from '../platform/net/address';
import { type Secret, isSecretReference, secret } from './secret';
import type { UserArea } from './user-area';

/** What a stored value may be resolved against. */
export interface ResolveHost {
  area: UserArea;
  home: string;
}

/** One key of the configuration: its check, its words and its default, in one place. */
export interface Leaf<T> {
  readonly leaf: true;
  /** What a stored value has to be, in words: "a whole number from 10 to 3600". */
  readonly expected: string;
  /** Checks a stored value; gives it back, or issues. */
  readonly check: v.GenericSchema<unknown, unknown>;
  /** The stored value that stands in where no file has the key; undefined where there is none. */
  readonly fallback: (host: ResolveHost) => unknown;
  /** The stored value as the program uses it. */
  readonly resolve: (stored: unknown, host: ResolveHost, key: string) => T;
  /** Redacted wherever it is shown. */
  readonly secret: boolean;
  /** May hold what is nobody's business in a message (addresses with tokens): only its type is named. */
  readonly quiet: boolean;
  /** A list that makes sense as a whole only: nothing is added to it or taken out. */
  readonly whole: boolean;
  /** Says what is wrong with one item that a person adds to the list: " is not a git repository". Looks at the machine. */
  readonly refuses: ((item: string) => string | undefined) | undefined;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a tree holds leaves of any type
export type AnyLeaf = Leaf<any>;
export interface Tree {
  readonly [key: string]: AnyLeaf | Tree;
}

/** The resolved shape of a tree of keys. */
export type Values<T> = { [K in keyof T]: T[K] extends Leaf<infer V> ? V : Values<T[K]> };

interface LeafOptions<S, T> extends Partial<Pick<Leaf<T>, 'secret' | 'quiet' | 'whole' | 'refuses'>> {
  expected: string;
  check: v.GenericSchema<unknown, S>;
  fallback: S | undefined | ((host: ResolveHost) => S | undefined);
  resolve?: (stored: S, host: ResolveHost, key: string) => T;
}

/** A key that has a default. */
export function leaf<S, T = S>({ fallback, resolve, ...options }: LeafOptions<S, T>): Leaf<T> {
  const { secret = false, quiet = secret, whole = false, refuses } = options;
  return {
    leaf: true,
    ...options,
    ...{ secret, quiet, whole, refuses },
    fallback: typeof fallback === 'function' ? (fallback as (host: ResolveHost) => unknown) : () => fallback,
    resolve: (stored, host, key) =>
      resolve === undefined || stored === undefined ? (stored as T) : resolve(stored as S, host, key),
  };
}

/** A key that may be missing. */
export function optionalLeaf<S>(options: Omit<LeafOptions<S, S>, 'fallback'>): Leaf<S | undefined> {
  return leaf<S, S | undefined>({ ...options, fallback: undefined });
}

export function isLeaf(node: AnyLeaf | Tree | undefined): node is AnyLeaf {
  return node !== undefined && (node as Partial<AnyLeaf>).leaf === true;
}

/** Every leaf of a tree with its path, in the tree's order. */
export function leavesOf(tree: Tree, path: readonly string[] = []): { path: string[]; leaf: AnyLeaf }[] {
  return Object.entries(tree).flatMap(([name, node]) =>
    isLeaf(node) ? [{ path: [...path, name], leaf: node }] : leavesOf(node, [...path, name]),
  );
}

/** The node at a path; undefined where the tree has none. */
export function nodeAt(tree: Tree, path: readonly string[]): AnyLeaf | Tree | undefined {
  let node: AnyLeaf | Tree | undefined = tree;
  for (const name of path) {
    if (node === undefined || isLeaf(node) || !Object.hasOwn(node, name)) return undefined;
    node = node[name];
  }
  return node;
}

/** The kinds of keys. Each says in words what it expects; messages are made of those words. */

export function flag(fallback: boolean): Leaf<boolean> {
  return leaf({ expected: 'true or false', check: v.boolean(), fallback });
}

export function wholeNumber(from: number, to: number, fallback: number): Leaf<number> {
  return leaf({
    expected: `a whole number from ${from} to ${to}`,
    check: v.pipe(v.number(), v.integer(), v.minValue(from), v.maxValue(to)),
    fallback,
  });
}

export function text(fallback: string): Leaf<string> {
  return leaf({ expected: 'a text of one line, not empty', check: string(isCleanText), fallback });
}

export function textFrom(
  expected: string,
  test: (value: string) => boolean,
  fallback: string | (() => string),
): Leaf<string> {
  return leaf({ expected, check: string(test), fallback });
}

export function optionalTextFrom(
  expected: string,
  test: (value: string) => boolean,
): Leaf<string | undefined> {
  return optionalLeaf({ expected, check: string(test) });
}

export function listOf<S extends string>(
  expected: string,
  test: (value: string) => value is S,
  fallback: readonly S[],
): Leaf<S[]>;
export function listOf(
  expected: string,
  test: (value: string) => boolean,
  fallback: readonly string[],
): Leaf<string[]>;
export function listOf(
  expected: string,
  test: (value: string) => boolean,
  fallback: readonly string[],
): Leaf<string[]> {
  return leaf({
    expected,
    check: v.array(string(test)),
    fallback: () => [...fallback],
  });
}

/** Names with a text each; `expected` says what the texts are. */
export function mapOf(expected: string, test: (value: string) => boolean): Leaf<Record<string, string>> {
  return leaf<Record<string, string>>({
    expected: `names, each with ${expected}`,
    check: v.record(string(isCleanText), string(test)),
    fallback: () => ({}),
  });
}

/** A secret: the value itself, `env:NAME` or `file:PATH`. `test` looks at the value only. */
export function secretText(expected: string, test: (value: string) => boolean): Leaf<Secret> {
  return leaf<string, Secret>({
    expected: `${expected}, env:NAME or file:PATH (absolute or from ~/)`,
    check: string((value) =>
      /^(?:env|file):/.test(value) ? isSecretReference(value) : value === '' || test(value),
    ),
    fallback: '',
    resolve: (stored, _host, key) => secret(key, stored),
    secret: true,
  });
}

/** A path that is absolute or starts in the home folder; resolved, it is absolute. */
export function pathLeaf(fallback: Leaf<string>['fallback']): Leaf<string> {
  return leaf<string, string>({
    expected: 'an absolute path, or one that starts with ~/',
    check: string((value) => isCleanText(value) && (isAbsolute(value) || /^~[/\\]./.test(value))),
    fallback: (host) => fallback(host) as string,
    resolve: (stored, host) => expandHome(stored, host.home),
  });
}

/** A web address: https, or http to this machine only; never with a name and password in it. */
export function webAddress(fallback: string): Leaf<string> {
  return leaf({
    expected: 'an https:// address (http:// only to this machine) without a password in it',
    check: string(isSafeUrl),
    fallback,
    quiet: true,
  });
}

/** A host (`push.example.org`, `localhost:8080`) or a web address. */
export function hostOrAddress(fallback: string): Leaf<string> {
  return leaf({
    expected: 'a host name, or an https:// address (http:// only to this machine)',
    check: string((value) => (value.includes('://') ? isSafeUrl(value) : isHost(value))),
    fallback,
    quiet: true,
  });
}

export function isSafeUrl(value: string): boolean {
  if (!isCleanText(value) || !URL.canParse(value)) return false;
  const url = new URL(value);
  if (url.username !== '' || url.password !== '' || url.hostname === '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname));
}

export function isHost(value: string): boolean {
  return /^(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*(?::\d{1,5})?$/.test(
    value,
  );
}

/** One line of text without control characters. */
export function isCleanText(value: string): boolean {
  return value.trim() !== '' && value.length <= 4096 && !CONTROL.test(value);
}

const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/** A text that passes a test. */
export function string(test: (value: string) => boolean) {
  return v.pipe(v.string(), v.check(test));
}

/** Absolute paths, or from `~/`, of git repositories; each once. One that is gone later does not make the file invalid. */
export function repositoryList(): Leaf<string[]> {
  const fromHome = (value: string): boolean => value === '~' || value.startsWith('~/');
  return leaf({
    expected: 'a list of absolute paths, or of paths from ~/',
    check: v.array(string((value) => isCleanText(value) && (isAbsolute(value) || fromHome(value)))),
    fallback: [],
    refuses: (path) => {
      if (!exists(path)) return ' does not exist';
      return gitFolderAt(path) === undefined
        ? ' is not a git repository; name the folder that holds .git'
        : undefined;
    },
    resolve: (stored: string[], { home }) => [
      ...new Set(stored.map((path) => (fromHome(path) ? join(home, path.slice(1)) : resolve(path)))),
    ],
  });
}

/**
 * Claude Code's one-shot mode, as a plain question to its fast tier. Each flag keeps something of a person's
 * set-up away from the question; together they hold in versions that do not know safe mode (`ask` in sense/insight.ts).
 * `--bare` would do most of it, too, but reads no subscription's login.
 */
const ASSISTANT: readonly string[] = [
  'claude',
  // Answer on stdout and exit; the question is what stands on stdin.
  '--print',
  // The fast tier.
  '--model',
  'haiku',
  // No tools at all: it can read no file and run no command.
  '--tools',
  '',
  // No settings of the person or of a project: no hooks, plugins, CLAUDE.md, or keys that they set.
  '--setting-sources',
  '',
  // No MCP server: only those of --mcp-config, and there is none.
  '--strict-mcp-config',
  // Nothing of the session on the disk.
  '--no-session-persistence',
  // One JSON object, which tells an error from an answer, and which model ran.
  '--output-format',
  'json',
  // In place of the long one that tells of folder, system and tools.
  '--system-prompt',
  'You describe what a program noted of a day. You answer with one JSON object and nothing else.',
];

/** The program and its arguments, of which any but the first may be empty; an empty list is the default. */
export const insightCommandLeaf = leaf<string[]>({
  expected: 'a list: a program and its arguments',
  check: v.pipe(
    v.array(string((text) => text === '' || isCleanText(text))),
    v.check(([program]) => program !== ''),
  ),
  whole: true,
  fallback: () => [...ASSISTANT],
  resolve: (stored) => (stored.length > 0 ? stored : [...ASSISTANT]),
});
