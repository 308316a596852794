import { existsSync, readlinkSync } from 'node:fs';

import { unless } from '../../errors';

/** A calendar day, `2026-11-20`. */
export type Day = string;

/** First and one-past-last millisecond of a day. */
export interface DayBounds {
  startMs: number;
  endMs: number;
}

export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  // By arithmetic: this is asked for every line of a log, and a Date costs ten times as much.
  const month = Number(text.slice(5, 7));
  const day = Number(text.slice(8));
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(Number(text.slice(0, 4)), month);
}

function daysIn(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

export function addDays(day: Day, count: number): Day {
  return new Date(Date.parse(`${day}T00:00:00Z`) + count * DAY_MS).toISOString().slice(0, 10);
}

/** Is it this day anywhere on earth? Zones lie between 12 hours behind UTC and 14 ahead of it. */
export function isDaySomewhere(day: Day): (ms: number) => boolean {
  const midnight = Date.parse(`${day}T00:00:00Z`);
  return (ms) => ms >= midnight - 14 * HOUR_MS && ms < midnight + 36 * HOUR_MS;
}

/** The local day of an instant. */
export function dayOf(ms: number, zone: string): Day {
  const { year, month, day } = wallClock(ms, zone);
  return `${String(year).padStart(4, '0')}-${pad(month)}-${pad(day)}`;
}

/** The hour, 0 to 23, that a clock on the wall shows. */
export function hourOf(ms: number, zone: string): number {
  return wallClock(ms, zone).hour;
}

/** `09:42` on the wall clock of the zone. */
export function timeOf(ms: number, zone: string): string {
  const { hour, minute } = wallClock(ms, zone);
  return `${pad(hour)}:${pad(minute)}`;
}

/**
 * The instant at which the wall clock of the zone shows this: the first of two where the hour is repeated; what the
 * clock would have shown where it is skipped. `month` is 1 to 12.
 */
export function instantOf(
  wall: { year: number; month: number; day: number; hour: number; minute: number },
  zone: string,
): number {
  const asUtc = Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute);
  const guesses = [asUtc - DAY_MS, asUtc, asUtc + DAY_MS].map((ms) => asUtc - offsetMs(ms, zone));
  const exact = guesses.filter((ms) => ms + offsetMs(ms, zone) === asUtc);
  return exact.length > 0 ? Math.min(...exact) : (guesses[0] as number);
}

/** The wall clock of the zone at an instant. */

/**
 * The instants between which it is this day in the zone: 23, 24 or 25 hours (or what the zone's rules say);
 * none at all (`startMs === endMs`) for a day that the zone has skipped. The days of a zone follow each
 * other without a gap.
 */
export function dayBounds(day: Day, zone: string): DayBounds {
  return { startMs: startOfDay(day, zone), endMs: startOfDay(addDays(day, 1), zone) };
}

/**
 * The start of each clock hour of the day, in order: the day's own start, then wherever the hour on the wall
 * changes or the clock is put back. 24 as a rule; 23 or 25 when the clock is changed (an hour that is
 * repeated stands twice); none for a day that the zone has skipped.
 */
export function hourStarts(day: Day, zone: string): number[] {
  const { startMs, endMs } = dayBounds(day, zone);
  const starts: number[] = [];
  for (let ms = startMs; ms < endMs; ms = nextHour(ms, zone)) starts.push(ms);
  return starts;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

function nextHour(ms: number, zone: string): number {
  const { hour, minute, second } = wallClock(ms, zone);
  const next = ms + HOUR_MS - (minute * 60 + second) * 1000;
  const offset = offsetMs(ms, zone);
  if (offsetMs(next, zone) === offset) return next;
  // The clock is changed within this hour, or at its end: at the first instant with another offset.
  const change = firstWhere(ms, next, (at) => offsetMs(at, zone) !== offset);
  const isPutBack = offsetMs(change, zone) < offset;
  return isPutBack || hourOf(change, zone) !== hour ? change : nextHour(change, zone);
}

/**
 * The first instant of the day: the wall clock shows 00:00 and has shown an earlier day. Where it was put
 * back over midnight (St. John's until 2011, one minute after) that is the last such instant; where midnight
 * does not exist, the first instant that is on this day or a later one.
 */
function startOfDay(day: Day, zone: string): number {
  const midnight = Date.parse(`${day}T00:00:00Z`);
  const around = [midnight - DAY_MS, midnight, midnight + DAY_MS];
  const guesses = new Set(around.map((ms) => midnight - offsetMs(ms, zone)));
  const starts = [...guesses].filter((ms) => dayOf(ms, zone) === day && dayOf(ms - 1, zone) < day);
  if (starts.length > 0) return Math.max(...starts);
  return firstWhere(midnight - 1.5 * DAY_MS, midnight + 1.5 * DAY_MS, (ms) => dayOf(ms, zone) >= day);
}

/** The first millisecond after `before` at which it holds, given that it holds at `after` and on from there. */
function firstWhere(before: number, after: number, holds: (ms: number) => boolean): number {
  let low = before;
  let high = after;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** Local time less UTC, at an instant. */
function offsetMs(ms: number, zone: string): number {
  const f = wallClock(ms, zone);
  const local = Date.UTC(f.year, f.month - 1, f.day, f.hour, f.minute, f.second);
  return local - Math.floor(ms / 1000) * 1000;
}

function pad(n: number): string {
  return String(n).padStart(2, '0');
}

/** What a wall clock in a zone shows. */
export interface WallClock {
  year: number;
  /** 1 to 12. */
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
}

/** What the wall clock of the zone shows at an instant (ms). A name that is no zone is a RangeError. */
export function wallClock(ms: number, zone: string): WallClock {
  // The first formatter of a process costs some 15 ms, a third of a start: the own zone needs none.
  if (zone === systemZone()) {
    const local = new Date(ms);
    if (Number.isNaN(local.getTime())) throw new RangeError(`${ms} is no time.`);
    return {
      year: local.getFullYear(),
      month: local.getMonth() + 1,
      day: local.getDate(),
      hour: local.getHours(),
      minute: local.getMinutes(),
      second: local.getSeconds(),
    };
  }
  return readWallClock(formatter(zone).format(ms));
}

/** Is it the name of a time zone? */
export function isZone(zone: string): boolean {
  if (zone === systemZone()) return true;
  try {
    formatter(zone);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/**
 * The zone that this process lives in, as an IANA name; UTC when the system names none that is known. The
 * engine reads it once, so a process keeps the zone that it was started in.
 */
export function systemZone(): string {
  const variable = process.env['TZ'];
  if (own === undefined || own.variable !== variable) {
    // The engine's own clock is fixed at the same moment, so that the two never differ.
    new Date().getTimezoneOffset();
    own = { variable, zone: zoneOfSystem(variable) ?? zoneOfEngine() };
  }
  return own.zone;
}

let own: { variable: string | undefined; zone: string } | undefined;

/** TZ, or where `/etc/localtime` points: the engine looks there too, but takes 15 ms to say what it found. */
function zoneOfSystem(variable: string | undefined): string | undefined {
  if (process.platform === 'win32') return undefined;
  if (variable !== undefined) {
    if (variable === 'UTC') return variable;
    return AREA_AND_PLACE.test(variable) && existsSync(`/usr/share/zoneinfo/${variable}`)
      ? variable
      : undefined;
  }
  // EINVAL: a file, not a link.
  const link = unless(['ENOENT', 'EINVAL', 'EACCES'], () => readlinkSync('/etc/localtime')) ?? '';
  const name = /\/zoneinfo(?:\.default)?\/(.+)$/.exec(link)?.[1] ?? '';
  if (/^(?:Etc\/)?(?:UTC|UCT|Zulu|Universal)$/.test(name)) return 'UTC';
  return AREA_AND_PLACE.test(name) ? name : undefined;
}

const AREA_AND_PLACE =
  /^(?:Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Europe|Indian|Pacific)(?:\/[A-Za-z_-]+){1,2}$/;

function zoneOfEngine(): string {
  // Undefined or Etc/Unknown for a TZ that is no name; the engine then counts in UTC.
  const found = new Intl.DateTimeFormat('en-US').resolvedOptions().timeZone as string | undefined;
  if (found === undefined || found === 'Etc/Unknown') return 'UTC';
  return found;
}

const formatters = new Map<string, Intl.DateTimeFormat>();

/** A further formatter costs about a millisecond; a process meets one or two zones. */
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

/** `11/20/2026, 09:42:00`: taken apart here, a third of the time that formatToParts takes. */
function readWallClock(text: string): WallClock {
  const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] =
    text.match(/\d+/g)?.map(Number) ?? [];
  return { year, month, day, hour, minute, second };
}
