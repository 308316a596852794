import { expect } from 'chai';
import fc from 'fast-check';

import { addDays, dayBounds } from '../../../../src/lib/platform/time/time';
import { daysOf, readLatest, readPeriod, wholeWeeks } from '../../../../src/lib/platform/time/period';
import { rejection } from '../../../helpers/errors';

/** Saturday, half past one at night in Berlin, and still Friday in UTC. */
const NOW = { nowMs: Date.parse('2026-11-21T00:30:00+01:00'), zone: 'Europe/Berlin' };

describe('the period of a time report', () => {
  const periods: [words: string, from: string, to: string][] = [
    ['this quarter', '2026-10-01', '2026-11-21'],
    ['last quarter', '2026-07-01', '2026-09-30'],
    ['last 2 weeks', '2026-11-08', '2026-11-21'],
    ['last month', '2026-10-01', '2026-10-31'],
    ['year', '2025-11-22', '2026-11-21'],
    ['this year', '2026-01-01', '2026-11-21'],
    ['last year', '2025-01-01', '2025-12-31'],
    ['2025', '2025-01-01', '2025-12-31'],
    ['2026-10', '2026-10-01', '2026-10-31'],
    ['last 3 months', '2026-08-24', '2026-11-21'],
    ['last 10 days', '2026-11-12', '2026-11-21'],
    ['October', '2026-10-01', '2026-10-31'],
    ['november', '2026-11-01', '2026-11-21'],
    ['last november', '2025-11-01', '2025-11-30'],
    ['Dec', '2025-12-01', '2025-12-31'],
    ['last may', '2026-05-01', '2026-05-31'],
    ['February 2024', '2024-02-01', '2024-02-29'],
    ['today', '2026-11-21', '2026-11-21'],
    ['1 November', '2026-11-01', '2026-11-01'],
    ['2 weeks ago', '2026-11-07', '2026-11-07'],
    ['7d', '2026-11-15', '2026-11-21'],
    ['2w', '2026-11-08', '2026-11-21'],
    ['30 days', '2026-10-23', '2026-11-21'],
    ['week', '2026-11-16', '2026-11-21'],
    ['last week', '2026-11-09', '2026-11-15'],
    ['past week', '2026-11-15', '2026-11-21'],
    ['past month', '2026-10-23', '2026-11-21'],
    ['this weekend', '2026-11-21', '2026-11-21'],
    ['last weekend', '2026-11-14', '2026-11-15'],
    ['2026-11-01..2026-11-07', '2026-11-01', '2026-11-07'],
    ['october .. last week', '2026-10-01', '2026-11-15'],
    ['friday..', '2026-11-20', '2026-11-21'],
    ['since friday', '2026-11-20', '2026-11-21'],
    ['from 1 November', '2026-11-01', '2026-11-21'],
    ['..2026-11-07', '1970-01-01', '2026-11-07'],
    ['until yesterday', '1970-01-01', '2026-11-20'],
    ['before this month', '1970-01-01', '2026-10-31'],
    ['today..2027-01-01', '2026-11-21', '2026-11-21'],
  ];
  for (const [words, from, to] of periods)
    it(`reads "${words}"`, async () => {
      expect(await readPeriod(words, NOW)).to.include({ from, to });
    });

  for (const words of [
    'second quarter',
    'two months',
    'December 2026',
    '2027',
    'last 0 weeks',
    'last seven days',
    'last few days',
    'last 24 hours',
    '2 hours ago',
    'last night',
    'tonight',
    'friday evening',
    'monday last week',
    'yesterday at 5pm',
    'yesterday 15:00',
    '..',
    'a..b..c',
    'since',
    'since since friday',
  ])
    it(`refuses "${words}" instead of showing one day`, async () => {
      expect(await rejection(readPeriod(words, NOW))).to.include({ kind: 'usage' });
    });
});

describe('the words of a period', () => {
  const since = async (words: string): Promise<string> => (await readPeriod(words, NOW)).from;

  const said: [words: string, day: string][] = [
    ['today', '2026-11-21'],
    ['yesterday', '2026-11-20'],
    ['day before yesterday', '2026-11-19'],
    ['friday', '2026-11-20'],
    ['saturday', '2026-11-21'],
    ['sunday', '2026-11-15'],
    ['monday', '2026-11-16'],
    ['last monday', '2026-11-16'],
    ['3 days ago', '2026-11-18'],
    ['1 November', '2026-11-01'],
    ['12 Nov 2026', '2026-11-12'],
    ['12-Nov-2025', '2025-11-12'],
    ['2 dec', '2025-12-02'],
    [' 2026-02-28 ', '2026-02-28'],
  ];
  for (const [words, day] of said) {
    it(`reads ${words.trim()} as ${day}, by the wall clock of the zone`, async () => {
      expect(await since(words)).to.equal(day);
    });
  }

  it('ends today or on the given day, and covers whole local days', async () => {
    const { startMs, endMs, ...period } = await readPeriod('since yesterday', NOW);
    expect(period).to.deep.equal({
      ...{ from: '2026-11-20', to: '2026-11-21', timezone: 'Europe/Berlin', current: true },
    });
    expect([startMs, endMs]).to.deep.equal([
      dayBounds('2026-11-20', NOW.zone).startMs,
      dayBounds('2026-11-21', NOW.zone).endMs,
    ]);
    const past = await readPeriod('2026-11-02..2026-11-05', NOW);
    expect([past.to, past.current]).to.deep.equal(['2026-11-05', false]);
  });

  it('covers the whole weeks of a period, at most up to today', async () => {
    const weeksOf = async (words: string) => wholeWeeks(await readPeriod(words, NOW), NOW);
    expect(await weeksOf('today')).to.include({ from: '2026-11-16', to: '2026-11-21', current: true });
    expect(await weeksOf('2026-11-15')).to.include({ from: '2026-11-09', to: '2026-11-15' });
    expect(await weeksOf('2026-11-09')).to.include({ from: '2026-11-09', to: '2026-11-15' });
    expect(await weeksOf('2026-11-13..2026-11-16')).to.include({ from: '2026-11-09', to: '2026-11-21' });
  });

  it('refuses a period that ends before today where it must end today', async () => {
    expect(await readLatest('last 3 days', NOW)).to.include({ from: '2026-11-19', to: '2026-11-21' });
    expect(await rejection(readLatest('yesterday', NOW)))
      .to.have.property('message')
      .that.equals('The period "yesterday" ends before today.');
  });

  it('refuses to list more than ten years of days', async () => {
    const { message } = await rejection(readPeriod('since 2001-01-01', NOW).then(daysOf));
    expect(message).to.match(/longer than ten years/);
  });

  const refused: [words: string, message: RegExp][] = [
    ['foo', /Invalid day "foo"/],
    ['', /Invalid day ""/],
    ['yesterday and on', /Invalid day/],
    ['monday to friday', /Invalid day/],
    ...['2026-02-30', '2026-22-11', '2026-13-01', '2026-1-5', '12.11.2026', '12-11-2026', '12. 11. 2026', '12/11', '11/12/26', '2026/11/12', 'thu 12.11.2026', '2026 11 12', '20261112', '12:30'].map(
      (words): [string, RegExp] => [words, /^Invalid day ".+"\.$/],
    ), // prettier-ignore
    ['tomorrow', /begins on 2026-11-22, which is in the future/],
    ['next friday', /is in the future/],
    ['2026-11-22', /is in the future/],
    ['today..yesterday', /^2026-11-21 is after 2026-11-20\.$/],
  ];
  for (const [words, message] of refused) {
    it(`refuses ${JSON.stringify(words)}`, async () => {
      const error = await rejection(readPeriod(words, NOW));
      expect(error).to.have.property('kind', 'usage');
      expect(error).to.have.property('message').that.matches(message);
      expect(error).to.have.property('hint').that.is.a('string');
    });
  }

  it('starts every week on a Monday', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 3000 }), async (ago) => {
        const day = addDays('2026-11-21', -ago);
        const { from, to } = wholeWeeks(await readPeriod(day, NOW), NOW);
        expect(daysOf({ from, to })).to.include(day);
        expect(toWeekday(from)).to.equal(1);
      }),
      { numRuns: 60 },
    );
  });
});

function toWeekday(day: string): number {
  return new Date(`${day}T00:00:00Z`).getUTCDay();
}
