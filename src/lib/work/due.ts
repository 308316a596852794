import type { Chrono } from 'chrono-node/en';

import { StewardError } from '../errors';
import { toDate } from '../platform/time/clock';
import { parseDuration } from '../platform/time/duration';
import { longDay } from '../platform/terminal/format';
import { dayOf, instantOf, timeOf, wallClock } from '../platform/time/time';
import { dueLine } from './issue';
import { recurringWords } from './recurring';

export interface Due {
  /** The text without the words of the date. */
  text: string;
  /** Wall-clock ms; undefined where the text names no date. */
  dueMs: number | undefined;
}

const MORNING = 9;
const END_OF_DAY = 18;
const TIME_OF_DAY = /morning|noon|midday|afternoon|evening|night|now\b/i;
const END_OF_DAY_WORDS = /\b(?:eod|cob|end of (?:the |my )?(?:work(?:ing)? ?)?day|close of business)\b/i;
/** `on the 1st`, of no named month and of nothing that is counted (the 2nd floor). */
const DAY_OF_MONTH =
  /\b(?:on|by|until|before|from|for) the (\d{1,2})(?:st|nd|rd|th)\b(?=\s*(?:$|[.;:!)]|,(?! ?\d))|\s+(?:at|around|in the (?:morning|afternoon|evening)|noon|to|please|\d{1,2}(?::\d|\s?[ap]m)|eod|cob)\b)/i;
/** Minutes from UTC. */
const NOBODYS_OFFSET = 7;

/**
 * Reads a date in natural words out of a text (`call Ann tomorrow at 9`, `in 2 hours`, `next friday`), in the local
 * zone and always forward. A time that is over is `usage`.
 */
export async function readDue(text: string, options: { nowMs: number; zone: string }): Promise<Due> {
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
  const [found] = parser.parse(text, reference, { forwardDate: true });
  if (found === undefined) return { text: text.trim(), dueMs: undefined };
  // Whether a weekday or a day of some year is over the library would judge by the zone of the machine.
  const step = stepOf(found.start);
  const at =
    step === undefined ? found.start : (parser.parse(found.text, reference)[0]?.start ?? found.start);
  // A day alone is given some hour by the library, and meant for its morning; "tonight" has an hour of its own.
  const isDayOnly = !at.isCertain('hour') && !TIME_OF_DAY.test(found.text);
  const get = (part: 'year' | 'month' | 'day' | 'hour' | 'minute'): number => at.get(part) ?? 0;
  const named = {
    year: get('year'),
    month: get('month'),
    day: get('day'),
    hour: isDayOnly ? MORNING : get('hour'),
    minute: isDayOnly ? 0 : get('minute'),
  };
  const isZoned = at.isCertain('timezoneOffset') && at.get('timezoneOffset') !== NOBODYS_OFFSET;
  const instant = (wanted: typeof named): number =>
    isZoned ? instantOf(wanted, 'UTC') - (at.get('timezoneOffset') ?? 0) * 60_000 : instantOf(wanted, zone);
  const dueMs = instant(instant(named) <= nowMs ? following(named, step) : named);
  if (dueMs <= nowMs) {
    throw new StewardError('usage', `"${found.text}" is over.`, {
      hint: 'Name a time that is to come, such as "tomorrow at 9" or "in 2 hours".',
    });
  }
  return { text: without(text, found.index, found.text.length), dueMs };
}

/** The library's English parser, with `eod` and `on the 1st`, which it does not know. */
async function parserOf(wall: { year: number; month: number; day: number }): Promise<Chrono> {
  const { casual } = await import('chrono-node/en');
  const parser = casual.clone();
  parser.parsers.push(
    { pattern: () => END_OF_DAY_WORDS, extract: () => ({ hour: END_OF_DAY, minute: 0 }) },
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

/** `call Ann on` → `call Ann`: a word that led to the date goes with it. */
function without(text: string, index: number, length: number): string {
  const before = text
    .slice(0, index)
    .trimEnd()
    .replace(/(?:\b(?:on|at|by|until|till|before|from|for|due)(?: the)?|[-–—:,@(])$/i, '');
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
  const { dueMs } = await readDue(text, options);
  if (dueMs !== undefined) return dueMs;
  throw new StewardError('usage', `${JSON.stringify(text)} names no time.`, {
    hint: 'Write it as 2h, "tomorrow 9am", "friday 14:00" or "2026-11-20 09:00".',
  });
}
