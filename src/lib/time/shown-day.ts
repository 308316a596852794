import { definedOnly, isObject, textOf } from '../platform/files/json-object';
import { dayParts, type DayParts } from './day-parts';
import type { TimelineOptions } from './day-timeline';
import type { SenseEvent } from './event';
import { recordTally, type DailyRecord } from './record';

/** Determines which sessions and repositories other machines and the insight's assistant may see. */
export interface Shown {
  isShown: (session: string) => boolean;
  isRestrictedRepo: (repo: string, path?: string) => boolean;
}

/** Returns the data that other machines may see. Totals omit hidden sessions and repositories. */
export function shownDay(
  record: DailyRecord,
  events: readonly SenseEvent[],
  options: TimelineOptions,
  shown: Shown,
): { record: DailyRecord; parts: DayParts } {
  const visible = visibleEvents(events, shown);
  const tally = recordTally(record.date, { ...options, timezone: record.timezone });
  for (const event of visible) tally.add(event, Date.parse(event.ts));
  const { commits, sessions, ledger } = tally.result(record);
  return {
    record: { ...record, commits, sessions, ...(ledger && { ledger }) },
    parts: dayParts(visible, options),
  };
}

/**
 * Returns the events that other machines may see. Hides a session if any of its repositories is restricted.
 */
export function visibleEvents(
  events: readonly SenseEvent[],
  { isShown, isRestrictedRepo }: Shown,
): SenseEvent[] {
  const isRestricted = ({ repo, detail }: SenseEvent): boolean =>
    repo !== undefined && isRestrictedRepo(repo, textOf(detail?.['path']));
  const hidden = new Set(events.filter(isRestricted).map(({ detail }) => detail?.['session']));
  const isVisible = (id: unknown): boolean => typeof id === 'string' && isShown(id) && !hidden.has(id);
  return events.flatMap((event): SenseEvent[] => {
    const { session, sessions = [] } = event.detail ?? {};
    if (event.type === 'app-focus') {
      const ids = Array.isArray(sessions)
        ? sessions.map((item: unknown) => (isObject(item) ? item['id'] : item))
        : [];
      return [ids.every(isVisible) && !isRestricted(event) ? event : withoutPlace(event)];
    }
    return (session === undefined || isVisible(session)) && !isRestricted(event) ? [event] : [];
  });
}

function withoutPlace({ repo: _repo, detail = {}, ...event }: SenseEvent): SenseEvent {
  const { intervalSec, idleSec, via, bundleId, machine } = detail;
  return { ...event, detail: definedOnly({ intervalSec, idleSec, via, bundleId, machine }) };
}
