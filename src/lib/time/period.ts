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
 * Parses a day in words, or a period: `week`, `last month`, `this year`, `last 3 weeks`, `October`,
 * `May 2025`, `2026-10` or `2025`. `year` is the last 365 days. Throws `usage` for other periods.
 */
export async function readDays(of: string, now: ZonedNow): Promise<Period> {
  const today = dayOf(now.nowMs, now.zone);
  const word = of.trim().toLowerCase();
  const months = monthsOf(word, Number(today.slice(0, 4)) * 12 + Number(today.slice(5, 7)) - 1);
  if (months !== undefined) {
    const until = addDays(firstOf(months.first + months.count), -1);
    return readPeriod({ since: firstOf(months.first), until }, now);
  }
  if (/^(?:this )?week$/.test(word)) return readWeek(today, now);
  if (word === 'last week') return readWeek(addDays(today, -7), now);
  const [, count = '1', unit] =
    /^(?:(?:last|past) ([1-9]\d{0,2}) )?(day|week|month|year)s?$/.exec(word) ?? [];
  if (unit !== undefined) return readPeriod({ since: daysBack(today, Number(count), unit) }, now);
  if (/\b(?:quarters?|weeks|months|years)$/.test(word)) {
    throw new StewardError('usage', `Invalid day ${JSON.stringify(of)}.`, {
      hint: 'Use a day such as 2026-11-20, or "week", "last 3 weeks", "October", "quarter" or "year".',
    });
  }
  return readPeriod({ since: of, until: of }, now);
}

const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
];

/** Whole months; `first` counts from the year 0. */
interface Months {
  first: number;
  count: number;
}

/** Returns the months that the text names, or undefined. `now` is the current month. */
function monthsOf(text: string, now: number): Months | undefined {
  const quarter = now - (now % 3);
  const year = now - (now % 12);
  const words: Readonly<Record<string, Months>> = {
    month: { first: now, count: 1 },
    quarter: { first: quarter, count: 3 },
    'this month': { first: now, count: 1 },
    'this quarter': { first: quarter, count: 3 },
    'this year': { first: year, count: 12 },
    'last month': { first: now - 1, count: 1 },
    'last quarter': { first: quarter - 3, count: 3 },
    'last year': { first: year - 12, count: 12 },
  };
  const digits = /^(\d{4})(?:-(0[1-9]|1[0-2]))?$/.exec(text);
  if (digits?.[1] !== undefined) {
    const january = Number(digits[1]) * 12;
    return digits[2] === undefined
      ? { first: january, count: 12 }
      : { first: january + Number(digits[2]) - 1, count: 1 };
  }
  const [, last, name = '', inYear] = /^(last )?([a-z]{3,9})(?: (\d{4}))?$/.exec(text) ?? [];
  const month = MONTHS.findIndex((full) => name === full || name === full.slice(0, 3));
  if (month === -1) return words[text];
  if (inYear !== undefined) return { first: Number(inYear) * 12 + month, count: 1 };
  const isPast = last === undefined ? year + month <= now : year + month < now;
  return { first: year + month - (isPast ? 0 : 12), count: 1 };
}

function firstOf(month: number): Day {
  const year = String(Math.floor(month / 12)).padStart(4, '0');
  return `${year}-${String((month % 12) + 1).padStart(2, '0')}-01`;
}

/** Returns the first of the days that end today, such as the last three weeks. A month has 30 days. */
function daysBack(today: Day, count: number, unit: string): Day {
  const days = { day: 1, week: 7, month: 30, year: 365 }[unit] ?? 1;
  return addDays(today, 1 - days * count);
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
