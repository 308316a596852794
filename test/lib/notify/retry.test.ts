import { expect } from 'chai';
import fc from 'fast-check';

import { retryAfterMs } from '../../../src/lib/platform/net/network-failure';
import { isOver, lastAttempt, nextAttempt, waitOf } from '../../../src/lib/notify/lane';
import { fakeChannel, NINE } from '../../helpers/notify';

const HOUR = 3_600_000;
const iso = (ms: number): string => new Date(ms).toISOString();

describe('notify: retry times', () => {
  it('waits longer each time, up to half an hour', () => {
    const waits = [1, 2, 3, 4, 5, 6, 7, 8, 50].map(
      (attempts) => nextAttempt(0, attempts, 0.5, undefined) / 1000,
    );
    expect(waits).to.deep.equal([5, 15, 45, 135, 405, 1215, 1800, 1800, 1800]);
  });

  it("spreads retries by a fifth, and not before the server's time", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.option(fc.integer({ min: -5, max: 200_000_000 })),
        (attempts, random, serverMs) => {
          const wait = nextAttempt(NINE, attempts, random, serverMs ?? undefined) - NINE;
          expect(wait).to.be.within(4000, 24 * HOUR);
          if (serverMs !== null) expect(wait).to.be.at.least(Math.min(serverMs, 24 * HOUR));
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

  it('gives up after a day, or the time of the channel, counted from the end of the quiet hours', () => {
    const last = (keepMs?: number, heldMs?: number): number => {
      const channel = { ...fakeChannel('push'), ...(keepMs === undefined ? {} : { keepMs }) };
      const held = heldMs === undefined ? {} : { heldUntil: iso(heldMs) };
      return lastAttempt([channel], { channel: 'push', at: iso(NINE), ...held });
    };
    expect(last()).to.equal(NINE + 24 * HOUR);
    expect(last(HOUR / 4)).to.equal(NINE + HOUR / 4);
    expect(last(undefined, NINE + 10 * HOUR)).to.equal(NINE + 34 * HOUR);
    expect(last(undefined, NINE + 99 * HOUR)).to.equal(NINE + 48 * HOUR);
  });

  it('ignores a wait that a clock set which has moved back since', () => {
    const isDue = (nextMs: number, sinceMs = NINE): boolean =>
      isOver(waitOf({ at: iso(sinceMs), nextAt: iso(nextMs) }), NINE);
    expect(isDue(NINE)).to.equal(true);
    expect(isDue(NINE + 1)).to.equal(false);
    expect(isDue(NINE + 26 * HOUR)).to.equal(true);
    expect(isDue(NINE + HOUR, NINE + HOUR / 2)).to.equal(true);
    expect(isDue(NINE + HOUR, NINE + 900), 'a small correction').to.equal(false);
    const failed = { at: iso(NINE - HOUR), nextAt: iso(NINE + 9 * HOUR), waitingSince: iso(NINE + HOUR) };
    expect(isOver(waitOf(failed), NINE)).to.equal(true);
  });

  it('waits for the end of the quiet hours, whichever clock set it', () => {
    const nextAt = iso(NINE + 9 * HOUR);
    expect(isOver(waitOf({ at: iso(NINE + HOUR), nextAt, heldUntil: nextAt }), NINE)).to.equal(false);
  });
});
