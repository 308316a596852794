import type { Machine } from '../config/user-area';
import { StewardError } from '../errors';
import { isObject } from '../platform/files/json-object';
import { withMachineLock } from '../platform/files/lock';
import { readObject, writeObject } from '../platform/files/object-file';
import { parseIso, toIso } from '../platform/time/clock';
import { minutes } from '../platform/time/day-words';
import type { InboxWait } from './row';

const VERSION = 1;
/** A mark of something that has waited for longer than this is removed, unless it is snoozed. */
const KEEP_MS = 60 * 86_400_000;
const MAX_SNOOZE_DAYS = 90;

/** What you did with each wait: the time until which it is snoozed, or null if it is done. */
export type Marks = Readonly<Record<string, string | null>>;

/** A wait's key. A new wait of the same session has another key, so that it is listed again. */
export function markOf({ id, since }: Pick<InboxWait, 'id' | 'since'>): string {
  return `${since} ${id}`;
}

export function readMarks(path: string): Marks {
  const marks = readObject(path)?.['marks'];
  if (!isObject(marks)) return {};
  const valid = Object.entries(marks).filter(([, until]) => until === null || typeof until === 'string');
  return Object.fromEntries(valid) as Marks;
}

/** Returns the waits that are neither done nor snoozed. */
export function unmarked(waits: readonly InboxWait[], marks: Marks, nowMs: number): InboxWait[] {
  return waits.filter((wait) => {
    const until = marks[markOf(wait)];
    return until === undefined || (until !== null && (parseIso(until) ?? 0) <= nowMs);
  });
}

const COUNT_VALID_MS = 60_000;

/** Returns how many waits are listed, since when, and until when that is valid if no file changes. */
export function countOf(
  waits: readonly InboxWait[],
  dues: readonly (string | null)[],
  marks: Marks,
  nowMs: number,
) {
  const times = [...dues, ...Object.values(marks)].map((at) => parseIso(at ?? '') ?? 0);
  const untilMs = Math.min(nowMs + COUNT_VALID_MS, ...times.filter((ms) => ms > nowMs));
  const shown = unmarked(waits, marks, nowMs);
  const [othersSince = null] = shown.map(({ since }) => since).sort();
  return { others: shown.length, othersSince, untilMs };
}

/** Returns the snoozed waits, and says for how long they are. */
export function snoozedOf(waits: readonly InboxWait[], marks: Marks, nowMs: number): InboxWait[] {
  return waits.flatMap((wait) => {
    const leftMs = (parseIso(marks[markOf(wait)] ?? '') ?? 0) - nowMs;
    return leftMs > 0 ? { ...wait, why: `in ${minutes(Math.ceil(leftMs / 60_000))}: ${wait.why}` } : [];
  });
}

/** Throws `usage` if a snooze is longer than marks are kept. */
export function checkSnooze(untilMs: number, nowMs: number): void {
  if (untilMs - nowMs <= MAX_SNOOZE_DAYS * 86_400_000) return;
  throw new StewardError('usage', `A row can be snoozed for ${MAX_SNOOZE_DAYS} days at most.`, {
    hint: 'Give an earlier time, such as "2h", "tomorrow 9am" or "30d".',
  });
}

/** Marks waits as snoozed until a time, or as done if it is null. */
export async function mark(machine: Machine, waits: readonly InboxWait[], untilMs: number | null) {
  const { inbox } = machine.area;
  const until = untilMs === null ? null : toIso(untilMs);
  const nowMs = machine.clock.now();
  const [now, oldest] = [toIso(nowMs), toIso(nowMs - KEEP_MS)];
  await withMachineLock(machine, 'inbox', 5_000, () => {
    const kept = Object.entries(readMarks(inbox)).filter(([key, at]) => key > oldest || (at ?? '') > now);
    const marks = Object.fromEntries([...kept, ...waits.map((wait) => [markOf(wait), until] as const)]);
    writeObject(inbox, { version: VERSION, marks });
  });
}
