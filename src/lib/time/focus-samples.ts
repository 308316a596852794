import { textOf } from '../platform/files/json-object';
import { parseIso } from '../platform/time/clock';
import { byCodeUnits } from '../platform/files/short-hash';
import type { SenseEvent } from './event';
import { merged, without, type Span } from './ledger/spans';
import { splitByMachine } from './machines/split';

/**
 * The longest poll interval that the configuration allows, which is also the longest time that an event can
 * cover.
 */
const MAX_INTERVAL_SEC = 3_600;

/** The time in ms that an app-focus event covers, or the part of it that counts. */
export interface FocusSample {
  from: number;
  to: number;
  app: string;
  bundleId: string | undefined;
  machine: string;
  /** Time of the event's last input, or null if unknown. */
  input: number | null;
  event: Readonly<SenseEvent>;
}

/**
 * Collects app-focus and away events, in any order. If an application has several events with the same timestamp, only
 * the longest counts. Time that several machines recorded at once counts for one of them, because a sync tool
 * may have merged their logs.
 */
export function sampleTally(pollIntervalSec: number) {
  const samples = new Map<string, FocusSample>();
  const machines = new Set<string>();
  const away = new Map<string, Span[]>();
  return {
    add(to: number, event: Readonly<SenseEvent>): void {
      const { detail } = event;
      if (event.type === 'away') {
        const machine = textOf(detail?.['machine']) ?? '';
        const spans = away.get(machine) ?? [];
        away.set(machine, spans);
        spans.push(...awaySpan(to, event));
        return;
      }
      const bundleId = textOf(detail?.['bundleId']);
      const app = textOf(event.app) ?? bundleId ?? 'unknown';
      const machine = textOf(detail?.['machine']) ?? '';
      const idleSec = detail?.['idleSec'];
      const input = typeof idleSec === 'number' && idleSec >= 0 ? to - idleSec * 1000 : null;
      const from = to - focusMs(event, pollIntervalSec);
      const key = `${to}\n${app}\n${bundleId ?? ''}\n${machine}`;
      const known = samples.get(key);
      const order =
        known === undefined ? 1 : known.from - from || byCodeUnits(keyOf(known.event), keyOf(event));
      if (order <= 0) return;
      machines.add(machine);
      samples.set(key, { from, to, app, bundleId, machine, input, event });
    },
    /** Returns the samples in chronological order. */
    result(): FocusSample[] {
      const sorted = [...samples].sort(([a], [b]) => byCodeUnits(a, b)).map(([, sample]) => sample);
      const present = away.size === 0 ? sorted : withoutAway(sorted, away);
      return machines.size < 2 ? present : countedOnce(present);
    },
  };
}

/** Returns the time that an away event covers; empty if the event is invalid. */
export function awaySpan(to: number, { detail }: Readonly<SenseEvent>): Span[] {
  const from = parseIso(textOf(detail?.['from']) ?? '');
  return from !== undefined && from < to ? [[from, to]] : [];
}

/** Leaves out the time after the last input, which was stored before the idle limit was reached. */
function withoutAway(
  samples: readonly FocusSample[],
  away: ReadonlyMap<string, readonly Span[]>,
): FocusSample[] {
  const spans = new Map([...away].map(([machine, list]) => [machine, merged(list)]));
  return samples.flatMap((sample) =>
    without([[sample.from, sample.to]], spans.get(sample.machine) ?? []).map(([from, to]) => ({
      ...sample,
      from,
      to,
    })),
  );
}

/** Orders events of the same time and length, so that the result doesn't depend on the order of the lines. */
function keyOf({ detail = {}, repo }: Readonly<SenseEvent>): string {
  return JSON.stringify([detail, repo]);
}

export function focusSamples(events: readonly SenseEvent[], pollIntervalSec: number): FocusSample[] {
  const tally = sampleTally(pollIntervalSec);
  for (const event of events)
    if (event.type === 'app-focus' || event.type === 'away') tally.add(Date.parse(event.ts), event);
  return tally.result();
}

function countedOnce(samples: readonly FocusSample[]): FocusSample[] {
  const parts: FocusSample[] = [];
  splitByMachine(
    samples,
    ({ app, event }) => app + keyOf(event),
    (sample, from, to) => parts.push({ ...sample, from, to }),
  );
  return parts;
}

/** Returns how much time an app-focus event covers, in ms. Defaults to the poll interval. */
export function focusMs({ detail }: Readonly<Pick<SenseEvent, 'detail'>>, pollIntervalSec: number): number {
  const value = detail?.['intervalSec'];
  const isValid = typeof value === 'number' && Number.isFinite(value) && value >= 0;
  return Math.round(Math.min(isValid ? value : pollIntervalSec, MAX_INTERVAL_SEC) * 1000);
}
