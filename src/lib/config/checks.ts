import { isAbsolute, join, resolve, sep } from 'node:path';
import * as v from 'valibot';

import { exists } from '../platform/files/folder';
import { gitFolderAt } from '../platform/files/git-folder';
import { isLoopbackHost } from '../platform/net/loopback';
import { expandHome } from '../platform/files/paths';
import { leaf, optionalLeaf, type Leaf } from './key';
import { isSecretReference, secret, type Secret } from './secret';

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
  return leaf({ expected: 'a text of one line, not empty', check: line(), fallback });
}

export function textFrom(
  expected: string,
  test: (value: string) => boolean,
  fallback: string | (() => string),
): Leaf<string> {
  return leaf({ expected, check: v.pipe(v.string(), v.check(test)), fallback });
}

export function optionalTextFrom(
  expected: string,
  test: (value: string) => boolean,
): Leaf<string | undefined> {
  return optionalLeaf({ expected, check: v.pipe(v.string(), v.check(test)) });
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
    check: v.array(v.pipe(v.string(), v.check(test))),
    fallback: () => [...fallback],
  });
}

/** Names with a text each; `expected` says what the texts are. */
export function mapOf(expected: string, test: (value: string) => boolean): Leaf<Record<string, string>> {
  return leaf<Record<string, string>>({
    expected: `names, each with ${expected}`,
    check: v.record(v.pipe(v.string(), v.check(isCleanText)), v.pipe(v.string(), v.check(test))),
    fallback: () => ({}),
  });
}

/** A secret: the value itself, `env:NAME` or `file:PATH`. `test` looks at the value only. */
export function secretText(expected: string, test: (value: string) => boolean): Leaf<Secret> {
  return leaf<string, Secret>({
    expected: `${expected}, env:NAME or file:PATH (absolute or from ~/)`,
    check: v.pipe(
      v.string(),
      v.check((value) =>
        /^(?:env|file):/.test(value) ? isSecretReference(value) : value === '' || test(value),
      ),
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
    check: v.pipe(
      v.string(),
      v.check((value) => isCleanText(value) && (isAbsolute(value) || /^~[/\\]./.test(value))),
    ),
    fallback: (host) => fallback(host) as string,
    resolve: (stored, host) => expandHome(stored, host.home),
  });
}

/** A web address: https, or http to this machine only (decisions.md 9); never with a name and password in it. */
export function webAddress(fallback: string): Leaf<string> {
  return leaf({
    expected: 'an https:// address (http:// only to this machine) without a password in it',
    check: v.pipe(v.string(), v.check(isSafeUrl)),
    fallback,
    quiet: true,
  });
}

/** A host (`push.example.org`, `localhost:8080`) or a web address. */
export function hostOrAddress(fallback: string): Leaf<string> {
  return leaf({
    expected: 'a host name, or an https:// address (http:// only to this machine)',
    check: v.pipe(
      v.string(),
      v.check((value) => (value.includes('://') ? isSafeUrl(value) : isHost(value))),
    ),
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

function line(): v.GenericSchema<unknown, string> {
  return v.pipe(v.string(), v.check(isCleanText));
}

/** Paths that are in their shortest form: as a rule all are, and to find that out anew for each of hundreds takes long. */
const SHORTEST = /^(?:\/(?!\.\.?(?:\/|$))[^/]+)+$/;

/** Absolute paths, or from `~/`, of git repositories; each once. One that is gone later does not make the file invalid. */
export function repositoryList(): Leaf<string[]> {
  const fromHome = (value: string): boolean => value === '~' || value.startsWith('~/');
  return leaf({
    expected: 'a list of absolute paths, or of paths from ~/',
    check: v.array(
      v.pipe(
        v.string(),
        v.check((value) => isCleanText(value) && (isAbsolute(value) || fromHome(value))),
      ),
    ),
    fallback: [],
    refuses: (path) => {
      if (!exists(path)) return ' does not exist';
      return gitFolderAt(path) === undefined
        ? ' is not a git repository; name the folder that holds .git'
        : undefined;
    },
    resolve: (stored: string[], { home }) => [
      ...new Set(
        stored.map((path) => {
          if (fromHome(path)) return join(home, path.slice(1));
          return sep === '/' && SHORTEST.test(path) ? path : resolve(path);
        }),
      ),
    ],
  });
}
