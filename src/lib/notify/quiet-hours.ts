import { wallClock } from '../platform/time/zone';

/** Minutes of the wall clock since midnight; a start after the end wraps midnight. */
export interface QuietHours {
  from: number;
  to: number;
}

const DAY = 1440;
const MINUTE_MS = 60_000;

/** `22:00-07:00`, as the configuration has checked it. */
export function parseQuietHours(text: string): QuietHours {
  const [h1 = 0, m1 = 0, h2 = 0, m2 = 0] = (text.match(/\d+/g) ?? []).map(Number);
  return { from: h1 * 60 + m1, to: h2 * 60 + m2 };
}

/** Is it quiet when the wall clock shows this minute of the day? The end itself is not. */
export function isQuietAt({ from, to }: QuietHours, minute: number): boolean {
  return from < to ? minute >= from && minute < to : minute >= from || minute < to;
}

/**
 * The first instant (ms) after `ms` at which it is not quiet any more by the wall clock of the zone, its changes
 * between summer and winter included; undefined when it is not quiet at `ms`.
 */
export function quietUntil(hours: QuietHours, ms: number, zone: string): number | undefined {
  const now = minuteOf(ms, zone);
  if (!isQuietAt(hours, now)) return undefined;
  const start = ms - wallClock(ms, zone).second * 1000 - (((ms % 1000) + 1000) % 1000);
  const left = (hours.to - now + DAY) % DAY;
  const end = start + left * MINUTE_MS;
  // The clock may be changed in between: then the minutes are gone through one by one.
  if (minuteOf(end, zone) === hours.to && left < DAY && !isChanged(start, end, zone)) return end;
  for (let at = start + MINUTE_MS; at < start + 2 * DAY * MINUTE_MS; at += MINUTE_MS) {
    if (!isQuietAt(hours, minuteOf(at, zone))) return at;
  }
  return end;
}

/** Did the wall clock move by something else than the time that passed? */
function isChanged(startMs: number, endMs: number, zone: string): boolean {
  const passed = Math.round((endMs - startMs) / MINUTE_MS);
  const shown = (minuteOf(endMs, zone) - minuteOf(startMs, zone) + DAY) % DAY;
  return passed % DAY !== shown;
}

function minuteOf(ms: number, zone: string): number {
  const { hour, minute } = wallClock(ms, zone);
  return hour * 60 + minute;
}
