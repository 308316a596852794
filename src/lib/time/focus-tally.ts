import { byCodeUnits } from '../platform/files/short-hash';
import { APP_KINDS, foldName, type AppKind, type Classifier } from './classify';
import type { FocusSample } from './focus-samples';

/**
 * Times are added in milliseconds and rounded only once, to tenths of a minute, so that the totals don't
 * depend on the order of the events.
 */
export const TENTH_MS = 6_000;

/** Adds up a day's samples in tenths of a minute, by kind, application and hour. */
export function focusTime(
  samples: readonly FocusSample[],
  classify: Classifier,
  hourStartsMs: readonly number[],
) {
  const appMs = perKind(() => new Map<string, number>());
  const hourMs = perKind(() => hourStartsMs.map(() => 0));
  const kinds = new Map<string, AppKind>();
  for (const { app, bundleId, from, to } of samples) {
    const key = `${app}\n${bundleId ?? ''}`;
    const kind = kinds.get(key) ?? classify(app, bundleId).kind;
    kinds.set(key, kind);
    const hour = Math.max(
      0,
      hourStartsMs.findLastIndex((startMs) => startMs <= to),
    );
    hourMs[kind][hour] = (hourMs[kind][hour] ?? 0) + to - from;
    appMs[kind].set(app, (appMs[kind].get(app) ?? 0) + to - from);
  }
  return roundTime(appMs, hourMs);
}

/**
 * Rounds the times so that kinds add up to the day's total, and applications and hours add up to their
 * kind's total.
 */
export function roundTime(appMs: Record<AppKind, Map<string, number>>, hourMs: Record<AppKind, number[]>) {
  const kindMs = APP_KINDS.map((kind) => sum(hourMs[kind]));
  const kindTenths = apportion(Math.round(sum(kindMs) / TENTH_MS), kindMs, TENTH_MS);
  const kinds = perKind(() => 0);
  const hours = perKind((): number[] => []);
  const rows: { app: string; kind: AppKind; tenths: number }[] = [];
  APP_KINDS.forEach((kind, i) => {
    kinds[kind] = kindTenths[i] ?? 0;
    hours[kind] = apportion(kinds[kind], hourMs[kind], TENTH_MS);
    const apps = joinSpellings(appMs[kind]);
    const msOf = apps.map(({ ms }) => ms);
    const shares = apportion(kinds[kind], msOf, TENTH_MS);
    apps.forEach(({ app }, n) => rows.push({ app, kind, tenths: shares[n] ?? 0 }));
  });
  const apps = rows.filter(({ tenths }) => tenths > 0);
  apps.sort((a, b) => b.tenths - a.tenths || byCodeUnits(a.app, b.app) || byCodeUnits(a.kind, b.kind));
  return { kinds, hours, apps };
}

/** Returns the times of a record, in minutes. `starts` are the starts of its hours. */
export function recordTime({ kinds, hours, apps }: ReturnType<typeof roundTime>, starts: readonly string[]) {
  const { creation, consumption, neutral } = kinds;
  return {
    totalMinutes: (creation + consumption + neutral) / 10,
    creationMinutes: creation / 10,
    consumptionMinutes: consumption / 10,
    neutralMinutes: neutral / 10,
    apps: apps.map(({ app, kind, tenths }) => ({ app, kind, minutes: tenths / 10 })),
    hours: starts.map((start, i) => ({
      start,
      creation: (hours.creation[i] ?? 0) / 10,
      consumption: (hours.consumption[i] ?? 0) / 10,
      neutral: (hours.neutral[i] ?? 0) / 10,
    })),
  };
}

/** Merges spellings that differ only in case, such as "Code" and "code". Returns rows sorted by name. */
export function joinSpellings(counts: ReadonlyMap<string, number>): { app: string; ms: number }[] {
  const joined = new Map<string, { app: string; most: number; ms: number }>();
  for (const [app, ms] of [...counts].sort(([a], [b]) => byCodeUnits(a, b))) {
    const row = joined.get(foldName(app)) ?? { app, most: 0, ms: 0 };
    row.ms += ms;
    if (ms > row.most) Object.assign(row, { app, most: ms });
    joined.set(foldName(app), row);
  }
  return [...joined.values()].sort((a, b) => byCodeUnits(a.app, b.app));
}

/** Returns a function that replaces each spelling of a name by the most used one. */
export function commonSpelling(
  times: Iterable<readonly [app: string, time: number]>,
): (app: string) => string {
  const counts = new Map<string, number>();
  for (const [app, time] of times) counts.set(app, (counts.get(app) ?? 0) + time);
  const spellings = new Map(joinSpellings(counts).map(({ app }) => [foldName(app), app]));
  return (app) => spellings.get(foldName(app)) ?? app;
}

/** Distributes `count` units among the parts by the largest-remainder method. Earlier parts win ties. */
export function apportion(count: number, parts: readonly number[], unit: number): number[] {
  const shares = parts.map((part) => Math.floor(part / unit));
  const byRemainder = parts
    .map((part, index) => ({ index, rest: part % unit }))
    .sort((a, b) => b.rest - a.rest || a.index - b.index);
  for (const { index } of byRemainder.slice(0, Math.max(0, count - sum(shares))))
    shares[index] = (shares[index] ?? 0) + 1;
  return shares;
}

/** Shares the minutes out to rows in tenths, and leaves out rows that get none. */
export function inMinutes<T extends { ms: number }, R>(
  rows: readonly T[],
  shown: (row: T, minutes: number) => R,
): R[] {
  const sizes = rows.map(({ ms }) => ms);
  const shares = apportion(Math.round(sum(sizes) / TENTH_MS), sizes, TENTH_MS);
  return rows.flatMap((row, i) => {
    const tenths = shares[i] ?? 0;
    return tenths === 0 ? [] : [shown(row, tenths / 10)];
  });
}

export function perKind<T>(make: () => T): Record<AppKind, T> {
  return { creation: make(), consumption: make(), neutral: make() };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, n) => total + n, 0);
}
