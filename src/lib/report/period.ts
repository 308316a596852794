import { StewardError } from '../errors';
import { toDate } from '../platform/clock';
import { addDays, dayBounds, dayOf, isDay, wallClock, type Day } from '../platform/time';

/** Whole local days, both inclusive, and the instants that they lie between. */
export interface Period {
  from: Day;
  to: Day;
  timezone: string;
  startMs: number;
  endMs: number;
  /** Today is its last day: what is in progress now belongs to it. */
  current: boolean;
}

interface Now {
  nowMs: number;
  /** An IANA name. */
  zone: string;
}

const MAX_DAYS = 3660;
const HINT = 'Write it as yesterday, friday, "3 days ago", 7d, "1 November" or 2026-11-20.';

/**
 * The period between two days in natural words; `since` is a day that has begun, `until` is today when left out, and
 * today when it lies ahead. What names no day, or a day to come, is `usage`.
 */
export async function readPeriod(words: { since: string; until?: string }, now: Now): Promise<Period> {
  const today = dayOf(now.nowMs, now.zone);
  const from = await readDay(words.since, now);
  if (from > today) throw ahead(words.since, from);
  const asked = words.until === undefined ? today : await readDay(words.until, now);
  const to = asked > today ? today : asked;
  if (from > to) {
    throw new StewardError('usage', `${from} is after ${to}.`, { hint: 'Give the earlier day as --since.' });
  }
  return periodOf(from, to, now);
}

/** The week, Monday to Sunday, of a day in natural words; of the running week the days up to today. */
export async function readWeek(of: string | undefined, now: Now): Promise<Period> {
  const today = dayOf(now.nowMs, now.zone);
  const day = of === undefined ? today : await readDay(of, now);
  const monday = addDays(day, -sinceMonday(day));
  if (monday > today) throw ahead(of ?? day, monday);
  const sunday = addDays(monday, 6);
  return periodOf(monday, sunday > today ? today : sunday, now);
}

function periodOf(from: Day, to: Day, { nowMs, zone }: Now): Period {
  if (daysOf({ from, to }).length > MAX_DAYS) {
    throw new StewardError('usage', `From ${from} to ${to} is more than ten years.`, {
      hint: 'Ask for a shorter time.',
    });
  }
  const current = to === dayOf(nowMs, zone);
  const [startMs, endMs] = [dayBounds(from, zone).startMs, dayBounds(to, zone).endMs];
  return { from, to, timezone: zone, startMs, endMs, current };
}

/** The days of a period in order, no more than one beyond the most that a period may have. */
export function daysOf({ from, to }: Pick<Period, 'from' | 'to'>): Day[] {
  const days: Day[] = [];
  for (let day = from; day <= to && days.length <= MAX_DAYS; day = addDays(day, 1)) days.push(day);
  return days;
}

/** A day as a person says it: of a weekday the last one, today included. */
async function readDay(text: string, { nowMs, zone }: Now): Promise<Day> {
  const words = text.trim();
  if (isDay(words)) return words;
  const today = dayOf(nowMs, zone);
  const count = /^(\d{1,4})\s*([dw])$/i.exec(words);
  if (count !== null) return addDays(today, -Number(count[1]) * (count[2]?.toLowerCase() === 'w' ? 7 : 1));
  const { casual } = await import('chrono-node/en');
  const { year, month, day, hour, minute } = wallClock(nowMs, zone);
  // The library counts with what the wall clock shows; only the day of what it finds is looked at.
  const shown = toDate(Date.UTC(year, month - 1, day, hour, minute));
  const [found] = casual.parse(words, { instant: shown, timezone: 0 });
  if (found === undefined || found.text.length !== words.length || isRange(found)) {
    throw new StewardError('usage', `${JSON.stringify(text)} names no day.`, { hint: HINT });
  }
  const at = found.start;
  const named = [at.get('year') ?? 0, at.get('month') ?? 0, at.get('day') ?? 0]
    .map((part, index) => String(part).padStart(index === 0 ? 4 : 2, '0'))
    .join('-');
  // A weekday or a date without its year is the nearest one to the library, and here the last one.
  const isNearest = !/\b(?:next|coming)\b/i.test(words);
  if (isNearest && named > today && at.isCertain('weekday') && !at.isCertain('day')) {
    return addDays(named, -7);
  }
  if (named > today && at.isCertain('month') && !at.isCertain('year')) {
    const before = `${String(Number(named.slice(0, 4)) - 1).padStart(4, '0')}${named.slice(4)}`;
    return isDay(before) ? before : addDays(named, -365);
  }
  return named;
}

/** The library says null of what has no end. */
function isRange({ end }: { end?: object | null }): boolean {
  return end !== undefined && end !== null;
}

function ahead(text: string, day: Day): StewardError {
  return new StewardError('usage', `${JSON.stringify(text)} is ${day}, which has not begun yet.`, {
    hint: HINT,
  });
}

/** Days since Monday, 0 to 6; 1 January 1970 was a Thursday. */
function sinceMonday(day: Day): number {
  const days = Math.floor(Date.parse(`${day}T00:00:00Z`) / 86_400_000);
  return (((days + 3) % 7) + 7) % 7;
}
