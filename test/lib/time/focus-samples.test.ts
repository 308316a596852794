import { expect } from 'chai';
import fc from 'fast-check';

import { toIso } from '../../../src/lib/platform/time/clock';
import { dayBounds } from '../../../src/lib/platform/time/time';
import { makeClassifier } from '../../../src/lib/time/classify';
import { dayParts } from '../../../src/lib/time/day-parts';
import { dayTimeline } from '../../../src/lib/time/day-timeline';
import type { SenseEvent } from '../../../src/lib/time/event';
import { lengthOf, merged, type Span } from '../../../src/lib/time/ledger/spans';
import type { DailyRecord } from '../../../src/lib/time/record';
import { buildDailyRecord, focus } from '../../helpers/sense';
import { long } from '../../helpers/long';

const DAY = '2026-11-20';
const options = { ...dayBounds(DAY, 'UTC'), pollIntervalSec: 120, classify: makeClassifier('templates') };

function recordOf(events: readonly SenseEvent[]): DailyRecord {
  const label = { version: '1', generatedAt: '2026-11-21T00:00:00.000Z', final: true };
  return buildDailyRecord(DAY, events, { ...options, timezone: 'UTC', ...label });
}

interface Use {
  machine: string;
  from: number;
  sec: number;
  app: string;
  idleSec: number | undefined;
}

const START = options.startMs + 9 * 3_600_000;
const spanOf = ({ from, sec }: Use): Span => [START + from * 1000, START + (from + sec) * 1000];
const eventOf = ({ machine, app, idleSec, ...use }: Use): SenseEvent => ({
  ...focus(toIso(spanOf(use as Use)[1]), app),
  detail: { intervalSec: use.sec, machine, ...(idleSec === undefined ? {} : { idleSec }) },
});

const anyUse = (machines: readonly string[]): fc.Arbitrary<Use> =>
  fc.record({
    machine: fc.constantFrom(...machines),
    from: fc.integer({ min: 0, max: 3000 }),
    sec: fc.integer({ min: 1, max: 1200 }),
    app: fc.constantFrom('Code', 'Firefox', 'Slack'),
    idleSec: fc.option(fc.integer({ min: 0, max: 1500 }), { nil: undefined }),
  });

const seconds = (list: readonly { from: number; to: number }[]): number =>
  list.reduce((sum, { from, to }) => sum + to - from, 0);

describe('sense: time away that began before it was known', () => {
  const away = (machine: string, from: number, to: number): SenseEvent => ({
    ...{ ts: toIso(START + to * 1000), type: 'away', source: 'appFocus' },
    detail: { from: toIso(START + from * 1000), reason: 'idle', machine },
  });

  it('takes back the focus since the last input, on the machine that you left', () => {
    const uses: Use[] = [
      { machine: 'a', from: 0, sec: 120, app: 'Code', idleSec: 60 },
      { machine: 'a', from: 120, sec: 120, app: 'Firefox', idleSec: 180 },
      { machine: 'a', from: 600, sec: 120, app: 'Code', idleSec: 0 },
      { machine: 'b', from: 240, sec: 60, app: 'Slack', idleSec: 0 },
    ];
    const record = recordOf([...uses.map(eventOf), away('a', 60, 480), away('a', 480, 600)]);
    expect(record.apps.map(({ app, minutes }) => [app, minutes])).to.deep.equal([
      ['Code', 3],
      ['Slack', 1],
    ]);
    expect(record.ledger.attention.map(({ app, minutes }) => [app, minutes])).to.deep.equal([
      ['Code', 3],
      ['Slack', 1],
    ]);
    const events = [...uses.map(eventOf), away('a', 60, 600)];
    const { spans } = dayTimeline(events, options);
    expect(spans.map(([at, length]) => [at - 9 * 3600, length])).to.deep.equal([[0, 60], [240, 60], [600, 120]]); // prettier-ignore
    expect(dayParts(events, options).spans.map(({ from, to }) => to - from)).to.deep.equal([60, 60, 120]);
  });
});

describe('sense: the log of a day with events of two machines', () => {
  const onA: Use = { machine: 'a', from: 0, sec: 3600, app: 'Code', idleSec: 1800 };
  const onB: Use = { machine: 'b', from: 1800, sec: 3600, app: 'Firefox', idleSec: 10 };
  const minutesOf = (...uses: Use[]): unknown[] =>
    recordOf(uses.map(eventOf)).apps.map(({ app, minutes }) => [app, minutes]);

  it('counts overlapping time for the machine with the more recent input, or for the lower id', () => {
    expect(minutesOf(onA, onB)).to.deep.equal([['Firefox', 60], ['Code', 30]]); // prettier-ignore
    const idle = { ...onB, idleSec: 7000 };
    expect(minutesOf(onA, idle)).to.deep.equal([['Code', 60], ['Firefox', 30]]); // prettier-ignore
    const unknown = [onA, onB].map((use) => ({ ...use, idleSec: undefined })) as [Use, Use];
    expect(minutesOf(...unknown)).to.deep.equal([['Code', 60], ['Firefox', 30]]); // prettier-ignore
  });

  long('adds up to the union of their spans, in any order of the lines', () => {
    const anyLog = fc
      .tuple(anyUse(['a']), anyUse(['b']), fc.array(anyUse(['a', 'b']), { maxLength: 30 }))
      .map(([a, b, rest]) => [a, b, ...rest])
      .chain((uses) => fc.tuple(fc.constant(uses), fc.shuffledSubarray(uses, { minLength: uses.length })));
    fc.assert(
      fc.property(anyLog, ([uses, shuffled]) => {
        const [events, others] = [uses.map(eventOf), shuffled.map(eventOf)];
        const unionSec = lengthOf(merged(uses.map(spanOf))) / 1000;
        const record = recordOf(events);
        const tenths = record.ledger.attention.reduce((sum, row) => sum + Math.round(row.minutes * 10), 0);
        expect(Math.round(record.totalMinutes * 10)).to.equal(Math.round(unionSec / 6));
        expect(tenths).to.equal(Math.round(unionSec / 6));
        expect(recordOf(others)).to.deep.equal(record);

        // Spans with a gap of up to half a poll interval are joined.
        const exact = { ...options, pollIntervalSec: 0 };
        const parts = dayParts(events, exact);
        expect(seconds(parts.spans)).to.equal(unionSec);
        expect(dayParts(others, exact)).to.deep.equal(parts);

        const timeline = dayTimeline(events, options);
        timeline.spans.forEach(([from], i) => {
          const [before, length] = timeline.spans[i - 1] ?? [0, 0];
          expect(from).to.be.at.least(before + length);
        });
        expect(dayTimeline(others, options)).to.deep.equal(timeline);
      }),
    );
  });

  it('leaves the day of one machine unchanged', () => {
    fc.assert(
      fc.property(fc.uniqueArray(anyUse(['a']), { selector: ({ from, sec }) => from + sec }), (uses) => {
        const sec = uses.reduce((sum, use) => sum + use.sec, 0);
        expect(Math.round(recordOf(uses.map(eventOf)).totalMinutes * 10)).to.equal(Math.round(sec / 6));
      }),
    );
  });
});
