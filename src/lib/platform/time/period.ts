import { StewardError } from '../../errors';
import { readDay, type ZonedNow } from './day-words';
import { addDays, dayBounds, dayOf, type Day } from './time';

/** A range of days, both inclusive. A missing end is open. */
export interface DayRange {
  from?: Day;
  to?: Day;
}

export function isInRange({ from = '', to = '9999-12-31' }: DayRange, day: Day): boolean {
  return day >= from && day <= to;
}

type Days = Pick<Period, 'from' | 'to'>;

const MAX_DAYS = 3660;
const FIRST_DAY = '1970-01-01';

export const PERIOD_HINT =
  'Use a period such as yesterday, 2026-11-20, "last week", October, "last 30 days", 2026-11-01..2026-11-07 or "since friday".';

/**
 * Parses a period in words: a day (`yesterday`, `2026-11-20`), `last week`, `this month`, `last 3 weeks`, `30d`,
 * `October`, `May 2025`, `2026-10`, `year` (365 days), `A..B`, `A..`, `..B`, `since A`, `until B` or `before B`.
 * The period ends today at the latest.
 */
export async function readPeriod(text: string, now: ZonedNow): Promise<Period> {
  const words = text.trim().toLowerCase();
  const [, word, bound = ''] = /^(since|from|until|before) (.+)$/.exec(words) ?? [];
  if (word === 'before') {
    const { from } = await readPeriod(bound, now);
    return between(FIRST_DAY, addDays(from, -1), now);
  }
  const range = word === undefined ? words : word === 'until' ? `..${bound}` : `${bound}..`;
  const [first, last, ...rest] = range.split('..').map((part) => part.trim());
  if (first === undefined || last === undefined || rest.length > 0 || first + last === '') {
    const { from, to } = await namedPeriod(text.trim(), now);
    return between(from, to, now);
  }
  return between(
    first === '' ? FIRST_DAY : (await namedPeriod(first, now)).from,
    last === '' ? dayOf(now.nowMs, now.zone) : (await namedPeriod(last, now)).to,
    now,
  );
}

/** Parses a period that ends today, such as `last 30 days`. Throws `usage` if it ends earlier. */
export async function readLatest(text: string, now: ZonedNow): Promise<Period> {
  const period = await readPeriod(text, now);
  if (period.current) return period;
  throw new StewardError('usage', `The period ${JSON.stringify(text)} ends before today.`, {
    hint: 'Use a period that ends today, such as "last 30 days" or "since friday".',
  });
}

/** Returns the whole weeks of a period, Monday to Sunday, at most up to today. */
export function wholeWeeks({ from, to }: Period, now: ZonedNow): Period {
  return between(addDays(from, -sinceMonday(from)), addDays(to, 6 - sinceMonday(to)), now);
}

async function namedPeriod(text: string, now: ZonedNow): Promise<Days> {
  const today = dayOf(now.nowMs, now.zone);
  const word = text.toLowerCase();
  const months = monthsOf(word, Number(today.slice(0, 4)) * 12 + Number(today.slice(5, 7)) - 1);
  if (months !== undefined)
    return { from: firstOf(months.first), to: addDays(firstOf(months.first + months.count), -1) };
  const monday = addDays(today, -sinceMonday(today));
  if (/^(?:this )?week$/.test(word)) return { from: monday, to: today };
  if (word === 'last week') return { from: addDays(monday, -7), to: addDays(monday, -1) };
  if (/^(?:this )?weekend$/.test(word)) return { from: addDays(monday, 5), to: addDays(monday, 6) };
  if (word === 'last weekend') return { from: addDays(monday, -2), to: addDays(monday, -1) };
  const [, count = '1', unit] =
    /^(?:(?:last|past) )?([1-9]\d{0,3}) ?(d|w|days?|weeks?|months?|years?)$/.exec(word) ??
    /^(?:past )?()(day|week|month|year)$/.exec(word) ??
    [];
  if (unit !== undefined) return { from: daysBack(today, Number(count || '1'), unit), to: today };
  if (NOT_A_DAY.test(word)) {
    throw new StewardError('usage', `Invalid period ${JSON.stringify(text)}.`, { hint: PERIOD_HINT });
  }
  const day = await readDay(text, now, PERIOD_HINT);
  return { from: day, to: day };
}

/** Words of longer and shorter times, which the reader of days would take for one day. */
const NOT_A_DAY =
  /\b(?:days|weeks?|weekends?|months?|quarters?|years?)\b(?! ago$)|\b(?:nights?|tonight|mornings?|noon|afternoons?|evenings?|midnight|hours?|minutes?|seconds?|now)\b|\d ?[ap]m\b| \d{1,2}:\d/;

const MONTHS = 'january february march april may june july august september october november december'.split(
  ' ',
);

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
  const days = { d: 1, w: 7, m: 30, y: 365 }[unit[0] ?? ''] ?? 1;
  return addDays(today, 1 - days * count);
}

function between(from: Day, last: Day, { nowMs, zone }: ZonedNow) {
  const today = dayOf(nowMs, zone);
  if (from > today) {
    throw new StewardError('usage', `The period begins on ${from}, which is in the future.`, {
      hint: PERIOD_HINT,
    });
  }
  const to = last > today ? today : last;
  if (from > to) {
    throw new StewardError('usage', `${from} is after ${to}.`, {
      hint: 'Begin a period with its earlier day.',
    });
  }
  const [startMs, endMs] = [dayBounds(from, zone).startMs, dayBounds(to, zone).endMs];
  return { from, to, timezone: zone, startMs, endMs, current: to === today };
}

/**
 * Whole local days from `from` to `to`, both inclusive. `startMs` and `endMs` bound the same period in epoch
 * ms. `current` means that the period ends today and therefore includes work in progress.
 */
export type Period = ReturnType<typeof between>;

/** Returns the period's days in order. Throws `usage` if there are more than ten years of them. */
export function daysOf({ from, to }: Days): Day[] {
  const days: Day[] = [];
  for (let day = from; day <= to; day = addDays(day, 1)) {
    if (days.length === MAX_DAYS)
      throw new StewardError('usage', `The period from ${from} to ${to} is longer than ten years.`, {
        hint: 'Choose a shorter period.',
      });
    days.push(day);
  }
  return days;
}

/** Returns the days since Monday, 0 to 6. Adds 3, because January 1, 1970, was a Thursday. */
function sinceMonday(day: Day): number {
  const days = Math.floor(Date.parse(`${day}T00:00:00Z`) / 86_400_000);
  return (((days + 3) % 7) + 7) % 7;
}
