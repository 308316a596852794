import { dirname } from 'node:path';

import { readText, replaceFile } from '../platform/files/atomic-file';
import { ensureFolder } from '../platform/files/folder';
import { parseObject } from '../platform/files/json-object';

/** Returns whether you let steward speak when an event happens; undefined if it has not asked yet. */
export function maySpeak(path: string): boolean | undefined {
  const answer = parseObject(readText(path, { maxBytes: 4096 }) ?? '')?.['events'];
  return typeof answer === 'boolean' ? answer : undefined;
}

export function storeMaySpeak(path: string, events: boolean): void {
  ensureFolder(dirname(path));
  replaceFile(path, `${JSON.stringify({ version: 1, events })}\n`);
}
