import { textOf } from '../platform/files/json-object';
import { OTHER_SITES } from '../platform/net/site';
import { parseIso } from '../platform/time/clock';
import { byCodeUnits } from '../platform/files/short-hash';
import { FOCUS_TYPES, type SenseEvent } from './event';
import { listIn, merged, within, without, type Span } from './ledger/spans';
import { splitByMachine } from './machines/split';
import { browserOf, SEPARATOR, siteKey } from './site';

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
 * Collects app-focus, away and web-focus events, in any order. If an application has several events with the same timestamp, only
 * the longest counts. Time that several machines recorded at once counts for one of them, because a sync tool
 * may have merged their logs.
 */
export function sampleTally(pollIntervalSec: number) {
  const samples = new Map<string, FocusSample>();
  const machines = new Set<string>();
  const away = new Map<string, Span[]>();
  const visits = new Map<string, Visit[]>();
  return {
    add(to: number, event: Readonly<SenseEvent>): void {
      const { detail } = event;
      const machine = textOf(detail?.['machine']) ?? '';
      if (event.type === 'away') {
        listIn(away, machine).push(...awaySpan(to, event));
        return;
      }
      if (event.type === 'web-focus') {
        const site = event.app?.slice(siteKey('').length) ?? OTHER_SITES;
        const spans = awaySpan(to, event);
        listIn(visits, `${machine}\n${textOf(detail?.['via'])}`).push(
          ...spans.map((span) => [span, site] as const),
        );
        return;
      }
      const bundleId = textOf(detail?.['bundleId']);
      const app = textOf(event.app) ?? bundleId ?? 'unknown';
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
      const attended = away.size === 0 ? sorted : withoutAway(sorted, away);
      const present = visits.size === 0 ? attended : bySite(attended, visits);
      return machines.size < 2 ? present : countedOnce(present);
    },
  };
}

/** Returns the time that an away or web-focus event covers; empty if the event is invalid. */
export function awaySpan(to: number, { detail }: Readonly<SenseEvent>): Span[] {
  const from = parseIso(textOf(detail?.['from']) ?? '');
  return from !== undefined && from < to ? [[from, to]] : [];
}

/** Leaves out the time after the last input, which was stored before the idle limit was reached. */
function withoutAway(samples: readonly FocusSample[], away: ReadonlyMap<string, readonly Span[]>) {
  const spans = new Map([...away].map(([machine, list]) => [machine, merged(list)]));
  return samples.flatMap((sample) =>
    cut(sample, without([[sample.from, sample.to]], spans.get(sample.machine) ?? [])),
  );
}

function cut(sample: FocusSample, spans: readonly Span[], app = sample.app): FocusSample[] {
  return spans.map(([from, to]) => ({ ...sample, from, to, app }));
}

/** A time for which a browser's extension reported a site. */
type Visit = readonly [span: Span, site: string];

/** Splits the time of browsers by the site in front. Time that several visits cover counts for the first. */
function bySite(samples: readonly FocusSample[], visits: ReadonlyMap<string, Visit[]>): FocusSample[] {
  for (const list of visits.values())
    list.sort((a, b) => a[0][0] - b[0][0] || a[0][1] - b[0][1] || byCodeUnits(a[1], b[1]));
  return samples.flatMap((sample) => {
    const { app, bundleId, machine, from, to } = sample;
    const own = visits.get(`${machine}\n${browserOf(app, bundleId)}`) ?? [];
    let rest: Span[] = [[from, to]];
    const parts: FocusSample[] = [];
    for (const [span, site] of own.filter(([[start, end]]) => start < to && end > from)) {
      parts.push(...cut(sample, within(rest, [span]), app + SEPARATOR + site));
      rest = without(rest, [span]);
    }
    return [...parts, ...cut(sample, rest)].sort((a, b) => a.from - b.from);
  });
}

/** Orders events of the same time and length, so that the result doesn't depend on the order of the lines. */
function keyOf({ detail = {}, repo }: Readonly<SenseEvent>): string {
  return JSON.stringify([detail, repo]);
}

export function focusSamples(events: readonly SenseEvent[], pollIntervalSec: number): FocusSample[] {
  const tally = sampleTally(pollIntervalSec);
  for (const event of events) if (FOCUS_TYPES.has(event.type)) tally.add(Date.parse(event.ts), event);
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
