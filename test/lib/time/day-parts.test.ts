import { expect } from 'chai';

import { dayBounds } from '../../../src/lib/platform/time/time';
import { makeClassifier } from '../../../src/lib/time/classify';
import { dayParts, type DayParts } from '../../../src/lib/time/day-parts';
import type { SenseEvent } from '../../../src/lib/time/event';
import { commit, focus } from '../../helpers/sense';

const DAY = '2026-11-20';
const options = { ...dayBounds(DAY, 'UTC'), pollIntervalSec: 120, classify: makeClassifier('templates') };
const second = (time: string): number => Date.parse(`${DAY}T${time}Z`) / 1000;

/** Two minutes of an application, whose last input was `idleSec` before their end. */
function sample(time: string, app: string, idleSec?: number): SenseEvent {
  const event = focus(`${DAY}T${time}Z`, app);
  return idleSec === undefined ? event : { ...event, detail: { ...event.detail, idleSec } };
}

describe('a day for other machines (lib)', () => {
  const spans = (...events: SenseEvent[]): unknown[] =>
    dayParts(events, options).spans.map(({ from, to, app, input }) => [from, to, app, input]);

  it('joins samples with input, and separates time without', () => {
    const events = [
      sample('09:02:00', 'Code', 10),
      sample('09:04:00', 'Code', 0),
      sample('09:06:00', 'Code', 125),
      sample('09:08:00', 'Code', 245),
      sample('09:10:00', 'Code', 5),
    ];
    expect(spans(...events)).to.deep.equal([
      [second('09:00:00'), second('09:04:00'), 'Code', second('09:04:00')],
      [second('09:04:00'), second('09:08:00'), 'Code', second('09:03:55')],
      [second('09:08:00'), second('09:10:00'), 'Code', second('09:09:55')],
    ]);
    expect(spans(...events.toReversed())).to.deep.equal(spans(...events));
  });

  it('says that the input is unknown, cuts overlaps, and keeps what began before midnight, as the record does', () => {
    expect(spans(sample('09:02:00', 'Code'), sample('09:03:00', 'Firefox'))).to.deep.equal([
      [second('09:00:00'), second('09:02:00'), 'Code', null],
      [second('09:02:00'), second('09:03:00'), 'Firefox', null],
    ]);
    expect(spans(sample('00:01:00', 'Code', 0))).to.deep.equal([
      [second('00:00:00') - 60, second('00:01:00'), 'Code', second('00:01:00')],
    ]);
  });

  it('lists a commit once, by its change, and the time of the last event', () => {
    const one = commit(`${DAY}T10:00:00Z`, 'shop', 'a');
    const parts: DayParts = dayParts([one, one, commit(`${DAY}T11:00:00Z`, 'shop', 'b')], options);
    expect(parts.commits.map(({ repo, at, subject, path }) => [repo, at, subject, path])).to.deep.equal([
      ['shop', second('10:00:00'), 'Commit a', '/src/shop'],
      ['shop', second('11:00:00'), 'Commit b', '/src/shop'],
    ]);
    expect(parts.lastAt).to.equal(second('11:00:00'));
    expect(dayParts([], options)).to.deep.equal({ spans: [], commits: [], sessions: [], lastAt: 0 });
  });
});
