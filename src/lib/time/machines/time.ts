import { APP_KINDS } from '../classify';
import { perKind, roundTime } from '../focus-tally';
import type { Counted } from './overlap';

/** The time that a machine contributes to a day. `isWhole`: totals of the record, rather than sums of spans. */
export type DaySeconds = ReturnType<typeof secondsOf>;

const MINUTE_SEC = 60;
const HOUR_MS = 3_600_000;

export function secondsOf({ day, parts, lostSec }: Counted, zone: string) {
  const { record, spans } = day;
  if (spans.length === 0 || (lostSec === 0 && record.timezone === zone)) {
    const secOf = (minutes: number): number => Math.round(minutes * MINUTE_SEC);
    return {
      isWhole: true,
      apps: record.apps.map(({ app, kind, minutes }) => ({ app, kind, sec: secOf(minutes) })),
      times: record.hours.flatMap((hour) => {
        const used = APP_KINDS.filter((kind) => hour[kind] > 0);
        return used.map((kind) => ({ from: Date.parse(hour.start) / 1000, kind, sec: secOf(hour[kind]) }));
      }),
    };
  }
  return {
    isWhole: false,
    apps: parts.map(({ app, kind, from, to }) => ({ app, kind, sec: to - from })),
    times: parts.map(({ kind, from, to }) => ({ from, kind, sec: to - from })),
  };
}

/**
 * Adds up the times of all machines. Rounds to tenths of a minute, so that the parts add up to their totals.
 */
export function timeOf(parts: readonly { seconds: DaySeconds }[], starts: readonly number[]) {
  const appMs = perKind(() => new Map<string, number>());
  const hourMs = perKind(() => starts.map(() => 0));
  for (const { seconds } of parts) {
    for (const { app, kind, sec } of seconds.apps)
      appMs[kind].set(app, (appMs[kind].get(app) ?? 0) + sec * 1000);
    for (const { from, kind, sec } of seconds.times) {
      const hours = hourMs[kind];
      let hour = hourAt(starts, from * 1000);
      for (let at = from, left = sec; left > 0; hour += 1) {
        // In a record from another time zone, an hour can overlap two local hours. Count its time in the
        // first one.
        const end = seconds.isWhole ? Infinity : (starts[hour + 1] ?? Infinity) / 1000;
        const part = Math.min(left, end - at);
        hours[hour] = (hours[hour] ?? 0) + part * 1000;
        at += part;
        left -= part;
      }
    }
  }
  return roundTime(appMs, hourMs);
}

/** Returns the index of the hour that contains the time, or of the nearest hour. */
function hourAt(starts: readonly number[], ms: number): number {
  const last = starts.length - 1;
  let hour = Math.max(0, Math.min(last, Math.floor((ms - (starts[0] ?? 0)) / HOUR_MS)));
  while (hour > 0 && (starts[hour] ?? 0) > ms) hour -= 1;
  while (hour < last && (starts[hour + 1] ?? 0) <= ms) hour += 1;
  return hour;
}

/** Returns the total time in minutes, rounded to one decimal place. */
export function minutesOf({ apps }: DaySeconds): number {
  return Math.round(apps.reduce((sum, { sec }) => sum + sec, 0) / 6) / 10;
}
