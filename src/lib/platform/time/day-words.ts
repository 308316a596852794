import { StewardError } from '../../errors';
import { type Clock, toDate } from './clock';
import { type Day, addDays, dayOf, isDay, systemZone, timeOf, wallClock } from './time';

export interface ZonedNow {
  nowMs: number;
  /** IANA name of the time zone. */
  zone: string;
}

const DAY_HINT = 'Use a day such as "yesterday", "friday", "3 days ago", "7d", "1 November" or "2026-11-20".';

/**
 * Parses a day such as `yesterday`, `3 days ago`, `7d`, `1 November` or `2026-11-20`. A weekday means the
 * most recent one, including today. Rejects ambiguous dates such as 12.11.
 * @param hint the hint of the error if the text is not a day
 */
export async function readDay(text: string, { nowMs, zone }: ZonedNow, hint = DAY_HINT): Promise<Day> {
  const words = text.trim();
  if (isDay(words)) return words;
  if (hasDigitDate(words)) {
    throw new StewardError('usage', `Invalid day ${JSON.stringify(text)}.`, {
      hint: 'Use the format YYYY-MM-DD, such as 2026-11-12.',
    });
  }
  const today = dayOf(nowMs, zone);
  const count = /^(\d{1,4})\s*([dw])$/i.exec(words);
  if (count !== null) return addDays(today, -Number(count[1]) * (count[2]?.toLowerCase() === 'w' ? 7 : 1));
  // chrono takes 150 ms to compile its patterns, so handle these common words without it.
  if (/^(?:today|yesterday)$/i.test(words)) return addDays(today, words.length === 5 ? 0 : -1);
  if (/^(?:the )?day before yesterday$/i.test(words)) return addDays(today, -2);
  const { casual } = await import('chrono-node/en');
  const { year, month, day, hour, minute } = wallClock(nowMs, zone);
  // Passes local time to chrono as if it were UTC. Only the day of the result is used.
  const shown = toDate(Date.UTC(year, month - 1, day, hour, minute));
  const [found] = casual.parse(words, { instant: shown, timezone: 0 });
  if (found === undefined || found.text.length !== words.length || (found.end ?? null) !== null) {
    throw new StewardError('usage', `Invalid day ${JSON.stringify(text)}.`, { hint });
  }
  const at = found.start;
  const named = [at.get('year') ?? 0, at.get('month') ?? 0, at.get('day') ?? 0]
    .map((part, index) => String(part).padStart(index === 0 ? 4 : 2, '0'))
    .join('-');
  // For a weekday or a date without a year, chrono may return a future day, so choose the previous one.
  const isNearest = !/\b(?:next|coming)\b/i.test(words);
  if (isNearest && named > today && at.isCertain('weekday') && !at.isCertain('day')) {
    return addDays(named, -7);
  }
  if (named > today && at.isCertain('month') && !at.isCertain('year')) {
    const before = `${String(Number(named.slice(0, 4)) - 1).padStart(4, '0')}${named.slice(4)}`;
    return isDay(before) ? before : addDays(named, -365);
  }
  return named;
}

function hasDigitDate(words: string): boolean {
  return /^\d[\d\s./:-]*$/.test(words) || /\d\s*[./-]\s*\d/.test(words);
}

export function futureDayError(day: Day, today: Day): StewardError {
  return new StewardError('usage', `${day} is in the future.`, {
    hint: `Use ${today} (today) or an earlier day.`,
  });
}

/**
 * Returns a function that formats an ISO time as `09:42` if the time is today, otherwise as `2026-11-19
 * 17:20`.
 */
export function localTimes(clock: Pick<Clock, 'now'>, zone: string = systemZone()): (iso: string) => string {
  return (iso) => {
    const ms = Date.parse(iso);
    if (Number.isNaN(ms)) return iso;
    const day = dayOf(ms, zone);
    return day === dayOf(clock.now(), zone) ? timeOf(ms, zone) : `${day} ${timeOf(ms, zone)}`;
  };
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const GRAMMAR = /^(?:\d{1,6}(?:\.\d{1,3})?[smhd])+$/;

/**
 * Parses a duration such as `45s`, `7m`, `1h30m` or `2d` to milliseconds. Throws `usage` if the result isn't
 * positive.
 */
export function parseDuration(text: string): number {
  const wanted = text.trim().toLowerCase();
  let ms = 0;
  if (GRAMMAR.test(wanted)) {
    for (const [, number = '', unit = ''] of wanted.matchAll(/(\d{1,6}(?:\.\d{1,3})?)([smhd])/g)) {
      ms += Number(number) * (UNITS[unit] ?? 0);
    }
  }
  if (ms > 0) return Math.round(ms);
  throw new StewardError('usage', `Invalid duration "${text}".`, {
    hint: 'Use a number and a unit (s, m, h or d), such as 45s, 7m or 1h30m.',
  });
}

/** Formats a number of minutes as `3 h 02 m` or `46 m`. */
export function minutes(value: number): string {
  const whole = Math.round(value);
  const hours = Math.floor(whole / 60);
  const rest = whole % 60;
  return hours === 0 ? `${rest} m` : `${hours} h ${String(rest).padStart(2, '0')} m`;
}
