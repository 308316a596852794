import { expect } from 'chai';

import { appFocusSource } from '../../../src/lib/sense/app-focus';
import type { SenseEvent } from '../../../src/lib/time/event';
import {
  addObservation,
  intervalsAfter,
  splitAtHours,
  type Interval,
  type FocusTimeline,
} from '../../../src/lib/sense/focus-timeline';
import type { Observation } from '../../../src/lib/sense/observe';
import { recordedDesktop } from '../../helpers/fake-desktop';
import { seeded } from '../../helpers/random';
import { long } from '../../helpers/long';

const START = Date.parse('2026-11-20T08:00:00.000Z');
const NONE: Observation = { state: 'none' };

const focus = (app: string): Observation => ({ state: 'focus', focus: { app, detail: { via: 'x11' } } });
/** Away by the second `sinceSec`, with the last input at `inputSec`. */
const away = (sinceSec: number, inputSec = sinceSec): Observation => ({
  ...{ state: 'away', reason: 'idle', text: 'idle' },
  ...{ sinceMs: START + sinceSec * 1000, inputMs: START + inputSec * 1000 },
});

/** The intervals of observations by second, as `app from-to`. */
function intervals(...seen: [sec: number, observation: Observation][]): string[] {
  const timeline: FocusTimeline = { done: [] };
  for (const [sec, observation] of seen) addObservation(timeline, START + sec * 1000, observation);
  return intervalsAfter(timeline, 0).map(named);
}

function named(interval: Interval): string {
  const name = interval.kind === 'focus' ? interval.focus.app : interval.kind;
  return `${name} ${(interval.fromMs - START) / 1000}-${(interval.toMs - START) / 1000}`;
}

describe('sense: the timeline of the focus', () => {
  it('knows the last input of each interval, which is no change of the focus', () => {
    const timeline: FocusTimeline = { done: [] };
    const input = (app: string, inputSec: number): Observation => ({
      ...(focus(app) as Extract<Observation, { state: 'focus' }>),
      inputMs: START + inputSec * 1000,
    });
    const seen: [number, Observation][] = [[0, input('A', -1)], [15, input('A', 14)], [30, input('A', 14)], [45, input('B', 44)], [60, NONE]]; // prettier-ignore
    for (const [sec, observation] of seen) addObservation(timeline, START + sec * 1000, observation);
    expect(intervalsAfter(timeline, 0).map(({ inputMs }) => inputMs && (inputMs - START) / 1000)).to.deep.equal([14, 44]); // prettier-ignore
  });

  it('has an interval for each focus', () => {
    const found = intervals(
      [0, focus('A')],
      [10, focus('A')],
      [30, focus('B')],
      [40, NONE],
      [50, focus('A')],
      [60, NONE],
    );
    expect(found).to.deep.equal(['A 0-30', 'B 30-40', 'none 40-50', 'A 50-60']);
  });

  it('counts less than 5 s as part of the interval before, else of the one after', () => {
    expect(intervals([0, focus('A')], [20, focus('B')], [22, focus('C')], [30, focus('C')])).to.deep.equal([
      'A 0-22',
      'C 22-30',
    ]);
    expect(intervals([0, focus('B')], [2, focus('A')], [9, focus('A')])).to.deep.equal(['A 0-9']);
    expect(intervals([0, focus('A')], [20, focus('B')], [22, focus('A')], [30, focus('A')])).to.deep.equal([
      'A 0-30',
    ]);
    expect(intervals([0, focus('A')], [20, NONE], [21, focus('A')], [30, focus('A')])).to.deep.equal([
      'A 0-30',
    ]);
  });

  it('keeps a focus of less than 5 s back until it ends', () => {
    expect(intervals([0, focus('A')], [20, focus('B')], [24, focus('B')])).to.deep.equal(['A 0-20']);
    expect(intervals([0, focus('A')], [20, focus('B')], [25, focus('B')])).to.deep.equal([
      'A 0-20',
      'B 20-25',
    ]);
  });

  it('ends with the last input once you are away, and begins again with the next', () => {
    const steps: [number, Observation][] = [[0, focus('A')], [30, focus('B')], [50, focus('B')], [60, away(56, 20)], [75, away(56, 20)], [90, focus('A')], [99, focus('A')]]; // prettier-ignore
    expect(intervals(...steps)).to.deep.equal(['A 0-20', 'away 20-90', 'A 90-99']);
  });

  it('lasts while the application counts without input', () => {
    const steps: [number, Observation][] = [[0, focus('Zoom')], [50, focus('Zoom')], [60, away(40, 10)], [75, away(40, 10)]]; // prettier-ignore
    expect(intervals(...steps)).to.deep.equal(['Zoom 0-50', 'away 50-75']);
  });

  it('returns time away from the last input on, also if a focus after it was stored, but only once', () => {
    const timeline: FocusTimeline = { done: [] };
    const steps: [number, Observation][] = [[0, focus('A')], [40, focus('A')], [60, away(56, 20)], [75, away(56, 20)]]; // prettier-ignore
    for (const [sec, observation] of steps) addObservation(timeline, START + sec * 1000, observation);
    expect(intervalsAfter(timeline, START + 40_000).map(named)).to.deep.equal(['away 20-75']);
    addObservation(timeline, START + 90_000, away(56, 20));
    expect(intervalsAfter(timeline, START + 75_000).map(named)).to.deep.equal(['away 75-90']);
  });

  it('does not cover the time in which the machine slept', () => {
    const found = intervals([0, focus('A')], [30, focus('A')], [4000, focus('A')], [4010, focus('A')]);
    expect(found).to.deep.equal(['A 0-30', 'A 4000-4010']);
  });

  it('starts over after the clock was set back', () => {
    const found = intervals([100, focus('A')], [130, focus('B')], [20, focus('A')], [40, focus('A')]);
    expect(found).to.deep.equal(['A 20-40']);
  });

  it('splits at the hours of the zone, each part with its end in its own hour', () => {
    const split = (from: string, to: string, zone: string): string[] =>
      splitAtHours({ kind: 'none', fromMs: Date.parse(from), toMs: Date.parse(to) }, zone).map(({ toMs }) =>
        new Date(toMs).toISOString().slice(11),
      );
    expect(split('2026-11-20T08:58:00Z', '2026-11-20T09:02:00Z', 'UTC')).to.deep.equal([
      '08:59:59.999Z',
      '09:02:00.000Z',
    ]);
    expect(split('2026-11-20T08:28:00Z', '2026-11-20T08:32:00Z', 'Asia/Kolkata')).to.deep.equal([
      '08:29:59.999Z',
      '08:32:00.000Z',
    ]);
    expect(split('2026-11-20T23:59:00Z', '2026-11-21T00:00:00Z', 'UTC')).to.deep.equal([
      '23:59:59.999Z',
      '00:00:00.000Z',
    ]);
    expect(split('2026-11-20T08:01:00Z', '2026-11-20T08:02:00Z', 'UTC')).to.deep.equal(['08:02:00.000Z']);
  });

  describe('as events', () => {
    function source(timeline: FocusTimeline, now: Observation) {
      return appFocusSource({
        desktop: recordedDesktop('linux', {}),
        config: { pollIntervalSec: 120, idleAfterSec: 300, countsAsActive: [], exclude: [] },
        machineId: 'm',
        timezone: 'UTC',
        watch: {
          since: (ms) => Promise.resolve({ intervals: intervalsAfter(timeline, ms), now }),
        },
      });
    }

    it('names the watch, and has the exact time', async () => {
      const timeline: FocusTimeline = { done: [] };
      addObservation(timeline, START, focus('A'));
      addObservation(timeline, START + 12_345, away(12.345));
      addObservation(timeline, START + 20_000, away(12.345));
      const input = { nowMs: START + 20_000, dayStartMs: 0, cursor: undefined };
      const found = await source(timeline, away(12.345)).collect(input);
      expect(found).to.deep.equal({
        events: [
          {
            ts: '2026-11-20T08:00:12.345Z',
            type: 'app-focus',
            source: 'appFocus',
            app: 'A',
            detail: { intervalSec: 12.345, via: 'x11-events', machine: 'm' },
          },
          {
            ts: '2026-11-20T08:00:20.000Z',
            type: 'away',
            source: 'appFocus',
            detail: { from: '2026-11-20T08:00:12.345Z', reason: 'idle', machine: 'm' },
          },
        ],
        cursor: { lastSampleMs: START + 20_000, carryMs: 0 },
        state: 'idle',
        reason: 'idle',
      });
    });

    long(
      'adds up to the covered time, and stores nothing twice, also after captures that failed',
      async () => {
        for (let seed = 1; seed <= 60; seed += 1) {
          const random = seeded(seed).next;
          const timeline: FocusTimeline = { done: [] };
          const stored: SenseEvent[] = [];
          let cursor: unknown;
          let [at, coveredMs] = [START, 0];
          let seen: Observation = focus('A');
          addObservation(timeline, at, seen);
          for (let n = 0; n < 300; n += 1) {
            const stepMs = Math.floor(random() < 0.3 ? random() * 5_000 : random() * 15_000);
            at += stepMs;
            coveredMs += stepMs;
            if (random() < 0.5)
              seen =
                random() < 0.2 ? away((at - START) / 1000) : focus('ABC'.charAt(Math.floor(random() * 3)));
            addObservation(timeline, at, seen);
            if (random() > 0.2) continue;
            const found = await source(timeline, seen).collect({ nowMs: at, dayStartMs: 0, cursor });
            // A capture whose state cannot be written stores nothing, and keeps the cursor.
            if (random() < 0.3) continue;
            stored.push(...found.events);
            ({ cursor } = found);
          }
          addObservation(timeline, at + 5_000, seen);
          coveredMs += 5_000;
          stored.push(...(await source(timeline, seen).collect({ nowMs: at, dayStartMs: 0, cursor })).events);
          const spans = stored.map(({ ts, detail }) => {
            const to = Date.parse(ts);
            const sec = detail?.['intervalSec'];
            return {
              to,
              from:
                typeof sec === 'number' ? Math.round(to - sec * 1000) : Date.parse(String(detail?.['from'])),
            };
          });
          spans.forEach(({ from }, i) => expect(from, `seed ${seed}`).to.equal(spans[i - 1]?.to ?? START));
          expect(
            spans.reduce((sum, { from, to }) => sum + to - from, 0),
            `seed ${seed}`,
          ).to.equal(coveredMs);
        }
      },
    );

    it('leaves the focus to the process that watches it', async () => {
      const elsewhere = appFocusSource({
        desktop: recordedDesktop('linux', {}),
        config: { pollIntervalSec: 120, idleAfterSec: 300, countsAsActive: [], exclude: [] },
        machineId: 'm',
        timezone: 'UTC',
        isWatched: () => true,
      });
      const cursor = { lastSampleMs: START, carryMs: 0 };
      const found = await elsewhere.collect({ nowMs: START + 60_000, dayStartMs: 0, cursor });
      expect(found).to.deep.equal({ events: [], cursor, state: 'ok' });
    });
  });
});
