import { byCodeUnits } from '../platform/files/order';
import { foldName, type Classifier } from './classify';
import { APP_KINDS, type AppKind } from './app-kind';
import type { Signal } from './log-line';
import { textOf } from '../platform/files/json-object';
import { sum } from './record-tally';

/** Time is added up in whole milliseconds (sums of integers know no order) and rounded once, to tenths. */
const TENTH_MS = 6_000;

/**
 * The longest poll interval that the configuration accepts. An event's interval is at most the poll interval
 * of its capture, which may have been longer than today's: so the cap is this, not the present setting.
 */
const MAX_INTERVAL_SEC = 3_600;

/** An application as it was seen, for so long; most samples of a day say one of some dozens. */
interface Seen {
  app: string;
  bundleId: string | undefined;
  machine: string | undefined;
  ms: number;
  /** What it comes to in each hour of the day, ms; filled in at the end. */
  hours: number[];
}

/** One sample of the front application. */
interface Sample {
  at: number;
  seen: Seen;
}

/** Adds up the app-focus events of a day into tenths of a minute by kind, by app and by hour. */
export function focusTally(
  options: { pollIntervalSec: number; classify: Classifier },
  starts: readonly number[],
) {
  // Two lists of plain values: ten thousand objects would be moved about by the collector while they grow.
  const times: number[] = [];
  const seens: Seen[] = [];
  let inOrder = true;
  let last = Number.NEGATIVE_INFINITY;
  const known = new Map<object, Seen>();
  const seenBy = ({ app, detail }: Readonly<Signal>): Seen => {
    const bundleId = textOf(detail?.['bundleId']);
    return {
      app: textOf(app) ?? bundleId ?? 'unknown',
      bundleId,
      machine: textOf(detail?.['machine']),
      ms: Math.round(intervalSec(detail?.['intervalSec'], options.pollIntervalSec) * 1000),
      hours: [],
    };
  };
  return {
    add(at: number, signal: Readonly<Signal>): void {
      let seen = known.get(signal);
      if (seen === undefined) known.set(signal, (seen = seenBy(signal)));
      times.push(at);
      seens.push(seen);
      inOrder = inOrder && at > last;
      last = at;
    },
    result() {
      for (const seen of known.values()) seen.hours = starts.map(() => 0);
      let hour = 0;
      const count = (at: number, { hours, ms }: Seen): void => {
        hour = hourIndex(at, starts, hour);
        hours[hour] = (hours[hour] ?? 0) + ms;
      };
      // As a rule a log is in order, and no two lines are of one instant: then each of them counts.
      if (inOrder) seens.forEach((seen, i) => count(times[i] ?? 0, seen));
      else
        for (const { at, seen } of counted(seens.map((seen, i) => ({ at: times[i] ?? 0, seen }))))
          count(at, seen);
      const appMs = perKind(() => new Map<string, number>());
      const hourMs = perKind(() => starts.map(() => 0));
      for (const { app, bundleId, hours } of known.values()) {
        const { kind } = options.classify(app, bundleId);
        appMs[kind].set(app, (appMs[kind].get(app) ?? 0) + sum(hours));
        hours.forEach((ms, i) => (hourMs[kind][i] = (hourMs[kind][i] ?? 0) + ms));
      }
      return roundTime(appMs, hourMs);
    },
  };
}

/** A machine has one sample of an app at an instant: of two lines that say so the longer one counts. */
function counted(samples: Sample[]): Sample[] {
  samples.sort((a, b) => a.at - b.at);
  const kept: Sample[] = [];
  let instant = 0;
  for (const sample of samples) {
    if (sample.at !== kept[instant]?.at) instant = kept.length;
    const same = kept.slice(instant).find(({ seen }) => isSame(seen, sample.seen));
    if (same === undefined) kept.push(sample);
    else if (sample.seen.ms > same.seen.ms) same.seen = sample.seen;
  }
  return kept;
}

function isSame(a: Seen, b: Seen): boolean {
  return a === b || (a.app === b.app && a.bundleId === b.bundleId && a.machine === b.machine);
}

/**
 * Rounds from the top down, so that everything adds up: the day, its kinds, and within each kind both its
 * apps and its hours.
 */
function roundTime(appMs: Record<AppKind, Map<string, number>>, hourMs: Record<AppKind, number[]>) {
  const kindMs = APP_KINDS.map((kind) => sum(hourMs[kind]));
  const kindTenths = apportion(Math.round(sum(kindMs) / TENTH_MS), kindMs);
  const kinds: Record<AppKind, number> = { creation: 0, consumption: 0, neutral: 0 };
  const hours = perKind((): number[] => []);
  const rows: { app: string; kind: AppKind; tenths: number }[] = [];
  APP_KINDS.forEach((kind, i) => {
    const tenths = kindTenths[i] ?? 0;
    kinds[kind] = tenths;
    hours[kind] = apportion(tenths, hourMs[kind]);
    const apps = joinSpellings(appMs[kind]);
    const shares = apportion(
      tenths,
      apps.map(({ ms }) => ms),
    );
    apps.forEach(({ app }, n) => rows.push({ app, kind, tenths: shares[n] ?? 0 }));
  });
  return {
    kinds,
    hours,
    // An app of a few seconds that rounds to nothing has no row.
    apps: rows
      .filter(({ tenths }) => tenths > 0)
      .sort((a, b) => b.tenths - a.tenths || byCodeUnits(a.app, b.app) || byCodeUnits(a.kind, b.kind)),
  };
}

/**
 * One program is "Code" to one window system and "code" to another: a row for both, under the spelling that
 * most of the time was seen under. In the order of the names.
 */
function joinSpellings(appMs: ReadonlyMap<string, number>): { app: string; ms: number }[] {
  const joined = new Map<string, { app: string; most: number; ms: number }>();
  for (const [app, ms] of [...appMs].sort(([a], [b]) => byCodeUnits(a, b))) {
    const folded = foldName(app);
    const known = joined.get(folded);
    if (known === undefined) joined.set(folded, { app, most: ms, ms });
    else {
      known.ms += ms;
      if (ms > known.most) Object.assign(known, { app, most: ms });
    }
  }
  return [...joined.values()].sort((a, b) => byCodeUnits(a.app, b.app));
}

/** Shares out `tenths` over the parts by largest remainder; of equal remainders the earlier part is first. */
function apportion(tenths: number, partsMs: readonly number[]): number[] {
  const shares = partsMs.map((ms) => Math.floor(ms / TENTH_MS));
  let left = tenths - sum(shares);
  const byRemainder = partsMs
    .map((ms, index) => ({ index, rest: ms % TENTH_MS }))
    .sort((a, b) => b.rest - a.rest || a.index - b.index);
  for (const { index } of byRemainder) {
    if (left <= 0) break;
    shares[index] = (shares[index] ?? 0) + 1;
    left -= 1;
  }
  return shares;
}

/** What an app-focus event of this interval stands for; a value that is no time at all counts like a missing one. */
function intervalSec(value: unknown, pollIntervalSec: number): number {
  const sound = typeof value === 'number' && Number.isFinite(value) && value >= 0;
  return Math.min(sound ? value : pollIntervalSec, MAX_INTERVAL_SEC);
}

/** Looked for from a guess: samples come in the order of time, as a rule. */
function hourIndex(ms: number, starts: readonly number[], guess: number): number {
  let index = guess;
  while (index > 0 && ms < (starts[index] ?? 0)) index -= 1;
  while (index < starts.length - 1 && ms >= (starts[index + 1] ?? 0)) index += 1;
  return index;
}

function perKind<T>(make: () => T): Record<AppKind, T> {
  return { creation: make(), consumption: make(), neutral: make() };
}
