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
