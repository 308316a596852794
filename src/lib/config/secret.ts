import { homedir } from 'node:os';
import { isAbsolute } from 'node:path';
import { inspect } from 'node:util';

import { StewardError } from '../errors';
import { readText } from '../platform/files/atomic-file';
import { expandHome } from '../platform/files/paths';

/** What is shown in place of a secret. */
export const REDACTED = '•••• (set)';
const MAX_SECRET_FILE_BYTES = 64 * 1024;

/**
 * A secret as the configuration gives it: the value itself, `env:NAME` or `file:PATH`. Printed, logged or
 * turned into JSON it shows only whether it is set; `resolveSecret` gives the value.
 */
export interface Secret {
  /** The key in the configuration, for messages. */
  readonly key: string;
  readonly isSet: boolean;
  /** The stored text. A reference is no secret, a value is: call `resolveSecret` instead. */
  stored(): string;
  toString(): string;
  toJSON(): string;
}

export function secret(key: string, stored: string): Secret {
  const shown = stored === '' ? '' : REDACTED;
  const made = {
    key,
    isSet: stored !== '',
    stored: () => stored,
    toString: () => shown,
    toJSON: () => shown,
    [inspect.custom]: () => shown,
  };
  return Object.freeze(made);
}

export interface SecretSources {
  env: NodeJS.ProcessEnv;
  /** The text of a file, undefined when there is none. */
  readFile: (path: string) => string | undefined;
  home: string;
}

/** The process's own environment and files. */
export function secretSources(): SecretSources {
  return {
    env: process.env,
    readFile: (path) => readText(path, { followLink: true, maxBytes: MAX_SECRET_FILE_BYTES }),
    home: homedir(),
  };
}

/**
 * The value of a secret, or undefined when none is configured. A reference to a variable or a file that
 * gives nothing is a `config` error that names the reference, never a value.
 */
export function resolveSecret(from: Secret, sources: SecretSources): string | undefined {
  const stored = from.stored();
  if (stored === '') return undefined;
  if (stored.startsWith('env:')) {
    const name = stored.slice('env:'.length);
    return found(from, sources.env[name], `the environment variable ${name}`, `Set ${name}`);
  }
  if (stored.startsWith('file:')) {
    const path = expandHome(stored.slice('file:'.length), sources.home);
    return found(from, sources.readFile(path)?.trim(), `the file ${path}`, `Write the value into ${path}`);
  }
  return stored;
}

/** Is the text a reference to where a secret lies, rather than a secret? */
export function isSecretReference(text: string): boolean {
  return /^env:[A-Za-z_][A-Za-z0-9_]*$/.test(text) || isFileReference(text);
}

function isFileReference(text: string): boolean {
  if (!text.startsWith('file:')) return false;
  const path = text.slice('file:'.length);
  return isAbsolute(path) || /^~[/\\]./.test(path);
}

function found(from: Secret, value: string | undefined, place: string, remedy: string): string {
  if (value !== undefined && value !== '') return value;
  throw new StewardError('config', `${from.key} is to come from ${place}, which gives nothing.`, {
    hint: `${remedy}, or run \`steward config set ${from.key} VALUE\`.`,
  });
}
