import { StewardError } from '../errors';
import { DAY_HINT, readDay, type ZonedNow } from '../platform/time/day-words';
import { addDays, dayBounds, dayOf, type Day } from '../platform/time/time';

/**
 * Whole local days from `from` to `to`, both inclusive. `startMs` and `endMs` bound the same period in epoch
 * ms.
 */
export interface Period {
  from: Day;
  to: Day;
  timezone: string;
  startMs: number;
  endMs: number;
  /** Whether the period ends today and therefore includes work in progress. */
  current: boolean;
}

const MAX_DAYS = 3660;

/** Parses a period given in words. `until` defaults to today and is never later. */
export async function readPeriod(words: { since: string; until?: string }, now: ZonedNow): Promise<Period> {
  const today = dayOf(now.nowMs, now.zone);
  const from = await readDay(words.since, now);
  if (from > today) throw inFuture(words.since, from);
  const asked = words.until === undefined ? today : await readDay(words.until, now);
  const to = asked > today ? today : asked;
  if (from > to) {
    throw new StewardError('usage', `${from} is after ${to}.`, { hint: 'Use the earlier day for --since.' });
  }
  return periodOf(from, to, now);
}

/** Parses a day given in words. Returns its week, from Monday through Sunday or, in the current week, today. */
export async function readWeek(of: string | undefined, now: ZonedNow): Promise<Period> {
  const today = dayOf(now.nowMs, now.zone);
  const day = of === undefined ? today : await readDay(of, now);
  const monday = addDays(day, -sinceMonday(day));
  if (monday > today) throw inFuture(of ?? day, monday);
  const sunday = addDays(monday, 6);
  return periodOf(monday, sunday > today ? today : sunday, now);
}

/**
 * Parses a day in words, or a period: `week`, `month`, `quarter`, `year` (the last 365 days), `last
 * week`, `last month`, `last quarter` or `last 3 weeks`. Throws `usage` for other periods.
 */
export async function readDays(of: string, now: ZonedNow): Promise<Period> {
  const today = dayOf(now.nowMs, now.zone);
  const firstOfMonth = `${today.slice(0, 8)}01`;
  const word = of
    .trim()
    .toLowerCase()
    .replace(/^this /, '');
  if (word === 'week') return readWeek(today, now);
  if (word === 'last week') return readWeek(addDays(today, -7), now);
  if (word === 'month') return readPeriod({ since: firstOfMonth }, now);
  if (word === 'last month') {
    const until = addDays(firstOfMonth, -1);
    return readPeriod({ since: `${until.slice(0, 8)}01`, until }, now);
  }
  if (word === 'quarter') return readPeriod({ since: firstOfQuarter(today) }, now);
  if (word === 'last quarter') {
    const until = addDays(firstOfQuarter(today), -1);
    return readPeriod({ since: firstOfQuarter(until), until }, now);
  }
  const weeks = /^(?:last|past) ([1-9]\d{0,2}) weeks?$/.exec(word)?.[1];
  if (weeks !== undefined) return readPeriod({ since: addDays(today, 1 - 7 * Number(weeks)) }, now);
  if (word === 'year') return readPeriod({ since: addDays(today, -364) }, now);
  if (OTHER_PERIOD.test(word)) {
    throw new StewardError('usage', `Invalid day ${JSON.stringify(of)}.`, {
      hint: 'Use a day such as 2026-11-20, or "week", "last 3 weeks", "month", "quarter" or "year".',
    });
  }
  return readPeriod({ since: of, until: of }, now);
}

/** Matches periods that aren't supported, which a parser for days would read as one day. */
const OTHER_PERIOD =
  /^(?:last year|\d{4}(?:-\d{2})?|.*\b(?:quarters?|weeks|months|years)|(?:last )?(?:january|february|march|april|may|june|july|august|(?:septem|octo|novem|decem)ber)(?: \d{4})?)$/;

function firstOfQuarter(day: Day): Day {
  const month = Number(day.slice(5, 7));
  return `${day.slice(0, 5)}${String(month - ((month - 1) % 3)).padStart(2, '0')}-01`;
}

function periodOf(from: Day, to: Day, { nowMs, zone }: ZonedNow): Period {
  if (daysOf({ from, to }).length > MAX_DAYS) {
    throw new StewardError('usage', `The period from ${from} to ${to} is longer than ten years.`, {
      hint: 'Choose a shorter period.',
    });
  }
  const current = to === dayOf(nowMs, zone);
  const [startMs, endMs] = [dayBounds(from, zone).startMs, dayBounds(to, zone).endMs];
  return { from, to, timezone: zone, startMs, endMs, current };
}

/** Returns the period's days in order, but at most `MAX_DAYS` + 1 of them. */
export function daysOf({ from, to }: Pick<Period, 'from' | 'to'>): Day[] {
  const days: Day[] = [];
  for (let day = from; day <= to && days.length <= MAX_DAYS; day = addDays(day, 1)) days.push(day);
  return days;
}

function inFuture(text: string, day: Day): StewardError {
  return new StewardError('usage', `${JSON.stringify(text)} is ${day}, which is in the future.`, {
    hint: DAY_HINT,
  });
}

/** Returns the days since Monday, 0 to 6. Adds 3, because January 1, 1970, was a Thursday. */
function sinceMonday(day: Day): number {
  const days = Math.floor(Date.parse(`${day}T00:00:00Z`) / 86_400_000);
  return (((days + 3) % 7) + 7) % 7;
}
