import { StewardError } from '../errors';
import { DAY_HINT, readDay, type ZonedNow } from '../platform/time/day-words';
import { addDays, dayBounds, dayOf, type Day } from '../platform/time/time';

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

const MAX_DAYS = 3660;

/**
 * The period between two days in natural words; `since` is a day that has begun, `until` is today when left out, and
 * today when it lies ahead. What names no day, or a day to come, is `usage`.
 */
export async function readPeriod(words: { since: string; until?: string }, now: ZonedNow): Promise<Period> {
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
export async function readWeek(of: string | undefined, now: ZonedNow): Promise<Period> {
  const today = dayOf(now.nowMs, now.zone);
  const day = of === undefined ? today : await readDay(of, now);
  const monday = addDays(day, -sinceMonday(day));
  if (monday > today) throw ahead(of ?? day, monday);
  const sunday = addDays(monday, 6);
  return periodOf(monday, sunday > today ? today : sunday, now);
}

function periodOf(from: Day, to: Day, { nowMs, zone }: ZonedNow): Period {
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

function ahead(text: string, day: Day): StewardError {
  return new StewardError('usage', `${JSON.stringify(text)} is ${day}, which is in the future.`, {
    hint: DAY_HINT,
  });
}

/** Days since Monday, 0 to 6; 1 January 1970 was a Thursday. */
function sinceMonday(day: Day): number {
  const days = Math.floor(Date.parse(`${day}T00:00:00Z`) / 86_400_000);
  return (((days + 3) % 7) + 7) % 7;
}
