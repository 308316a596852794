import { dirname } from 'node:path';

import { StewardError } from '../../errors';
import { readText, replaceFile } from './atomic-file';
import { ensureFolder, lstatOf } from './folder';
import { parseObject } from './json-object';

const MAX_BYTES = 64 * 1024 * 1024;
const MAX_ENTRY_BYTES = 1024 * 1024;

/** Returns the JSON object in a file, or undefined if the file has no object. Throws `config` above `maxBytes`. */
export function readObject(path: string, maxBytes = MAX_BYTES): Record<string, unknown> | undefined {
  return parseObject(readText(path, { maxBytes }) ?? '');
}

/** Returns the JSON object in an entry of a queue, or undefined if it is invalid, too large, or no regular file. */
export function objectIn(path: string): Record<string, unknown> | undefined {
  const facts = lstatOf(path);
  return facts?.isFile !== true || facts.size > MAX_ENTRY_BYTES ? undefined : readObject(path);
}

/** Throws `config` if a newer version of steward wrote a file: this one could lose what it does not know. */
export function refuseNewer(path: string, version: unknown, known: number): void {
  if (typeof version !== 'number' || version <= known) return;
  throw new StewardError('config', `${path} was written by a newer steward (format ${version}).`, {
    hint: 'Upgrade steward; this version leaves the file unchanged.',
  });
}

/** Stores an object as JSON, and makes the file's folder if necessary. */
export function writeObject(path: string, value: object, options: { sync?: boolean | 'content' } = {}): void {
  ensureFolder(dirname(path));
  replaceFile(path, `${JSON.stringify(value)}\n`, options);
}
