import { textOf } from '../platform/files/json-object';
import type { SenseEvent } from './event';

/**
 * What tells the change of a commit from others of its repository, as the capture decided it. Events of before
 * sense 1.1 lack it: there, commits of one author second and subject are one change.
 */
export function changeOf({ detail }: Readonly<Pick<SenseEvent, 'detail'>>): string | undefined {
  const identity = textOf(detail?.['identity']);
  if (identity !== undefined) return identity;
  const authored = textOf(detail?.['authoredAt']);
  const subject = textOf(detail?.['subject']);
  if (authored === undefined || subject === undefined) return textOf(detail?.['sha']);
  return `${Date.parse(authored)}\n${subject}`;
}
