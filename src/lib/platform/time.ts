import { StewardError } from '../errors';

/** A calendar day, `2026-11-20`. */
export type Day = string;

/** First and one-past-last millisecond of a day. */
export interface DayBounds {
  startMs: number;
  endMs: number;
}

export function systemZone(): string {
  return new Intl.DateTimeFormat('en-US').resolvedOptions().timeZone;
}

export function isZone(zone: string): boolean {
  try {
    formatter(zone);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** The text as a day; anything that is not on the calendar (2026-02-30) is a usage error. */
export function parseDay(text: string): Day {
  if (!isDay(text)) {
    throw new StewardError('usage', `"${text}" is not a date.`, {
      hint: 'Write it as YYYY-MM-DD, such as 2026-11-20.',
    });
  }
  return text;
}

export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const ms = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}

export function addDays(day: Day, count: number): Day {
  return new Date(Date.parse(`${day}T00:00:00Z`) + count * DAY_MS).toISOString().slice(0, 10);
}

/** The local day of an instant. */
export function dayOf(ms: number, zone: string): Day {
  const { year, month, day } = fieldsOf(ms, zone);
  return `${String(year).padStart(4, '0')}-${pad(month)}-${pad(day)}`;
}

/** The hour, 0 to 23, that a clock on the wall shows. */
export function hourOf(ms: number, zone: string): number {
  return fieldsOf(ms, zone).hour;
}

/** `09:42` on the wall clock of the zone. */
export function timeOf(ms: number, zone: string): string {
  const { hour, minute } = fieldsOf(ms, zone);
  return `${pad(hour)}:${pad(minute)}`;
}

/** The instants between which it is this day in the zone: 23, 24 or 25 hours (or what the zone's rules say). */
export function dayBounds(day: Day, zone: string): DayBounds {
  return { startMs: startOfDay(day, zone), endMs: startOfDay(addDays(day, 1), zone) };
}

/** The start of each clock hour of the day, in order; a repeated hour (autumn) stands twice. */
export function hourStarts(day: Day, zone: string): number[] {
  const { startMs, endMs } = dayBounds(day, zone);
  const starts = [startMs];
  let hour = hourOf(startMs, zone);
  // Zones change by quarters of an hour at the finest, so a new hour or a repeated one begins at a step.
  for (let ms = startMs + QUARTER_MS; ms < endMs; ms += QUARTER_MS) {
    const { hour: now, minute } = fieldsOf(ms, zone);
    const last = starts[starts.length - 1] ?? startMs;
    if (now !== hour || (minute === 0 && ms > last)) {
      starts.push(ms);
      hour = now;
    }
  }
  return starts;
}

const QUARTER_MS = 15 * 60_000;
const DAY_MS = 86_400_000;

/** The first instant whose local day is `day` or later (midnight itself may not exist). */
function startOfDay(day: Day, zone: string): number {
  const utcMidnight = Date.parse(`${day}T00:00:00Z`);
  const guess = utcMidnight - offsetMs(utcMidnight, zone);
  const refined = utcMidnight - offsetMs(guess, zone);
  for (const ms of [Math.min(guess, refined), Math.max(guess, refined)]) {
    if (dayOf(ms, zone) === day && dayOf(ms - 1, zone) < day) return ms;
  }
  // A gap or overlap at midnight: search to the millisecond between a day that is before and one that is not.
  let before = utcMidnight - 36 * 3_600_000;
  let after = utcMidnight + 36 * 3_600_000;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (dayOf(middle, zone) < day) before = middle;
    else after = middle;
  }
  return after;
}

/** Local time less UTC, at an instant. */
function offsetMs(ms: number, zone: string): number {
  const f = fieldsOf(ms, zone);
  const local = Date.UTC(f.year, f.month - 1, f.day, f.hour, f.minute, f.second);
  return local - Math.floor(ms / 1000) * 1000;
}

interface Fields {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
}

function fieldsOf(ms: number, zone: string): Fields {
  const fields: Fields = { year: 0, month: 0, day: 0, hour: 0, minute: 0, second: 0 };
  for (const { type, value } of formatter(zone).formatToParts(ms)) {
    if (type in fields) fields[type as keyof Fields] = Number(value);
  }
  return fields;
}

const formatters = new Map<string, Intl.DateTimeFormat>();

/** Making a formatter costs a millisecond; a process meets one or two zones. */
function formatter(zone: string): Intl.DateTimeFormat {
  let found = formatters.get(zone);
  if (found === undefined) {
    found = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
    formatters.set(zone, found);
  }
  return found;
}

function pad(n: number): string {
  return String(n).padStart(2, '0');
}
