import { existsSync, readlinkSync } from 'node:fs';

import { unless } from '../../errors';

/** A calendar day, such as `2026-11-20`. */
export type Day = string;

/** Start of a day and start of the next day, in ms since the epoch. */
export interface DayBounds {
  startMs: number;
  endMs: number;
}

export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  // Don't use Date: it is ten times slower, and every line of a log is checked.
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

/**
 * Returns a function that checks whether an instant falls on this day in at least one time zone. Zones range
 * from 12 hours behind UTC to 14 hours ahead.
 */
export function isDaySomewhere(day: Day): (ms: number) => boolean {
  const midnight = Date.parse(`${day}T00:00:00Z`);
  return (ms) => ms >= midnight - 14 * HOUR_MS && ms < midnight + 36 * HOUR_MS;
}

/** Returns the local day of an instant. */
export function dayOf(ms: number, zone: string): Day {
  const { year, month, day } = wallClock(ms, zone);
  return `${String(year).padStart(4, '0')}-${pad(month)}-${pad(day)}`;
}

/** Returns the local hour, 0 to 23. */
export function hourOf(ms: number, zone: string): number {
  return wallClock(ms, zone).hour;
}

/** Returns the local time of day, such as `09:42`. */
export function timeOf(ms: number, zone: string): string {
  const { hour, minute } = wallClock(ms, zone);
  return `${pad(hour)}:${pad(minute)}`;
}

/**
 * Returns the instant of a local time (`month` is 1 to 12). For a repeated time, returns the first instant.
 * For a skipped time, uses the offset before the change.
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

/**
 * Returns the bounds of a local day, which usually has 23 to 25 hours. A skipped day is empty (`startMs ===
 * endMs`). Consecutive days are contiguous.
 */
export function dayBounds(day: Day, zone: string): DayBounds {
  return { startMs: startOfDay(day, zone), endMs: startOfDay(addDays(day, 1), zone) };
}

/**
 * Returns the start of each local hour of a day, in order. A day has 23 or 25 hours when the clock changes,
 * and none if the zone skipped it.
 */
export function hourStarts(day: Day, zone: string): number[] {
  const { startMs, endMs } = dayBounds(day, zone);
  const starts: number[] = [];
  for (let ms = startMs; ms < endMs; ms = nextHour(ms, zone)) starts.push(ms);
  return starts;
}

const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

function nextHour(ms: number, zone: string): number {
  const { hour, minute, second } = wallClock(ms, zone);
  const next = ms + HOUR_MS - (minute * 60 + second) * 1000;
  const offset = offsetMs(ms, zone);
  if (offsetMs(next, zone) === offset) return next;
  // The clock changes during or at the end of this hour. `change` is the first instant with the new offset.
  const change = firstWhere(ms, next, (at) => offsetMs(at, zone) !== offset);
  const isSetBack = offsetMs(change, zone) < offset;
  return isSetBack || hourOf(change, zone) !== hour ? change : nextHour(change, zone);
}

/**
 * Returns the first instant of a local day. If midnight occurs twice, the day starts at the second one; if
 * midnight is skipped, it starts after the gap.
 */
function startOfDay(day: Day, zone: string): number {
  const midnight = Date.parse(`${day}T00:00:00Z`);
  const around = [midnight - DAY_MS, midnight, midnight + DAY_MS];
  const guesses = new Set(around.map((ms) => midnight - offsetMs(ms, zone)));
  const starts = [...guesses].filter((ms) => dayOf(ms, zone) === day && dayOf(ms - 1, zone) < day);
  if (starts.length > 0) return Math.max(...starts);
  return firstWhere(midnight - 1.5 * DAY_MS, midnight + 1.5 * DAY_MS, (ms) => dayOf(ms, zone) >= day);
}

/**
 * Returns the first millisecond after `before` at which `isReached` is true. `isReached` must stay true until
 * `after`.
 */
function firstWhere(before: number, after: number, isReached: (ms: number) => boolean): number {
  let low = before;
  let high = after;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (isReached(middle)) high = middle;
    else low = middle;
  }
  return high;
}

function offsetMs(ms: number, zone: string): number {
  const f = wallClock(ms, zone);
  const local = Date.UTC(f.year, f.month - 1, f.day, f.hour, f.minute, f.second);
  return local - Math.floor(ms / 1000) * 1000;
}

function pad(n: number): string {
  return String(n).padStart(2, '0');
}

interface WallClock {
  year: number;
  /** Month, from 1 to 12. */
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
}

/** Returns the local time at an instant (ms). Throws a RangeError for an unknown zone. */
export function wallClock(ms: number, zone: string): WallClock {
  // The system's zone needs no Intl formatter. The first formatter of a process takes about 15 ms.
  if (zone === systemZone()) {
    const local = new Date(ms);
    if (Number.isNaN(local.getTime())) throw new RangeError(`Invalid time ${ms}.`);
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
 * Returns the IANA name of this process's zone, or UTC if unknown. V8 reads the zone once, so a process keeps
 * the zone it started in.
 */
export function systemZone(): string {
  const variable = process.env['TZ'];
  if (own === undefined || own.variable !== variable) {
    // Make V8 read the zone now, so that V8's zone and the cached zone are the same.
    new Date().getTimezoneOffset();
    own = { variable, zone: zoneOfSystem(variable) ?? zoneOfEngine() };
  }
  return own.zone;
}

let own: { variable: string | undefined; zone: string } | undefined;

/** Returns the zone from TZ or `/etc/localtime`. V8 would take 15 ms to name the zone. */
function zoneOfSystem(variable: string | undefined): string | undefined {
  if (process.platform === 'win32') return undefined;
  if (variable !== undefined) {
    if (variable === 'UTC') return variable;
    return AREA_AND_PLACE.test(variable) && existsSync(`/usr/share/zoneinfo/${variable}`)
      ? variable
      : undefined;
  }
  // readlink fails with EINVAL if /etc/localtime isn't a link.
  const link = unless(['ENOENT', 'EINVAL', 'EACCES'], () => readlinkSync('/etc/localtime')) ?? '';
  const name = /\/zoneinfo(?:\.default)?\/(.+)$/.exec(link)?.[1] ?? '';
  if (/^(?:Etc\/)?(?:UTC|UCT|Zulu|Universal)$/.test(name)) return 'UTC';
  return AREA_AND_PLACE.test(name) ? name : undefined;
}

const AREA_AND_PLACE =
  /^(?:Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Europe|Indian|Pacific)(?:\/[A-Za-z_-]+){1,2}$/;

function zoneOfEngine(): string {
  // For an invalid TZ, V8 uses UTC and reports `timeZone` as undefined or Etc/Unknown.
  const found = new Intl.DateTimeFormat('en-US').resolvedOptions().timeZone as string | undefined;
  if (found === undefined || found === 'Etc/Unknown') return 'UTC';
  return found;
}

const formatters = new Map<string, Intl.DateTimeFormat>();

/** Returns a cached formatter. Creating one takes about a millisecond. */
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

/** Parses a time such as `11/20/2026, 09:42:00`. */
function readWallClock(text: string): WallClock {
  const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] =
    text.match(/\d+/g)?.map(Number) ?? [];
  return { year, month, day, hour, minute, second };
}
