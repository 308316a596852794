import { instantOf, systemZone, wallClock } from '../platform/time/time';

const MAX_CHARS = 2000;
/** Matches `…limit reached|1764007200`, with the time in seconds. */
const EPOCH = /\|(\d{10})\b/;
/** Matches `resets 6pm`, `resets at 18:00` and `resets Nov 26, 6:30pm`. */
const WORDS =
  /\bresets? (?:at )?(?:([A-Za-z]{3})[a-z]{0,6} (\d{1,2})(?:,| at)? )?(\d{1,2})(?::(\d{2}))? ?([ap]m)?\b/i;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAY_MS = 86_400_000;

/**
 * Returns when a limit is reset, according to the assistant's error text; undefined if the text names no time.
 * A time without a day is the next one in the system's zone.
 */
export function resetTime(text: string | undefined, nowMs: number): number | undefined {
  const head = (text ?? '').slice(0, MAX_CHARS);
  const seconds = EPOCH.exec(head)?.[1];
  if (seconds !== undefined) return Number(seconds) * 1000;
  const [, name, date, hour = '', minute, half] = WORDS.exec(head) ?? [];
  // A bare number may be an amount of minutes.
  if (hour === '' || (half === undefined && minute === undefined)) return undefined;
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (/p/i.test(half) ? 12 : 0);
  if (hours > 23 || Number(minute ?? 0) > 59) return undefined;
  const zone = systemZone();
  const at = (dayMs: number): number =>
    instantOf({ ...wallClock(dayMs, zone), hour: hours, minute: Number(minute ?? 0) }, zone);
  if (name === undefined) return [nowMs, nowMs + DAY_MS].map(at).find((ms) => ms > nowMs);
  const month = MONTHS.indexOf(name.toLowerCase()) + 1;
  if (month === 0) return undefined;
  const { year, month: current } = wallClock(nowMs, zone);
  const wall = { year: month < current ? year + 1 : year, month, day: Number(date) };
  return instantOf({ ...wall, hour: hours, minute: Number(minute ?? 0) }, zone);
}
