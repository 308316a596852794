import type * as v from 'valibot';

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
  /** Says what is wrong with one item that a person adds to the list: " is not a git repository". Looks at the machine. */
  readonly refuses: ((item: string) => string | undefined) | undefined;
  /** May hold what is nobody's business in a message (addresses with tokens): only its type is named. */
  readonly quiet: boolean;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a tree holds leaves of any type
export type AnyLeaf = Leaf<any>;
export interface Tree {
  readonly [key: string]: AnyLeaf | Tree;
}

/** The resolved shape of a tree of keys. */
export type Values<T> = { [K in keyof T]: T[K] extends Leaf<infer V> ? V : Values<T[K]> };

interface LeafOptions<S, T> {
  expected: string;
  check: v.GenericSchema<unknown, S>;
  fallback: S | undefined | ((host: ResolveHost) => S | undefined);
  resolve?: (stored: S, host: ResolveHost, key: string) => T;
  secret?: boolean;
  quiet?: boolean;
  refuses?: (item: string) => string | undefined;
}

/** A key that has a default. */
export function leaf<S, T = S>(options: LeafOptions<S, T>): Leaf<T> {
  const { fallback, resolve } = options;
  return {
    leaf: true,
    expected: options.expected,
    check: options.check,
    fallback: typeof fallback === 'function' ? (fallback as (host: ResolveHost) => unknown) : () => fallback,
    resolve: (stored, host, key) =>
      resolve === undefined || stored === undefined ? (stored as T) : resolve(stored as S, host, key),
    secret: options.secret === true,
    refuses: options.refuses,
    quiet: options.quiet === true || options.secret === true,
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
