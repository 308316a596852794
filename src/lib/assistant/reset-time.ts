import { systemZone, timeOf } from '../platform/time/time';

const MAX_CHARS = 2000;
/** Matches `…limit reached|1764007200`, with the time in seconds. */
const EPOCH = /\|(\d{10})\b/;
/** Matches `resets 6pm`, `resets at 18:00` and `resets Nov 26, 6:30pm`. */
const WORDS = /\bresets? (?:at )?([A-Za-z]{3,9} \d{1,2}(?:,| at)? )?(\d{1,2})(?::(\d{2}))? ?([ap]m)?\b/i;

/**
 * Returns when a limit is reset, according to the assistant's error text, such as `18:00` or `Nov 26 18:00`;
 * undefined if the text names no time.
 */
export function resetTime(text: string | undefined): string | undefined {
  const head = (text ?? '').slice(0, MAX_CHARS);
  const seconds = EPOCH.exec(head)?.[1];
  if (seconds !== undefined) return timeOf(Number(seconds) * 1000, systemZone());
  const [, day = '', hour = '', minute, half] = WORDS.exec(head) ?? [];
  // A bare number may be an amount of minutes.
  if (hour === '' || (half === undefined && minute === undefined)) return undefined;
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (/p/i.test(half) ? 12 : 0);
  if (hours > 23 || Number(minute ?? 0) > 59) return undefined;
  const date = day === '' ? '' : `${day.replace(/(?:,| at)? $/, '')} `;
  return `${date}${String(hours).padStart(2, '0')}:${minute ?? '00'}`;
}
