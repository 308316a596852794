import { join } from 'node:path';

import { ensureSubfolder } from '../platform/files/folder';
import { moveLines } from '../platform/files/jsonl';
import { daysOf } from './exchange';
import { joinedSet } from './lost';
import { filesOf, publishedSet, write } from './publish';

/** Adds what a machine published in `from` to another machine's folder. Safe to repeat. */
export function joinPublished(from: string, into: string): void {
  const { daily, sessions, usage } = daysOf(from, () => undefined);
  const result = { files: 0, bytes: 0 };
  ensureSubfolder(into);
  for (const day of new Set([...daily, ...sessions, ...usage])) {
    const joined = joinedSet(publishedSet(from, day), publishedSet(into, day));
    for (const file of filesOf(into, day, joined)) write(into, file, result);
  }
  moveLines(join(from, 'told.jsonl'), join(into, 'told.jsonl'));
}
