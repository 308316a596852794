import type { Day } from '../platform/time/time';
import { readPublishedDay, readPublishedSessions } from './exchange';
import type { PublishedDay, PublishedSession } from './format';

/** Searches the machine folders in order for a day's published sessions. Returns the first sessions found. */
export function sessionsBefore(folders: readonly string[], day: Day): PublishedSession[] {
  for (const path of folders) {
    const sessions = readPublishedSessions({ path }, day);
    if (sessions.length > 0) return sessions;
  }
  return [];
}

/**
 * Searches the machine folders for a published day. Returns the first one that contains application times, or
 * else the last one.
 */
export function dayBefore(folders: readonly string[], day: Day): PublishedDay | undefined {
  const found = folders.flatMap((path) => readPublishedDay({ path }, day) ?? []);
  return found.find(({ spans }) => spans.length > 0) ?? found.at(-1);
}
