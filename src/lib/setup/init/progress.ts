import { dirname } from 'node:path';

import { readText, replaceFile } from '../../platform/files/atomic-file';
import { ensureFolder } from '../../platform/files/folder';
import { parseObject } from '../../platform/files/json-object';

/** How far a set-up has come: kept so that one that was interrupted goes on. */
export interface Progress {
  /** Ids of the steps that were answered, also by leaving them as they are. */
  answered: string[];
}

const VERSION = 1;

/** Nothing without a file, and where it is none of ours: the questions are asked again. */
export function readProgress(path: string): Progress {
  const found = parseObject(readText(path, { maxBytes: 64 * 1024 }) ?? '')?.['answered'];
  return { answered: Array.isArray(found) ? found.map(String) : [] };
}

export function writeProgress(path: string, { answered }: Progress): void {
  ensureFolder(dirname(path));
  replaceFile(path, `${JSON.stringify({ version: VERSION, answered })}\n`);
}
