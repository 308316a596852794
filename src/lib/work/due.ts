import { StewardError } from '../errors';
import { toDate } from '../platform/clock';
import { parseDuration } from '../platform/duration';
import { longDay } from '../platform/format';
import { dayOf, instantOf, timeOf, wallClock } from '../platform/time';
import { dueLine } from './issue';

export interface Due {
  /** The text without the words of the date. */
  text: string;
  /** Wall-clock ms; undefined where the text names no date. */
  dueMs: number | undefined;
}

const MORNING = 9;
const TIME_OF_DAY = /morning|noon|midday|afternoon|evening|night|now\b/i;
/** Minutes from UTC. */
const NOBODYS_OFFSET = 7;

/**
 * Reads a date in natural words out of a text (`call Ann tomorrow at 9`, `in 2 hours`, `next friday`), in the local
 * zone and always forward. A time that is over is `usage`.
 */
export async function readDue(text: string, options: { nowMs: number; zone: string }): Promise<Due> {
  const { casual } = await import('chrono-node/en');
  const { nowMs, zone } = options;
  const wall = wallClock(nowMs, zone);
  // The library counts with what the wall clock shows, in a zone that nobody has; what it finds is put back into
  // the real one, whose summer time may begin in between. Only a zone in the text itself is another one.
  const shown = Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute, wall.second);
  const reference = { instant: toDate(shown - NOBODYS_OFFSET * 60_000), timezone: NOBODYS_OFFSET };
  const [found] = casual.parse(text, reference, { forwardDate: true });
  if (found === undefined) return { text: text.trim(), dueMs: undefined };
  // Whether a weekday or a day of some year is over the library would judge by the zone of the machine.
  const step = stepOf(found.start);
  const at =
    step === undefined ? found.start : (casual.parse(found.text, reference)[0]?.start ?? found.start);
  const get = (part: 'year' | 'month' | 'day' | 'hour' | 'minute'): number => at.get(part) ?? 0;
  // A day alone is given some hour by the library, and meant for its morning; "tonight" has an hour of its own.
  const isDayOnly = !at.isCertain('hour') && !TIME_OF_DAY.test(found.text);
  const isZoned = at.isCertain('timezoneOffset') && at.get('timezoneOffset') !== NOBODYS_OFFSET;
  const named = Date.UTC(get('year'), get('month') - 1, get('day'), get('hour'), get('minute'));
  const isOver = isZoned ? at.date().getTime() <= nowMs : named <= shown;
  const further = { years: isOver && step === 'year' ? 1 : 0, days: isOver && step === 'week' ? 7 : 0 };
  const wanted = {
    year: get('year') + further.years,
    month: get('month'),
    day: get('day') + further.days,
    hour: isDayOnly ? MORNING : get('hour'),
    minute: isDayOnly ? 0 : get('minute'),
  };
  const dueMs = isZoned
    ? instantOf(wanted, 'UTC') - (at.get('timezoneOffset') ?? 0) * 60_000
    : instantOf(wanted, zone);
  if (dueMs <= nowMs) {
    throw new StewardError('usage', `"${found.text}" is over.`, {
      hint: 'Name a time that is to come, such as "tomorrow at 9" or "in 2 hours".',
    });
  }
  return { text: without(text, found.index, found.text.length), dueMs };
}

/** How far apart the days are that such words may mean: each Friday, each 1 December; undefined where it is one day. */
function stepOf(at: { isCertain: (part: 'weekday' | 'day' | 'month' | 'year') => boolean }) {
  if (at.isCertain('month')) return at.isCertain('year') ? undefined : 'year';
  return at.isCertain('weekday') && !at.isCertain('day') ? 'week' : undefined;
}

/** `call Ann on` → `call Ann`: a word that led to the date goes with it. */
function without(text: string, index: number, length: number): string {
  const before = text
    .slice(0, index)
    .trimEnd()
    .replace(/(?:\b(?:on|at|by|until|from|for)|[-–—:,@(])$/i, '');
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
