import { bootTime, type BootTime } from './boot-time';
import { isDay } from './time';

/** The one place that reads the time of day. Everything else is given a Clock. */
export interface Clock {
  /** Wall-clock time, milliseconds since the epoch. */
  now(): number;
  /** Milliseconds from an arbitrary start; never goes back (for time-outs and durations). */
  monotonic(): number;
  /** Undefined where the system does not tell it. */
  boot?(): BootTime | undefined;
}

export function systemClock(): Clock {
  // Not performance.now(): its first use loads a module, 1.5 ms of each start.
  return { now: () => Date.now(), monotonic: () => process.uptime() * 1000, boot: bootTime };
}

const DAY_MS = 86_400_000;

/** `2026-11-20T08:14:00.000Z` */
export function toIso(ms: number): string {
  // The engine's own writer reads the zone of the machine first: 0.3 ms of each start.
  const whole = Math.trunc(ms);
  const day = Math.floor(whole / DAY_MS);
  // Days of a calendar whose years begin in March, so that a leap day is the last of its year.
  const since0 = day + 719_468;
  const era = Math.floor(since0 / 146_097);
  const ofEra = since0 - era * 146_097;
  const yearOfEra = Math.floor(
    (ofEra - Math.floor(ofEra / 1460) + Math.floor(ofEra / 36_524) - Math.floor(ofEra / 146_096)) / 365,
  );
  const ofYear = ofEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const fromMarch = Math.floor((5 * ofYear + 2) / 153);
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  if (!(year >= 0 && year <= 9999)) return new Date(ms).toISOString();
  const date = ofYear - Math.floor((153 * fromMarch + 2) / 5) + 1;
  const ofDay = whole - day * DAY_MS;
  const hour = Math.floor(ofDay / 3_600_000);
  const minute = Math.floor(ofDay / 60_000) % 60;
  const second = Math.floor(ofDay / 1000) % 60;
  const days = `${padded(year, 4)}-${padded(month, 2)}-${padded(date, 2)}`;
  return `${days}T${padded(hour, 2)}:${padded(minute, 2)}:${padded(second, 2)}.${padded(ofDay % 1000, 3)}Z`;
}

function padded(value: number, digits: number): string {
  return String(value).padStart(digits, '0');
}

/** The instant as the object that some libraries want. */
export function toDate(ms: number): Date {
  return new Date(ms);
}

/** Milliseconds of an ISO-8601 time with a zone (`Z` or an offset), or undefined if it is none. */
export function parseIso(text: string): number | undefined {
  if (!ISO_TIME.test(text)) return undefined;
  // The engine reads 2026-02-30 as 2 March. The lines of a log share their day: it is looked at once.
  if (!text.startsWith(lastDay)) {
    const day = text.slice(0, 10);
    if (!isDay(day)) return undefined;
    lastDay = day;
  }
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Is it the text of such a time? */
export function isIso(value: unknown): value is string {
  return typeof value === 'string' && parseIso(value) !== undefined;
}

/** At first what no time begins with. */
let lastDay = 'none';

const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})$/;
