import type { Chrono, ParsedResult } from 'chrono-node/en';

import DATA from '../../../templates/data/due-words.json';
import { StewardError } from '../errors';
import { longDay } from '../platform/terminal/format';
import { toDate } from '../platform/time/clock';
import { parseDuration } from '../platform/time/day-words';
import { dayOf, instantOf, timeOf, wallClock } from '../platform/time/time';
import { asNamed, impossibleTime, namedTime, recurringWords, rx, type PhraseRange } from './due-words';
import { dueLine } from './issue';

const MORNING = 9;
const END_OF_DAY = 18;
const TONIGHT = 20;
const TIME_OF_DAY = /noon|midday|afternoon|evening|night|now\b/i;
const END_OF_DAY_WORDS = rx(DATA.patterns.endOfDay);
/** Matches `by 9 tomorrow` and `@ 9`, because chrono recognizes an hour only after `at`. */
const BY_HOUR = rx(DATA.patterns.byHour);
/** Matches `on the 1st`, but not if a noun or month follows (`on the 2nd floor`). */
const DAY_OF_MONTH = rx(DATA.patterns.dayOfMonth);
/** Matches dates with the day first, such as `12.11.` and `12.11.2026`. */
const DOTTED = /(?<![\d.])(\d{1,2})\.(\d{1,2})(?:\.(\d{4}|\d\d)?)?(?!\d)/;
const SLASHED = 'parser/SlashDateFormatParser';
const DAY_FIRST = 'day-first';
/**
 * A UTC offset in minutes that no zone uses. If chrono returns another offset, the text names a time zone.
 */
const UNUSED_OFFSET = 7;

interface Now {
  nowMs: number;
  zone: string;
}

/**
 * Finds a future date in a text (`call Ann tomorrow at 9`). Throws `usage` for a past, impossible or
 * recurring time.
 * @param options.isTime Whether the whole text describes a time. If so, no word counts as ambiguous.
 */
export async function readDue(text: string, options: Now & { isTime?: boolean }) {
  const recurring = recurringWords(text);
  if (recurring !== undefined) {
    throw new StewardError('usage', `Recurring reminders are not supported: "${recurring}".`, {
      hint: 'Give a single time, such as "tomorrow at 9".',
    });
  }
  const impossible = impossibleTime(text);
  if (impossible !== undefined) {
    throw new StewardError('usage', `"${impossible}" does not exist.`, {
      hint: 'Give a date in the calendar, such as "on 30 November".',
    });
  }
  const { nowMs, zone } = options;
  const wall = wallClock(nowMs, zone);
  const parser = await parserOf(wall);
  // Pass chrono the local time with an offset that no zone uses. With the real offset, a daylight saving
  // change would shift the date.
  const shownMs = Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute, wall.second);
  const reference = { instant: toDate(shownMs - UNUSED_OFFSET * 60_000), timezone: UNUSED_OFFSET };
  const found =
    options.isTime === true
      ? parser.parse(text, reference, { forwardDate: true }).map(asNamed)[0]
      : namedTime(parser, text, reference);
  if (found === undefined) return { text: text.trim(), dueMs: undefined };
  const { result, spans } = found;
  // Parse again without `forwardDate`, which uses the machine's time zone to decide whether a date has
  // passed.
  const step = stepOf(result.start);
  const start = step === undefined ? undefined : parser.parse(result.text, reference)[0]?.start;
  const dueMs = instantMeant(result.text, start ?? result.start, step, options);
  if (dueMs <= nowMs) {
    throw new StewardError('usage', `"${result.text}" is in the past.`, {
      hint: 'Give a future time, such as "tomorrow at 9" or "in 2 hours".',
    });
  }
  return { text: spans.reduceRight(without, text), dueMs };
}

/** Returns the time mentioned in the text, which may be in the past. */
function instantMeant(text: string, at: ParsedResult['start'], step: Step, { nowMs, zone }: Now): number {
  const get = (part: 'year' | 'month' | 'day' | 'hour' | 'minute'): number => at.get(part) ?? 0;
  const day = { year: get('year'), month: get('month'), day: get('day') };
  if (!at.isCertain('hour')) {
    const instantAt = (hour: number, minute = 0): number => instantOf({ ...day, hour, minute }, zone);
    if (/\btonight$/i.test(text)) {
      const tonight = instantAt(TONIGHT);
      return tonight > nowMs ? tonight : nowMs + 3_600_000;
    }
    if (/\btoday$/i.test(text)) {
      const end = instantAt(END_OF_DAY);
      return end > nowMs ? end : instantAt(23, 59);
    }
  }
  // If a text specifies a day or a morning but no hour, chrono picks an arbitrary hour. Use the start of the
  // day instead, unless a phrase such as "this evening" sets the hour.
  const isDayOnly = !at.isCertain('hour') && !TIME_OF_DAY.test(text);
  const named = { ...day, hour: isDayOnly ? MORNING : get('hour'), minute: isDayOnly ? 0 : get('minute') };
  const offset = at.get('timezoneOffset') ?? UNUSED_OFFSET;
  const isZoned = at.isCertain('timezoneOffset') && offset !== UNUSED_OFFSET;
  const instant = (wanted: typeof named): number =>
    isZoned ? instantOf(wanted, 'UTC') - offset * 60_000 : instantOf(wanted, zone);
  return instant(instant(named) <= nowMs ? following(named, step) : named);
}

/** Returns chrono's English parser, extended with `eod`, `by 9 tomorrow`, `12.11.` and `on the 1st`. */
async function parserOf(wall: { year: number; month: number; day: number }): Promise<Chrono> {
  const { casual } = await import('chrono-node/en');
  const parser = casual.clone();
  parser.parsers.push(
    { pattern: () => END_OF_DAY_WORDS, extract: () => ({ hour: END_OF_DAY, minute: 0 }) },
    {
      pattern: () => BY_HOUR,
      extract: (_context, match) => {
        const hour = Number(match[1] ?? match[2]);
        return hour < 24 ? { hour, minute: 0 } : null;
      },
    },
    {
      pattern: () => DOTTED,
      extract: (context, match) => {
        const date = dottedDate(match);
        return date === undefined
          ? null
          : context.createParsingComponents(date).addTag(SLASHED).addTag(DAY_FIRST);
      },
    },
    {
      pattern: () => DAY_OF_MONTH,
      extract: (context, match) => {
        const day = Number(match[1]);
        if (day < 1 || day > 31) return null;
        const month = wall.month + (day < wall.day ? 1 : 0);
        const next = monthWith(day, { year: wall.year, month });
        const found = context.createParsingComponents({ day });
        found.imply('year', next.year).imply('month', next.month);
        return found;
      },
    },
  );
  // Removes chrono's results for dates such as "12.11.", because chrono takes the first number as the month.
  parser.refiners.unshift({
    refine: (_context, results) =>
      results.filter(
        ({ start, text }) =>
          !start.tags().has(SLASHED) || start.tags().has(DAY_FIRST) || !/\d\.\d/.test(text),
      ),
  });
  return parser;
}

/** Parses `12.11.2026`. Returns undefined for a number or version such as `1.5.2`. */
function dottedDate(match: RegExpMatchArray): { day: number; month: number; year?: number } | undefined {
  if (/^\d\.\d(?:\.\d{1,2})?$/.test(match[0])) return undefined;
  let [day, month] = [Number(match[1]), Number(match[2])];
  if (month > 12) [day, month] = [month, day];
  if (day < 1 || day > 31 || month < 1 || month > 12) return undefined;
  const year = match[3];
  return year === undefined
    ? { day, month }
    : { day, month, year: Number(year) + (year.length === 2 ? 2000 : 0) };
}

type Step = 'year' | 'month' | 'week' | undefined;

/** Returns the next occurrence of a date: one year, month or week later. */
function following<T extends { year: number; month: number; day: number }>(named: T, step: Step): T {
  if (step === 'year') return { ...named, year: named.year + 1 };
  if (step === 'week') return { ...named, day: named.day + 7 };
  if (step === 'month')
    return { ...named, ...monthWith(named.day, { year: named.year, month: named.month + 1 }) };
  return named;
}

/**
 * Returns `from` if that month has this day; otherwise, the next month that has it. In `from`, month 13 means
 * January of the next year.
 */
function monthWith(day: number, from: { year: number; month: number }): { year: number; month: number } {
  const at = toDate(Date.UTC(from.year, from.month - 1, 1));
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth() + 1];
  const days = toDate(Date.UTC(year, month, 0)).getUTCDate();
  return day <= days ? { year, month } : monthWith(day, { year, month: month + 1 });
}

/** Returns the interval at which a date recurs (a week for `Friday`), or undefined for a full date. */
function stepOf(at: { isCertain: (part: 'weekday' | 'day' | 'month' | 'year') => boolean }): Step {
  if (at.isCertain('month')) return at.isCertain('year') ? undefined : 'year';
  if (at.isCertain('day')) return 'month';
  return at.isCertain('weekday') ? 'week' : undefined;
}

const RELATIVE = /^(?:today|tomorrow|tonight|next|this|in)\b/i;
const PART_OF_DAY = /^(?:morning|afternoon|evening)/i;
const leadingWords = (more: string): RegExp =>
  new RegExp(`(?:\\b(?:${more}by|until|till|before|from|for|due)(?: the)?|[-\u2013\u2014:,@(])$`, 'i');
const RELATIVE_LEAD = leadingWords('');
const PART_LEAD = leadingWords('in|on|at|');
const DATE_LEAD = leadingWords('on|at|');

/** Removes a date and the preposition before it: `call Ann on friday` becomes `call Ann`. */
function without(text: string, { index, length }: PhraseRange): string {
  const words = text.slice(index, index + length);
  const lead = RELATIVE.test(words) ? RELATIVE_LEAD : PART_OF_DAY.test(words) ? PART_LEAD : DATE_LEAD;
  const before = text.slice(0, index).trimEnd().replace(lead, '');
  const after = text.slice(index + length).replace(/^\s*[),:;-]\s*/, ' ');
  return `${before} ${after}`.replace(/\s+/g, ' ').trim();
}

export function dueWords(dueMs: number, zone: string): string {
  return dueLine(longDay(dayOf(dueMs, zone)), timeOf(dueMs, zone), zone);
}

/**
 * Parses a text that contains only a time, such as `2h`, `1h30m` or `tomorrow 9am`. Throws `usage` for other
 * texts.
 */
export async function readWhen(text: string, options: Now): Promise<number> {
  if (/^\s*(?:\d+(?:\.\d+)?\s*[smhd]\s*)+$/i.test(text)) {
    return options.nowMs + parseDuration(text.replace(/\s+/g, ''));
  }
  const { dueMs } = await readDue(text, { ...options, isTime: true });
  if (dueMs !== undefined) return dueMs;
  throw new StewardError('usage', `Invalid time ${JSON.stringify(text)}.`, {
    hint: 'Use a time such as "2h", "tomorrow 9am", "friday 14:00" or "2026-11-20 09:00".',
  });
}
