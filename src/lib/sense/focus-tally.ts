import { textOf } from '../platform/files/json-object';
import { byCodeUnits } from '../platform/files/short-hash';
import { APP_KINDS, foldName, type AppKind, type Classifier } from './classify';
import type { SenseEvent } from './event';

/**
 * Times are added in milliseconds and rounded only once, to tenths of a minute, so that the totals don't
 * depend on the order of the events.
 */
export const TENTH_MS = 6_000;

/**
 * The longest poll interval that the configuration allows, which is also the longest time that an event can
 * cover.
 */
const MAX_INTERVAL_SEC = 3_600;

interface AppSamples {
  app: string;
  bundleId: string | undefined;
  /**
   * The time covered in ms, keyed by timestamp. If several events share a timestamp, only the longest time
   * counts.
   */
  samples: Map<number, number>;
}

/** Adds up a day's app-focus events in tenths of a minute, by kind, application and hour. */
export function focusTally(
  options: { pollIntervalSec: number; classify: Classifier },
  hourStartsMs: readonly number[],
) {
  const known = new Map<string, AppSamples>();
  return {
    add(at: number, event: Readonly<SenseEvent>): void {
      const bundleId = textOf(event.detail?.['bundleId']);
      const name = textOf(event.app) ?? bundleId ?? 'unknown';
      const key = sampleKey(event);
      const entry = known.get(key) ?? { app: name, bundleId, samples: new Map<number, number>() };
      known.set(key, entry);
      const ms = focusMs(event, options.pollIntervalSec);
      entry.samples.set(at, Math.max(ms, entry.samples.get(at) ?? 0));
    },
    result() {
      const appMs = perKind(() => new Map<string, number>());
      const hourMs = perKind(() => hourStartsMs.map(() => 0));
      for (const { app, bundleId, samples } of known.values()) {
        const { kind } = options.classify(app, bundleId);
        for (const [at, ms] of samples) {
          const hour = Math.max(
            0,
            hourStartsMs.findLastIndex((startMs) => startMs <= at),
          );
          hourMs[kind][hour] = (hourMs[kind][hour] ?? 0) + ms;
          appMs[kind].set(app, (appMs[kind].get(app) ?? 0) + ms);
        }
      }
      return roundTime(appMs, hourMs);
    },
  };
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

/** Returns a key for an event's application and machine. Only one event per key and timestamp counts. */
export function sampleKey({ app, detail }: Readonly<Pick<SenseEvent, 'app' | 'detail'>>): string {
  const bundleId = textOf(detail?.['bundleId']);
  return `${textOf(app) ?? bundleId ?? 'unknown'}\n${bundleId ?? ''}\n${textOf(detail?.['machine']) ?? ''}`;
}

/** Returns how much time an app-focus event covers, in ms. Defaults to the poll interval. */
export function focusMs({ detail }: Readonly<Pick<SenseEvent, 'detail'>>, pollIntervalSec: number): number {
  const value = detail?.['intervalSec'];
  const isValid = typeof value === 'number' && Number.isFinite(value) && value >= 0;
  return Math.round(Math.min(isValid ? value : pollIntervalSec, MAX_INTERVAL_SEC) * 1000);
}

function perKind<T>(make: () => T): Record<AppKind, T> {
  return { creation: make(), consumption: make(), neutral: make() };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, n) => total + n, 0);
}
