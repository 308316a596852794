import { expect } from 'chai';
import fc from 'fast-check';

import { parseQuietHours, quietUntil } from '../../../src/lib/notify/routing';
import { wallClock } from '../../../src/lib/platform/time/time';

const MINUTE = 60_000;
const iso = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString();
const until = (hours: string, at: string, zone: string): string | undefined =>
  iso(quietUntil(parseQuietHours(hours), Date.parse(at), zone));

describe('notify: quiet hours', () => {
  it('wrap around midnight', () => {
    expect(until('22:00-07:00', '2026-11-20T21:59:59.999Z', 'UTC')).to.equal(undefined);
    expect(until('22:00-07:00', '2026-11-20T22:00:00Z', 'UTC')).to.equal('2026-11-21T07:00:00.000Z');
    expect(until('22:00 - 7:00', '2026-11-21T06:59:59.999Z', 'UTC')).to.equal('2026-11-21T07:00:00.000Z');
    expect(until('22:00-07:00', '2026-11-21T06:59:59.999Z', 'UTC')).to.equal('2026-11-21T07:00:00.000Z');
    expect(until('22:00-07:00', '2026-11-21T07:00:00Z', 'UTC')).to.equal(undefined);
    expect(until('13:00-14:30', '2026-11-20T14:00:00Z', 'UTC')).to.equal('2026-11-20T14:30:00.000Z');
  });

  it('follow the time zone', () => {
    expect(until('22:00-07:00', '2026-11-20T22:30:00Z', 'Asia/Kolkata')).to.equal('2026-11-21T01:30:00.000Z');
    expect(until('22:00-07:00', '2026-11-20T12:00:00Z', 'Asia/Kolkata')).to.equal(undefined);
  });

  it('end by the wall clock when daylight saving changes', () => {
    // Berlin, spring: 02:00 becomes 03:00; autumn: 03:00 becomes 02:00.
    expect(until('22:00-07:00', '2026-03-28T22:00:00Z', 'Europe/Berlin')).to.equal(
      '2026-03-29T05:00:00.000Z',
    );
    expect(until('22:00-07:00', '2026-10-24T21:00:00Z', 'Europe/Berlin')).to.equal(
      '2026-10-25T06:00:00.000Z',
    );
  });

  it('end on time if their end falls into the skipped hour', () => {
    expect(until('22:00-02:30', '2026-03-29T00:30:00Z', 'Europe/Berlin')).to.equal(
      '2026-03-29T01:00:00.000Z',
    );
  });

  it('end at the first instant that is not quiet, in every zone', () => {
    const zones = fc.constantFrom(
      'UTC',
      'Europe/Berlin',
      'America/St_Johns',
      'Australia/Lord_Howe',
      'Asia/Kathmandu',
    );
    const minutes = fc.integer({ min: 0, max: 1439 });
    // Around daylight-saving changes.
    const times = fc
      .tuple(
        fc.constantFrom('2026-03-08', '2026-03-29', '2026-04-05', '2026-10-25', '2026-11-01', '2026-07-01'),
        fc.integer({ min: -86_400_000, max: 86_400_000 }),
      ) // prettier-ignore
      .map(([day, offset]) => Date.parse(`${day}T01:00:00Z`) + offset);
    fc.assert(
      fc.property(minutes, minutes, times, zones, (from, to, ms, zone) => {
        fc.pre(from !== to);
        const quiet = (at: number): boolean => {
          const { hour, minute } = wallClock(at, zone);
          const now = hour * 60 + minute;
          return from < to ? now >= from && now < to : now >= from || now < to;
        };
        const end = quietUntil({ from, to }, ms, zone);
        expect(end === undefined).to.equal(!quiet(ms));
        if (end === undefined) return;
        expect(end).to.be.greaterThan(ms);
        expect(quiet(end)).to.equal(false);
        for (let at = ms; at < end; at += 7 * MINUTE) expect(quiet(at)).to.equal(true);
        expect(quiet(end - 1)).to.equal(true);
      }),
      { numRuns: 150 },
    );
  });
});
