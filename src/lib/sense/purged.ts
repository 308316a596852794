import { definedOnly, textOf } from '../platform/files/json-object';
import { isText, listOf, optional, shape } from '../platform/files/shape';
import { folderHash } from '../platform/files/short-hash';
import { OTHER_SITES } from '../platform/net/site';
import { parseIso, toIso } from '../platform/time/clock';
import { isInRange, type DayRange } from '../platform/time/period';
import { dayOf } from '../platform/time/time';
import { FOCUS_TYPES, type SenseEvent } from '../time/event';
import { focusMs } from '../time/focus-samples';
import { checkedApp } from '../time/classify';
import { appOf, browserOf, classifiedNames, siteKey, siteOf } from '../time/site';
import type { RepoMatch } from './purge-repo';

const known = (...names: unknown[]): string[] => names.filter(isText).map((name) => name.toLowerCase());
const prefixed = (prefix: string, name: unknown): unknown => isText(name) && `${prefix}:${name}`;

/** Returns the names that an application selects. The sites that an extension reported belong to its browsers. */
export function selectedApps(app: string): string[] {
  return known(checkedApp(app), prefixed('via', browserOf(app)));
}

/** Returns the names that a repository selects. A name that others also have selects nothing. */
export function selectedRepos({ names, others, paths }: Pick<RepoMatch, 'names' | 'others' | 'paths'>) {
  return known(...(others.length === 0 ? names.map((name) => prefixed('repo', name)) : []), ...paths);
}

/** Returns the names by which an application selects an event. A site's parent domains select it too. */
export function appsOf({ type, app, detail }: Readonly<SenseEvent>): string[] {
  const name = app ?? (type === 'web-focus' ? siteKey(OTHER_SITES) : '');
  return known(...classifiedNames(name), detail?.['bundleId'], prefixed('via', detail?.['via']));
}

/** Returns the names by which an application selects a row of a record, such as `Firefox: github.com`. */
export function rowApps(row: string): string[] {
  const via = siteOf(row) && prefixed('via', browserOf(appOf(row)));
  return known(row, ...classifiedNames(row), via);
}

export function isAnyOf(names: readonly string[], selected: readonly string[]): boolean {
  return names.some((name) => selected.includes(name));
}

const isTime = (value: unknown): value is number => Number.isSafeInteger(value);
/** Purges, for focus that is stored later. Their names are hashes, because a purge deletes the names. */
const areMarks = listOf(
  shape({ atMs: isTime, from: optional(isText), to: optional(isText), names: optional(listOf(isText)) }),
);
/** The daemon keeps focus until the next capture, which sleep may delay by days. */
const MAX_AGE_MS = 7 * 24 * 3_600_000;

/** Returns the recent purges, without those after a clock that was set back. */
function marksIn(stored: unknown, nowMs: number) {
  return (areMarks(stored) ? stored : []).filter(({ atMs }) => atMs <= nowMs && atMs > nowMs - MAX_AGE_MS);
}

/** Adds a purge, of all focus in the range unless it has names. */
export function withPurge(
  stored: unknown,
  { from, to }: DayRange,
  names: string[] | undefined,
  nowMs: number,
) {
  return [...marksIn(stored, nowMs), definedOnly({ from, to, names: names?.map(folderHash), atMs: nowMs })];
}

/** Returns the events without the focus that was purged before it was stored. */
export function withoutPurged(
  events: readonly SenseEvent[],
  stored: unknown,
  { nowMs, deps }: { nowMs: number; deps: { timezone: string; config: { pollIntervalSec: number } } },
): SenseEvent[] {
  const marks = marksIn(stored, nowMs);
  return events.flatMap((event) => {
    const { ts, type, repo, detail } = event;
    const toMs = parseIso(ts) ?? 0;
    const day = dayOf(toMs, deps.timezone);
    const names = [...appsOf(event), ...known(prefixed('repo', repo), detail?.['path'])].map(folderHash);
    const times = marks
      .filter((mark) => isInRange(mark, day) && (mark.names === undefined || isAnyOf(names, mark.names)))
      .map(({ atMs }) => atMs);
    const purgedMs = Math.max(0, ...times);
    const from = parseIso(textOf(detail?.['from']) ?? '');
    const fromMs = from ?? toMs - focusMs(event, deps.config.pollIntervalSec);
    if (!FOCUS_TYPES.has(type) || purgedMs <= fromMs) return [event];
    if (purgedMs >= toMs) return [];
    const rest = from === undefined ? { intervalSec: (toMs - purgedMs) / 1000 } : { from: toIso(purgedMs) };
    return [{ ...event, detail: { ...detail, ...rest } }];
  });
}
