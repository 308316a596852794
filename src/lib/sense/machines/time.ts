import { APP_KINDS, type AppKind } from '../classify';
import { roundTime } from '../focus-tally';
import type { Counted } from './overlap';

/** One machine's part of a day. */
export interface DaySeconds {
  apps: { app: string; kind: AppKind; sec: number }[];
  hours: { at: number; kind: AppKind; sec: number }[];
  /** Whether the record's own sums apply, because no time was assigned to another machine. */
  isWhole: boolean;
}

const MINUTE_SEC = 60;
const HOUR_SEC = 3600;

/** Returns a machine's time. Uses the record's own sums unless some of it was assigned to another machine. */
export function secondsOf({ day, parts, lostSec }: Counted, zone: string): DaySeconds {
  const { record, spans } = day;
  if (spans.length === 0 || (lostSec === 0 && record.timezone === zone)) {
    const secOf = (minutes: number): number => Math.round(minutes * MINUTE_SEC);
    return {
      isWhole: true,
      apps: record.apps.map(({ app, kind, minutes }) => ({ app, kind, sec: secOf(minutes) })),
      hours: record.hours.flatMap((hour) => {
        const used = APP_KINDS.filter((kind) => hour[kind] > 0);
        return used.map((kind) => ({ at: Date.parse(hour.start) / 1000, kind, sec: secOf(hour[kind]) }));
      }),
    };
  }
  return {
    isWhole: false,
    apps: parts.map(({ app, kind, from, to }) => ({ app, kind, sec: to - from })),
    hours: parts.flatMap(({ kind, from, to }) => hoursOf(from, to).map((hour) => ({ kind, ...hour }))),
  };
}

/** Splits a span at quarter hours, because zones differ from UTC by multiples of those. */
function hoursOf(from: number, to: number): { at: number; sec: number }[] {
  const quarter = HOUR_SEC / 4;
  const list: { at: number; sec: number }[] = [];
  for (let at = from; at < to;) {
    const end = Math.min(to, (Math.floor(at / quarter) + 1) * quarter);
    list.push({ at, sec: end - at });
    at = end;
  }
  return list;
}

/** Adds up the machines' parts in tenths of a minute, rounded so that the totals match. */
export function timeOf(
  parts: readonly { seconds: DaySeconds }[],
  starts: readonly number[],
): ReturnType<typeof roundTime> {
  const perKind = <T>(make: () => T): Record<AppKind, T> => ({
    creation: make(),
    consumption: make(),
    neutral: make(),
  });
  const appMs = perKind(() => new Map<string, number>());
  const hourMs = perKind(() => starts.map(() => 0));
  for (const { seconds } of parts) {
    for (const { app, kind, sec } of seconds.apps)
      appMs[kind].set(app, (appMs[kind].get(app) ?? 0) + sec * 1000);
    for (const { at, kind, sec } of seconds.hours) {
      let hour = starts.length - 1;
      while (hour > 0 && (starts[hour] ?? 0) > at * 1000) hour -= 1;
      hourMs[kind][hour] = (hourMs[kind][hour] ?? 0) + sec * 1000;
    }
  }
  return roundTime(appMs, hourMs);
}

/** Returns the sum in minutes, to one decimal. */
export function minutesOf({ apps }: DaySeconds): number {
  return Math.round(apps.reduce((sum, { sec }) => sum + sec, 0) / 6) / 10;
}
