import { isDay } from './time';

/** The one place that reads the time of day. Everything else is given a Clock. */
export interface Clock {
  /** Wall-clock time, milliseconds since the epoch. */
  now(): number;
  /** Milliseconds from an arbitrary start; never goes back (for time-outs and durations). */
  monotonic(): number;
}

export function systemClock(): Clock {
  // Not performance.now(): its first use loads a module, 1.5 ms of each start.
  return { now: () => Date.now(), monotonic: () => process.uptime() * 1000 };
}

/** `2026-11-20T08:14:00.000Z` */
export function toIso(ms: number): string {
  return new Date(ms).toISOString();
}

/** The instant as the object that some libraries want. */
export function toDate(ms: number): Date {
  return new Date(ms);
}

/** Milliseconds of an ISO-8601 time with a zone (`Z` or an offset), or undefined if it is none. */
export function parseIso(text: string): number | undefined {
  const usual = usualTime(text);
  if (usual !== undefined) return usual;
  if (!ISO_TIME.test(text)) return undefined;
  const day = text.slice(0, 10);
  // The engine reads 2026-02-30 as 2 March. The lines of a log share their day: it is looked at once.
  if (day !== lastDay) {
    if (!isDay(day)) return undefined;
    lastDay = day;
    lastMidnight = Date.parse(`${day}T00:00:00Z`);
  }
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

let lastDay = '';
let lastMidnight = 0;

/** The form that steward writes, `2026-11-21T08:14:00.000Z`, on the day that was looked at last: without the engine's parser. */
function usualTime(text: string): number | undefined {
  if (text.length !== 24 || lastDay === '' || !text.startsWith(lastDay)) return undefined;
  const isWritten =
    text.charCodeAt(10) === 84 &&
    text.charCodeAt(13) === 58 &&
    text.charCodeAt(16) === 58 &&
    text.charCodeAt(19) === 46 &&
    text.charCodeAt(23) === 90;
  const [hour, minute, second] = [digits(text, 11, 2), digits(text, 14, 2), digits(text, 17, 2)];
  const milli = digits(text, 20, 3);
  if (!isWritten || !(hour < 24 && minute < 60 && second < 60 && milli < 1000)) return undefined;
  return lastMidnight + ((hour * 60 + minute) * 60 + second) * 1000 + milli;
}

/** The number of so many decimal digits; NaN when one is none. */
function digits(text: string, at: number, count: number): number {
  let value = 0;
  for (let index = at; index < at + count; index += 1) {
    const digit = text.charCodeAt(index) - 48;
    value = digit >= 0 && digit <= 9 ? value * 10 + digit : Number.NaN;
  }
  return value;
}

const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})$/;
