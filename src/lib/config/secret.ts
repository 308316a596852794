import { isAbsolute } from 'node:path';
import { inspect } from 'node:util';

import { StewardError } from '../errors';
import { readText } from '../platform/files/atomic-file';
import { expandHome, processHost } from '../platform/files/paths';

export const REDACTED = '•••• (set)';
const MAX_SECRET_FILE_BYTES = 64 * 1024;

/**
 * A secret, stored as a value, `env:NAME` or `file:PATH`. Its printed form shows only whether the secret is
 * set.
 */
export interface Secret {
  /** The configuration key, for messages. */
  readonly key: string;
  readonly isSet: boolean;
  /** Returns the stored text: the secret itself, or a reference to it. */
  stored(): string;
  toString(): string;
  toJSON(): string;
}

export function secret(key: string, stored: string): Secret {
  const shown = stored === '' ? '' : REDACTED;
  return Object.freeze({
    key,
    isSet: stored !== '',
    stored: () => stored,
    toString: () => shown,
    toJSON: () => shown,
    [inspect.custom]: () => shown,
  });
}

export function secretSources() {
  return {
    env: process.env,
    /** Reads a text file, or returns undefined if the file doesn't exist. */
    readFile: (path: string) => readText(path, { followLink: true, maxBytes: MAX_SECRET_FILE_BYTES }),
    home: processHost().home,
  };
}

type SecretSources = ReturnType<typeof secretSources>;

/** Returns the value of a secret, or undefined if unset. Throws `config` if a reference has no value. */
export function resolveSecret(from: Secret, sources: SecretSources): string | undefined {
  const stored = from.stored();
  if (stored === '') return undefined;
  if (stored.startsWith('env:')) {
    const name = stored.slice('env:'.length);
    return required(
      from,
      sources.env[name],
      `${from.key}: environment variable ${name} is not set.`,
      `Set ${name}`,
    );
  }
  if (stored.startsWith('file:')) {
    const path = expandHome(stored.slice('file:'.length), sources.home);
    const message = `${from.key}: file ${path} is missing or empty.`;
    return required(from, sources.readFile(path)?.trim(), message, `Write the value to ${path}`);
  }
  return stored;
}

/** Returns whether the text is `env:NAME` or `file:PATH` rather than the secret itself. */
export function isSecretReference(text: string): boolean {
  if (!text.startsWith('file:')) return /^env:[A-Za-z_][A-Za-z0-9_]*$/.test(text);
  const path = text.slice('file:'.length);
  return isAbsolute(path) || /^~[/\\]./.test(path);
}

function required({ key }: Secret, value: string | undefined, message: string, fix: string): string {
  if (value !== undefined && value !== '') return value;
  throw new StewardError('config', message, { hint: `${fix}, or run "steward config set ${key} VALUE".` });
}
