import { isAbsolute, join, resolve } from 'node:path';
import * as v from 'valibot';

import { exists } from '../platform/files/folder';
import { gitFolderAt } from '../platform/files/git-folder';
import { isObject } from '../platform/files/json-object';
import { expandHome } from '../platform/files/paths';
import { isIP, isLoopbackHost } from '../platform/net/address';
import { asciiEntry, isSite, OTHER_SITES } from '../platform/net/site';
import { gitAddress } from '../platform/net/git-address';
import { isZone } from '../platform/time/time';
import { type Secret, isSecretReference, secret } from './secret';
import type { UserArea } from './user-area';

/** The folders needed to resolve stored values. */
export interface ResolveHost {
  area: UserArea;
  home: string;
}

/** A configuration key: its check, its default, and its description for messages. */
interface Leaf<T> {
  readonly leaf: true;
  /** What a stored value must be, such as "a whole number from 10 to 3600". */
  readonly expected: string;
  /** Makes the check of a stored value. Most keys have none, so it is made only when it is needed. */
  readonly check: () => v.GenericSchema<unknown, unknown>;
  /** Returns the default as a stored value, or undefined. */
  readonly fallback: (host: ResolveHost) => unknown;
  /** Converts a stored value to the form that the program uses. */
  readonly resolve: (stored: unknown, host: ResolveHost, key: string) => T;
  readonly secret: boolean;
  /**
   * Whether the value may contain private data, such as a URL with a token. If so, messages show only its
   * type.
   */
  readonly quiet: boolean;
  /** Whether this list can only be set as a whole, not item by item. */
  readonly whole: boolean;
  /** A hint that names what sets the value of a key that is not a setting. */
  readonly setBy?: string;
  /** Returns an error text, such as " does not exist", if an item can't be added on this machine. */
  readonly refuses?: (item: string) => string | undefined;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a tree holds leaves of any type
export type AnyLeaf = Leaf<any>;
export interface Tree {
  readonly [key: string]: AnyLeaf | Tree;
}

/** Maps a tree of keys to the type of its resolved values. */
export type Values<T> = { [K in keyof T]: T[K] extends Leaf<infer V> ? V : Values<T[K]> };

interface LeafOptions<S, T> extends Partial<Pick<Leaf<T>, 'secret' | 'quiet' | 'whole' | 'refuses'>> {
  expected: string;
  check: () => v.GenericSchema<unknown, S>;
  fallback: S | undefined | ((host: ResolveHost) => S | undefined);
  resolve?: (stored: S, host: ResolveHost, key: string) => T;
}

/** Defines a key with a default. */
export function leaf<S, T = S>({ fallback, resolve, ...options }: LeafOptions<S, T>): Leaf<T> {
  const { secret = false, quiet = secret, whole = false } = options;
  return {
    leaf: true,
    ...options,
    secret,
    quiet,
    whole,
    fallback: typeof fallback === 'function' ? (fallback as (host: ResolveHost) => unknown) : () => fallback,
    resolve: (stored, host, key) =>
      resolve === undefined || stored === undefined ? (stored as T) : resolve(stored as S, host, key),
  };
}

/** Marks a key as state that a command of steward writes. */
export function written<T>(leaf: Leaf<T>, command: string): Leaf<T> {
  return { ...leaf, setBy: `"steward ${command}" writes it.` };
}

/** Marks a key that is only set by an environment variable. */
export function fromEnvironment<T>(leaf: Leaf<T>, name: string): Leaf<T> {
  return { ...leaf, setBy: `Set the environment variable ${name}.` };
}

/** Defines a key without a default. */
export function optionalLeaf<S>(options: Omit<LeafOptions<S, S>, 'fallback'>): Leaf<S | undefined> {
  return leaf<S, S | undefined>({ ...options, fallback: undefined });
}

export function isLeaf(node: AnyLeaf | Tree | undefined): node is AnyLeaf {
  return node !== undefined && (node as Partial<AnyLeaf>).leaf === true;
}

export function leavesOf(tree: Tree, path: readonly string[] = []): { path: string[]; leaf: AnyLeaf }[] {
  return Object.entries(tree).flatMap(([name, node]) =>
    isLeaf(node) ? [{ path: [...path, name], leaf: node }] : leavesOf(node, [...path, name]),
  );
}

/** Returns the leaves that are settings. */
export function settingsOf(tree: Tree, path?: readonly string[]): { path: string[]; leaf: AnyLeaf }[] {
  return leavesOf(tree, path).filter(({ leaf }) => leaf.setBy === undefined);
}

export function nodeAt(tree: Tree, path: readonly string[]): AnyLeaf | Tree | undefined {
  let node: AnyLeaf | Tree | undefined = tree;
  for (const name of path) {
    if (node === undefined || isLeaf(node) || !Object.hasOwn(node, name)) return undefined;
    node = node[name];
  }
  return node;
}

export function flag(fallback: boolean | ((host: ResolveHost) => boolean)): Leaf<boolean> {
  return leaf({ expected: 'true or false', check: () => v.boolean(), fallback });
}

export function wholeNumber(from: number, to: number, fallback: number): Leaf<number> {
  return leaf({
    expected: `a whole number from ${from} to ${to}`,
    check: () => v.pipe(v.number(), v.integer(), v.minValue(from), v.maxValue(to)),
    fallback,
  });
}

export function text(fallback: string): Leaf<string> {
  return textFrom('one line of text', isCleanText, fallback);
}

export function textFrom(
  expected: string,
  test: (value: string) => boolean,
  fallback: string | (() => string),
): Leaf<string> {
  return leaf({ expected, check: () => string(test), fallback });
}

export function optionalText(expected: string, test: (value: string) => boolean = isCleanText) {
  return optionalLeaf({ expected, check: () => string(test) });
}

/** Defines a key for a list of applications, and of sites, of which names with umlauts become ASCII. */
export function appList(): Leaf<string[]> {
  return leaf({
    expected: 'a list of app names, bundle ids, globs or sites such as site:docs.rs',
    check: () => v.array(string(isExcludable)),
    fallback: [],
    resolve: (stored: string[]) => stored.map(asciiEntry),
  });
}

/** Returns whether a text names an application, or is `site:` with a site's name or a glob. */
function isExcludable(text: string): boolean {
  if (!/^site:/i.test(text)) return isCleanText(text);
  const site = asciiEntry(text).slice('site:'.length).toLowerCase();
  return isSite(site) || site === OTHER_SITES || (/[*?]/.test(site) && /^[a-z0-9.*?-]+$/.test(site));
}

export function listOf(expected: string, test: (value: string) => boolean, fallback: readonly string[]) {
  return leaf({ expected, check: () => v.array(string(test)), fallback: () => [...fallback] });
}

export function subsetOf<S extends string>(expected: string, names: readonly S[], fallback: readonly S[]) {
  return leaf<S[]>({ expected, check: () => v.array(v.picklist(names)), fallback: () => [...fallback] });
}

/** Defines a key for a command: a list of a program and its arguments. An empty list means the default. */
export function command(fallback: readonly string[]): Leaf<string[]> {
  return leaf<string[]>({
    expected: 'a list of a program and its arguments, such as ["claude", "--print"]',
    check: () =>
      v.pipe(
        v.array(string((text) => text === '' || isCleanText(text))),
        v.check(([program]) => program !== ''),
      ),
    whole: true,
    fallback: () => [...fallback],
    resolve: (stored) => (stored.length > 0 ? stored : [...fallback]),
  });
}

/** Defines a key for a map by name. Refuses a list, which valibot's own check accepts. */
export function mapOf<T>(expected: string, item: v.GenericSchema<unknown, T>): Leaf<Record<string, T>> {
  return leaf<Record<string, T>>({
    expected,
    check: () => v.pipe(v.custom<Record<string, unknown>>(isObject), v.record(string(isCleanText), item)),
    fallback: () => ({}),
  });
}

/** Defines a key for a secret: the value, `env:NAME` or `file:PATH`. `test` checks a value that isn't a reference. */
export function secretText(expected: string, test: (value: string) => boolean): Leaf<Secret> {
  return leaf<string, Secret>({
    expected: `${expected}, env:NAME or file:PATH (absolute, or starting with ~/)`,
    check: () =>
      string((value) =>
        /^(?:env|file):/.test(value) ? isSecretReference(value) : value === '' || test(value),
      ),
    fallback: '',
    resolve: (stored, _host, key) => secret(key, stored),
    secret: true,
  });
}

const PATH = {
  expected: 'an absolute path, or one that starts with ~/',
  check: () => string((value) => isCleanText(value) && (isAbsolute(value) || /^~[/\\]./.test(value))),
  resolve: (stored: string, host: ResolveHost) => expandHome(stored, host.home),
};

export function optionalPath(fallback: Leaf<string | undefined>['fallback']): Leaf<string | undefined> {
  return { ...optionalLeaf<string>(PATH), fallback };
}

export function webAddress(fallback: string): Leaf<string> {
  return leaf({
    expected: 'an https:// or http://localhost address without a password',
    check: () => string(isSafeUrl),
    fallback,
    quiet: true,
  });
}

/** Defines a key for a host (`push.example.org`, `localhost:8080`) or a web URL. */
export function hostOrAddress(fallback: string): Leaf<string> {
  return leaf({
    expected: 'a host name, or an https:// or http://localhost address',
    check: () => string((value) => (value.includes('://') ? isSafeUrl(value) : isHost(value))),
    fallback,
    quiet: true,
  });
}

/** Defines a key for a list of git repositories. The list remains valid even if a repository is deleted. */
export function repositoryList(): Leaf<string[]> {
  const isFromHome = (value: string): boolean => value === '~' || value.startsWith('~/');
  return leaf({
    expected: 'a list of paths that are absolute or start with ~/',
    check: () => v.array(string((value) => isCleanText(value) && (isAbsolute(value) || isFromHome(value)))),
    fallback: [],
    refuses: (path) => {
      if (!exists(path)) return ' does not exist';
      return gitFolderAt(path) === undefined ? ' is not a git repository' : undefined;
    },
    resolve: (stored: string[], { home }) => [
      ...new Set(stored.map((path) => (isFromHome(path) ? join(home, path.slice(1)) : resolve(path)))),
    ],
  });
}

export function isSafeUrl(value: string): boolean {
  if (!isCleanText(value) || !URL.canParse(value)) return false;
  const url = new URL(value);
  if (url.username !== '' || url.password !== '' || url.hostname === '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname));
}

function isHost(value: string): boolean {
  return /^(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*(?::\d{1,5})?$/.test(
    value,
  );
}

/** Accepts one line of text without control characters. */
export function isCleanText(value: string): boolean {
  return value.trim() !== '' && value.length <= 4096 && !CONTROL.test(value);
}

const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

export function string(test: (value: string) => boolean) {
  return v.pipe(v.string(), v.check(test));
}

export function isCredential(value: string): boolean {
  return /^[\x21-\x7e]{1,4096}$/.test(value);
}

/** Rejects offsets such as +02:00, because they don't account for daylight saving time. */
export function isTimezone(value: string): boolean {
  return /^[A-Za-z][A-Za-z0-9_+/-]*$/.test(value) && isZone(value);
}

export function isEmail(value: string): boolean {
  return value.length <= 254 && /^[^\s@]+@[^\s@]+$/.test(value) && isCleanText(value);
}

export function isVoiceId(value: string): boolean {
  return /^\S{1,200}$/.test(value) && isCleanText(value);
}

export function isQuietHours(value: string): boolean {
  const match = /^(\d\d?):(\d\d) ?- ?(\d\d?):(\d\d)$/.exec(value);
  if (match === null) return false;
  const [, h1, m1, h2, m2] = match.map(Number);
  return (
    Math.max(h1 ?? 99, h2 ?? 99) < 24 && Math.max(m1 ?? 99, m2 ?? 99) < 60 && `${h1}:${m1}` !== `${h2}:${m2}`
  );
}

/** Accepts OWNER/REPO with the characters that GitHub allows. */
export function isRepository(value: string): boolean {
  return /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})\/(?!\.{1,2}$)[\w.-]{1,100}$/.test(value);
}

/** Accepts a repository on GitHub, or the address of any git repository. */
export function isExchangeRepo(value: string): boolean {
  return isRepository(value) || gitAddress(value) !== undefined;
}

/** Accepts an IP address or a host name, such as `::1`, `0.0.0.0` or `localhost`. */
export function isBindHost(value: string): boolean {
  return isIP(value) !== 0 || (!value.includes(':') && isHost(value));
}
