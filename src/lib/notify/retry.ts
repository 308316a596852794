import type { Delivery } from './delivery';
import type { ChannelId } from './events';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const FIRST_MS = 5_000;
const LONGEST_MS = 30 * MINUTE_MS;

/** How long a delivery is worth trying, by channel: 24 h at most; a banner of an hour ago is no news. */
const KEEP_MS: Readonly<Record<ChannelId, number>> = {
  push: 24 * HOUR_MS,
  chat: 24 * HOUR_MS,
  sms: 24 * HOUR_MS,
  desktop: 15 * MINUTE_MS,
  voice: 15 * MINUTE_MS,
};

/**
 * When to try again, wall-clock ms: after 5 s, 15 s, 45 s, … at most half an hour, each spread by a fifth so that
 * many do not come back at once, and never before the time that the server asked for.
 *
 * @param attempts how many were made, the failed one included
 * @param random 0 to 1
 */
export function nextAttempt(
  nowMs: number,
  attempts: number,
  random: number,
  askedMs: number | undefined,
): number {
  const backOff = Math.min(LONGEST_MS, FIRST_MS * 3 ** Math.max(0, attempts - 1));
  const spread = backOff * (0.8 + 0.4 * random);
  const asked = askedMs === undefined ? 0 : Math.min(Math.max(askedMs, 0), 24 * HOUR_MS);
  return Math.round(nowMs + Math.max(spread, asked));
}

/** Until when a delivery is worth trying, wall-clock ms; then it is given up. */
export function lastAttempt(channel: ChannelId, acceptedMs: number, heldUntil = 0): number {
  return Math.max(acceptedMs, Math.min(heldUntil, acceptedMs + 24 * HOUR_MS)) + KEEP_MS[channel];
}

/** A clock is corrected by less than this every day, and nothing comes of it. */
const CORRECTION_MS = 1_000;
/** Longer than any that is ever set. */
const LONGEST_WAIT_MS = 25 * HOUR_MS;

/**
 * Is the time over that was to be waited? A wait that was set in the future was set by a clock that was put back
 * since, and one that is longer than any that is ever set as well: they count as over (decisions.md 9).
 *
 * @param sinceMs when the wait was set, where that is known
 */
export function isDue(nextMs: number, nowMs: number, sinceMs = nowMs): boolean {
  return nextMs <= nowMs || nextMs - nowMs > LONGEST_WAIT_MS || sinceMs > nowMs + CORRECTION_MS;
}

type Times = Pick<Delivery, 'nextAt' | 'heldUntil' | 'waitingSince' | 'at'>;

/**
 * While the clock is within these, wall-clock ms, a delivery waits: from `fromMs` on, before `untilMs`. By a clock that
 * shows less its wait counts as over, too. The end of the quiet hours is a time of the day, whichever clock has set it.
 */
export function waitOf({ nextAt, heldUntil, waitingSince, at }: Times): { fromMs: number; untilMs: number } {
  const untilMs = Date.parse(nextAt);
  const longestMs = untilMs - LONGEST_WAIT_MS;
  if (nextAt === heldUntil) return { fromMs: longestMs, untilMs };
  return { fromMs: Math.max(longestMs, Date.parse(waitingSince ?? at) - CORRECTION_MS), untilMs };
}

/** Is it time for a delivery? */
export function isTimeFor(times: Times, nowMs: number): boolean {
  const { fromMs, untilMs } = waitOf(times);
  return nowMs >= untilMs || nowMs < fromMs;
}

/** Seconds of a Retry-After header, or its date, as ms from now; undefined when there is none to read. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d{1,7}(?:\.\d+)?$/.test(text)) return Number(text) * 1000;
  const date = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}
