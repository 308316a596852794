import { textOf } from '../platform/files/json-object';
import { byCodeUnits } from '../platform/files/short-hash';
import { APP_KINDS, foldName, type AppKind, type Classifier } from './classify';
import type { SenseEvent } from './event';

/** Time is added up in whole milliseconds (sums of integers know no order) and rounded once, to tenths. */
const TENTH_MS = 6_000;

/** The longest poll interval of the configuration: the cap of an event, whose capture may have had a longer one than now. */
const MAX_INTERVAL_SEC = 3_600;

/** An application as it was seen on one machine. */
interface Seen {
  app: string;
  bundleId: string | undefined;
  /** Milliseconds by instant: of two lines for one instant the longer counts. */
  samples: Map<number, number>;
}

/** Adds up the app-focus events of a day into tenths of a minute by kind, by app and by hour. */
export function focusTally(
  options: { pollIntervalSec: number; classify: Classifier },
  starts: readonly number[],
) {
  const known = new Map<string, Seen>();
  return {
    add(at: number, { app, detail }: Readonly<SenseEvent>): void {
      const bundleId = textOf(detail?.['bundleId']);
      const name = textOf(app) ?? bundleId ?? 'unknown';
      const key = `${name}\n${bundleId ?? ''}\n${textOf(detail?.['machine']) ?? ''}`;
      const seen = known.get(key) ?? { app: name, bundleId, samples: new Map<number, number>() };
      known.set(key, seen);
      const ms = Math.round(intervalSec(detail?.['intervalSec'], options.pollIntervalSec) * 1000);
      seen.samples.set(at, Math.max(ms, seen.samples.get(at) ?? 0));
    },
    result() {
      const appMs = perKind(() => new Map<string, number>());
      const hourMs = perKind(() => starts.map(() => 0));
      for (const { app, bundleId, samples } of known.values()) {
        const { kind } = options.classify(app, bundleId);
        for (const [at, ms] of samples) {
          const hour = Math.max(
            0,
            starts.findLastIndex((start) => start <= at),
          );
          hourMs[kind][hour] = (hourMs[kind][hour] ?? 0) + ms;
          appMs[kind].set(app, (appMs[kind].get(app) ?? 0) + ms);
        }
      }
      return roundTime(appMs, hourMs);
    },
  };
}

/** Rounds from the top down, so that the day, its kinds, and within each kind both its apps and its hours add up. */
function roundTime(appMs: Record<AppKind, Map<string, number>>, hourMs: Record<AppKind, number[]>) {
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
  // An app of a few seconds that rounds to nothing has no row.
  const apps = rows.filter(({ tenths }) => tenths > 0);
  apps.sort((a, b) => b.tenths - a.tenths || byCodeUnits(a.app, b.app) || byCodeUnits(a.kind, b.kind));
  return { kinds, hours, apps };
}

/**
 * One program is "Code" to one window system and "code" to another: one row for both, under the spelling seen most, in the
 * order of the names.
 */
export function joinSpellings(counts: ReadonlyMap<string, number>): { app: string; ms: number }[] {
  const joined = new Map<string, { app: string; most: number; ms: number }>();
  for (const [app, ms] of [...counts].sort(([a], [b]) => byCodeUnits(a, b))) {
    const known = joined.get(foldName(app)) ?? { app, most: 0, ms: 0 };
    known.ms += ms;
    if (ms > known.most) Object.assign(known, { app, most: ms });
    joined.set(foldName(app), known);
  }
  return [...joined.values()].sort((a, b) => byCodeUnits(a.app, b.app));
}

/** Shares out `count` units over the parts by largest remainder; of equal remainders the earlier part is first. */
export function apportion(count: number, parts: readonly number[], unit: number): number[] {
  const shares = parts.map((part) => Math.floor(part / unit));
  const byRemainder = parts
    .map((part, index) => ({ index, rest: part % unit }))
    .sort((a, b) => b.rest - a.rest || a.index - b.index);
  for (const { index } of byRemainder.slice(0, Math.max(0, count - sum(shares))))
    shares[index] = (shares[index] ?? 0) + 1;
  return shares;
}

/** What an app-focus event of this interval stands for, s; an invalid value counts like a missing one. */
function intervalSec(value: unknown, pollIntervalSec: number): number {
  const sound = typeof value === 'number' && Number.isFinite(value) && value >= 0;
  return Math.min(sound ? value : pollIntervalSec, MAX_INTERVAL_SEC);
}

function perKind<T>(make: () => T): Record<AppKind, T> {
  return { creation: make(), consumption: make(), neutral: make() };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, n) => total + n, 0);
}
