import type { Day } from '../platform/time/time';
import { readPublishedDay, readPublishedSessions } from './exchange';
import type { PublishedDay, PublishedSession } from './format';
import type { CheckRecord } from './parse';

/** Returns a day's published sessions from the first of the machine folders that has any. */
export function sessionsBefore(folders: readonly string[], day: Day): PublishedSession[] {
  for (const path of folders) {
    const sessions = readPublishedSessions({ path }, day);
    if (sessions.length > 0) return sessions;
  }
  return [];
}

/** Returns a published day from the first of the machine folders that has its times, or else from any. */
export function dayBefore(
  folders: readonly string[],
  day: Day,
  asRecord: CheckRecord,
): PublishedDay | undefined {
  const found = folders.flatMap((path) => readPublishedDay({ path }, day, asRecord) ?? []);
  return found.find(({ spans }) => spans.length > 0) ?? found.at(-1);
}
