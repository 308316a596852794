import type { Chrono, ParsedResult } from 'chrono-node/en';

import { StewardError } from '../errors';
import { toDate } from '../platform/time/clock';
import { parseDuration } from '../platform/time/day-words';
import { longDay } from '../platform/terminal/format';
import { dayOf, instantOf, timeOf, wallClock } from '../platform/time/time';
import { asNamed, namedTime, recurringWords } from './due-words';
import { dueLine } from './issue';

export interface Due {
  /** The text without the words of the date. */
  text: string;
  /** Wall-clock ms; undefined where the text names no date. */
  dueMs: number | undefined;
}

const MORNING = 9;
const END_OF_DAY = 18;
const TONIGHT = 20;
const TIME_OF_DAY = /morning|noon|midday|afternoon|evening|night|now\b/i;
const END_OF_DAY_WORDS =
  /\b(?:eod|cob|end of (?:the |my )?(?:work(?:ing)? ?)?day|end of today|close of business)\b/i;
/** `by 9 tomorrow`, `@ 9`: the library knows `at` alone. */
const BY_HOUR =
  /(?:\bby ?(\d{1,2})(?= (?:today|tomorrow|tonight)\b)|(?<!\S)@ ?(\d{1,2})(?=$| (?:today|tomorrow|tonight|on)\b))/i;
/** `on the 1st`, of no named month and of nothing that is counted (the 2nd floor). */
const DAY_OF_MONTH =
  /\b(?:on|by|until|before|from|for) the (\d{1,2})(?:st|nd|rd|th)\b(?=\s*(?:$|[.;:!)]|,(?! ?\d))|\s+(?:at|around|in the (?:morning|afternoon|evening)|noon|to|please|\d{1,2}(?::\d|\s?[ap]m)|eod|cob)\b)/i;
/** `12.11.`, `12.11.2026`: dots stand behind a day. */
const DOTTED = /(?<![\d.])(\d{1,2})\.(\d{1,2})(?:\.(\d{4}|\d\d)?)?(?!\d)/;
const SLASHED = 'parser/SlashDateFormatParser';
const DAY_FIRST = 'day-first';
/** Minutes from UTC. */
const NOBODYS_OFFSET = 7;

interface Zoned {
  nowMs: number;
  zone: string;
}

/**
 * Reads a date in natural words out of a text (`call Ann tomorrow at 9`, `in 2 hours`, `next friday`), in the local
 * zone and always forward. A time that is over is `usage`.
 *
 * @param options.isTime the text is nothing but a time, so that no word of it is in doubt
 */
export async function readDue(text: string, options: Zoned & { isTime?: boolean }): Promise<Due> {
  const recurring = recurringWords(text);
  if (recurring !== undefined) {
    throw new StewardError('usage', `Recurring reminders are not supported: "${recurring}".`, {
      hint: 'Name one time, such as "tomorrow at 9".',
    });
  }
  const { nowMs, zone } = options;
  const wall = wallClock(nowMs, zone);
  const parser = await parserOf(wall);
  // The library counts with what the wall clock shows, in a zone that nobody has; what it finds is put back into
  // the real one, whose summer time may begin in between. Only a zone in the text itself is another one.
  const shown = Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute, wall.second);
  const reference = { instant: toDate(shown - NOBODYS_OFFSET * 60_000), timezone: NOBODYS_OFFSET };
  const found =
    options.isTime === true
      ? parser.parse(text, reference, { forwardDate: true }).map(asNamed)[0]
      : namedTime(parser, text, reference);
  if (found === undefined) return { text: text.trim(), dueMs: undefined };
  const { result, spans } = found;
  // Whether a weekday or a day of some year is over the library would judge by the zone of the machine.
  const step = stepOf(result.start);
  const at =
    step === undefined ? result.start : (parser.parse(result.text, reference)[0]?.start ?? result.start);
  const dueMs = instantMeant({ ...result, start: at }, step, options);
  if (dueMs <= nowMs) {
    throw new StewardError('usage', `"${result.text}" is over.`, {
      hint: 'Name a time that is to come, such as "tomorrow at 9" or "in 2 hours".',
    });
  }
  return { text: spans.reduceRight(without, text), dueMs };
}

/** The instant that the words mean; at or before now where it is over. */
function instantMeant(
  { text, start: at }: Pick<ParsedResult, 'text' | 'start'>,
  step: Step,
  { nowMs, zone }: Zoned,
): number {
  const get = (part: 'year' | 'month' | 'day' | 'hour' | 'minute'): number => at.get(part) ?? 0;
  const day = { year: get('year'), month: get('month'), day: get('day') };
  if (!at.isCertain('hour')) {
    const evening = (hour: number, minute: number): number => instantOf({ ...day, hour, minute }, zone);
    if (/\btonight$/i.test(text)) {
      const tonight = evening(TONIGHT, 0);
      return tonight > nowMs ? tonight : nowMs + 3_600_000;
    }
    if (/\btoday$/i.test(text)) {
      const end = evening(END_OF_DAY, 0);
      return end > nowMs ? end : evening(23, 59);
    }
  }
  // A day alone is given some hour by the library, and meant for its morning; "this evening" has an hour of its own.
  const isDayOnly = !at.isCertain('hour') && !TIME_OF_DAY.test(text);
  const hour = isDayOnly ? MORNING : get('hour');
  const named = { ...day, hour, minute: isDayOnly ? 0 : get('minute') };
  const isZoned = at.isCertain('timezoneOffset') && at.get('timezoneOffset') !== NOBODYS_OFFSET;
  const instant = (wanted: typeof named): number =>
    isZoned ? instantOf(wanted, 'UTC') - (at.get('timezoneOffset') ?? 0) * 60_000 : instantOf(wanted, zone);
  return instant(instant(named) <= nowMs ? following(named, step) : named);
}

/** The library's English parser, with `eod`, `by 9 tomorrow` and `on the 1st`, which it does not know. */
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
        const [, day = '', month = '', year] = match;
        // A version, a number: "1.5", "1.5.2".
        if (/^\d\.\d(?:\.\d{1,2})?$/.test(match[0])) return null;
        const parts = { day: Number(day), month: Number(month) };
        if (parts.month > 12) [parts.day, parts.month] = [parts.month, parts.day];
        if (parts.day < 1 || parts.day > 31 || parts.month < 1 || parts.month > 12) return null;
        const whole =
          year === undefined ? parts : { ...parts, year: Number(year) + (year.length === 2 ? 2000 : 0) };
        return context.createParsingComponents(whole).addTag(SLASHED).addTag(DAY_FIRST);
      },
    },
    {
      pattern: () => DAY_OF_MONTH,
      extract: (context, match) => {
        const day = Number(match[1]);
        if (day < 1 || day > 31) return null;
        const found = context.createParsingComponents({ day });
        const { year, month } = monthWith(day, {
          year: wall.year,
          month: wall.month + (day < wall.day ? 1 : 0),
        });
        found.imply('year', year).imply('month', month);
        return found;
      },
    },
  );
  // The library takes the first number of "12.11." for the month.
  parser.refiners.unshift({
    refine: (_context, results) =>
      results.filter(
        ({ start, text }) =>
          !start.tags().has(SLASHED) || start.tags().has(DAY_FIRST) || !/\d\.\d/.test(text),
      ),
  });
  return parser;
}

type Step = 'year' | 'month' | 'week' | undefined;

/** The next day that the same words may mean. */
function following<T extends { year: number; month: number; day: number }>(named: T, step: Step): T {
  if (step === 'year') return { ...named, year: named.year + 1 };
  if (step === 'week') return { ...named, day: named.day + 7 };
  if (step === 'month')
    return { ...named, ...monthWith(named.day, { year: named.year, month: named.month + 1 }) };
  return named;
}

/** The given month (13 is the next January), or the first one after it that has such a day. */
function monthWith(day: number, from: { year: number; month: number }): { year: number; month: number } {
  const at = toDate(Date.UTC(from.year, from.month - 1, 1));
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth() + 1];
  const days = toDate(Date.UTC(year, month, 0)).getUTCDate();
  return day <= days ? { year, month } : monthWith(day, { year, month: month + 1 });
}

/** How far apart the days are that such words may mean: each Friday, each 1 December; undefined where it is one day. */
function stepOf(at: { isCertain: (part: 'weekday' | 'day' | 'month' | 'year') => boolean }): Step {
  if (at.isCertain('month')) return at.isCertain('year') ? undefined : 'year';
  if (at.isCertain('day')) return 'month';
  return at.isCertain('weekday') ? 'week' : undefined;
}

const RELATIVE = /^(?:today|tomorrow|tonight|next|this|in)\b/i;
const PART_OF_DAY = /^(?:morning|afternoon|evening)/i;
const RELATIVE_LEAD = /(?:\b(?:by|until|till|before|from|for|due)(?: the)?|[-–—:,@(])$/i;
const PART_LEAD = /(?:\b(?:in|on|at|by|until|till|before|from|for|due)(?: the)?|[-–—:,@(])$/i;
const DATE_LEAD = /(?:\b(?:on|at|by|until|till|before|from|for|due)(?: the)?|[-–—:,@(])$/i;

/** `call Ann on` → `call Ann`: a word that led to the date goes with it. `turn it on` tomorrow stays. */
function without(text: string, { index, length }: { index: number; length: number }): string {
  const words = text.slice(index, index + length);
  const lead = RELATIVE.test(words) ? RELATIVE_LEAD : PART_OF_DAY.test(words) ? PART_LEAD : DATE_LEAD;
  const before = text.slice(0, index).trimEnd().replace(lead, '');
  const after = text.slice(index + length).replace(/^\s*[),:;-]\s*/, ' ');
  return `${before} ${after}`.replace(/\s+/g, ' ').trim();
}

/** How a body says a time to people. */
export function dueWords(dueMs: number, zone: string): string {
  return dueLine(longDay(dayOf(dueMs, zone)), timeOf(dueMs, zone), zone);
}

/** A time that is nothing but a time: `2h`, `1h30m`, `tomorrow 9am`. One that is none, or is over, is `usage`. */
export async function readWhen(text: string, options: { nowMs: number; zone: string }): Promise<number> {
  if (/^\s*(?:\d+(?:\.\d+)?\s*[smhd]\s*)+$/i.test(text)) {
    return options.nowMs + parseDuration(text.replace(/\s+/g, ''));
  }
  const { dueMs } = await readDue(text, { ...options, isTime: true });
  if (dueMs !== undefined) return dueMs;
  throw new StewardError('usage', `${JSON.stringify(text)} names no time.`, {
    hint: 'Write it as 2h, "tomorrow 9am", "friday 14:00" or "2026-11-20 09:00".',
  });
}
