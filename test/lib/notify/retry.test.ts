import { expect } from 'chai';
import fc from 'fast-check';

import { isDue, isTimeFor, lastAttempt, nextAttempt, retryAfterMs } from '../../../src/lib/notify/settle';
import { NINE } from '../../helpers/notify';

const HOUR = 3_600_000;

describe('notify: when to try again', () => {
  it('waits longer each time, half an hour at most', () => {
    const waits = [1, 2, 3, 4, 5, 6, 7, 8, 50].map(
      (attempts) => nextAttempt(0, attempts, 0.5, undefined) / 1000,
    );
    expect(waits).to.deep.equal([5, 15, 45, 135, 405, 1215, 1800, 1800, 1800]);
  });

  it('is spread by a fifth, and never before the time that was asked for', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.option(fc.integer({ min: -5, max: 200_000_000 })),
        (attempts, random, asked) => {
          // prettier-ignore
          const wait = nextAttempt(NINE, attempts, random, asked ?? undefined) - NINE;
          expect(wait).to.be.within(4000, 24 * HOUR);
          if (asked !== null) expect(wait).to.be.at.least(Math.min(asked, 24 * HOUR));
        },
      ),
    );
  });

  it('reads Retry-After as seconds and as a date', () => {
    expect(retryAfterMs('12', NINE)).to.equal(12_000);
    expect(retryAfterMs('0.65', NINE)).to.equal(650);
    expect(retryAfterMs('Fri, 20 Nov 2026 09:01:00 GMT', NINE)).to.equal(60_000);
    expect(retryAfterMs('Fri, 20 Nov 2026 08:01:00 GMT', NINE)).to.equal(0);
    for (const bad of [undefined, '', 'soon', '-5', '1e9999'])
      expect(retryAfterMs(bad, NINE)).to.equal(undefined);
  });

  it('gives up after a day; a banner after a quarter of an hour; what was held, counted from its time', () => {
    expect(lastAttempt(undefined, NINE)).to.equal(NINE + 24 * HOUR);
    expect(lastAttempt(HOUR / 4, NINE)).to.equal(NINE + HOUR / 4);
    expect(lastAttempt(undefined, NINE, NINE + 10 * HOUR)).to.equal(NINE + 34 * HOUR);
    expect(lastAttempt(undefined, NINE, NINE + 99 * HOUR)).to.equal(NINE + 48 * HOUR);
  });

  it('takes a time for passed that no clock can have meant, or that a clock has set which was put back', () => {
    expect(isDue(NINE, NINE)).to.equal(true);
    expect(isDue(NINE + 1, NINE)).to.equal(false);
    expect(isDue(NINE + 26 * HOUR, NINE)).to.equal(true);
    expect(isDue(NINE + HOUR, NINE, NINE + HOUR / 2)).to.equal(true);
    expect(isDue(NINE + HOUR, NINE, NINE + 900), 'the small corrections of every day').to.equal(false);
  });

  it('waits for the end of the quiet hours whichever clock has set it, and for nothing else of the future', () => {
    const iso = (ms: number): string => new Date(ms).toISOString();
    const times = { at: iso(NINE + HOUR), nextAt: iso(NINE + 9 * HOUR) };
    expect(isTimeFor({ ...times, heldUntil: times.nextAt }, NINE)).to.equal(false);
    expect(isTimeFor(times, NINE)).to.equal(true);
    expect(isTimeFor({ ...times, at: iso(NINE - HOUR) }, NINE)).to.equal(false);
    expect(isTimeFor({ ...times, at: iso(NINE - HOUR), waitingSince: iso(NINE + HOUR) }, NINE)).to.equal(
      true,
    );
  });
});
