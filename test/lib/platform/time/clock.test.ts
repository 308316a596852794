import { expect } from 'chai';
import fc from 'fast-check';

import { parseIso, systemClock, toIso } from '../../../../src/lib/platform/time/clock';

describe('platform/clock', () => {
  it('writes and reads every time back', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) }), (ms) => {
        expect(parseIso(toIso(ms))).to.equal(ms);
      }),
    );
  });

  it('writes what the engine would write', () => {
    fc.assert(
      fc.property(fc.double({ min: -8.64e15, max: 8.64e15, noNaN: true }), (ms) => {
        expect(toIso(ms)).to.equal(new Date(ms).toISOString());
      }),
    );
    const years = [-1, 0, 4, 100, 1600, 1900, 1969, 1970, 2000, 2023, 2024, 2100, 9999, 10_000];
    for (const year of years)
      for (const [month, day] of [
        [0, 1],
        [1, 28],
        [1, 29],
        [2, 1],
        [11, 31],
      ] as const) {
        const ms = new Date(0).setUTCFullYear(year, month, day);
        expect(toIso(ms)).to.equal(new Date(ms).toISOString());
      }
    expect(() => toIso(Number.NaN)).to.throw(RangeError);
  });

  it('reads the forms of ISO 8601 that have a zone', () => {
    const noon = Date.UTC(2026, 10, 20, 12);
    for (const text of [
      '2026-11-20T12:00Z',
      '2026-11-20T12:00:00Z',
      '2026-11-20T12:00:00.000Z',
      '2026-11-20T12:00:00.000000000Z',
      '2026-11-20T13:00:00+01:00',
      '2026-11-20T13:00:00+0100',
      '2026-11-20T06:30:00-05:30',
    ]) {
      expect(parseIso(text), text).to.equal(noon);
    }
  });

  it('reads nothing else', () => {
    for (const text of [
      '',
      '2026-11-20',
      '2026-11-20T12:00:00',
      '2026-02-30T12:00:00Z',
      '2026-11-20T25:00:00Z',
      '2026-11-20T12:61:00Z',
      '2026-11-20 12:00:00Z',
      'x2026-11-20T12:00:00Z',
      'Fri Nov 20 2026 12:00:00 GMT',
    ]) {
      expect(parseIso(text), text).to.equal(undefined);
    }
  });

  it('reads the times of one day as the engine does, whatever stands in them', () => {
    const digit = fc.constantFrom(...'0123456789', '5', 'x', ':', ' ', '-');
    const time = fc.tuple(digit, digit, digit, digit, digit, digit, digit, digit, digit);
    fc.assert(
      fc.property(fc.array(time, { maxLength: 20 }), (times) => {
        parseIso('2026-11-20T00:00:00.000Z');
        for (const [a, b, c, d, e, f, g, h, i] of times) {
          const text = `2026-11-20T${a}${b}:${c}${d}:${e}${f}.${g}${h}${i}Z`;
          const isTime = /T\d\d:\d\d:\d\d\.\d{3}Z$/.test(text) && !Number.isNaN(Date.parse(text));
          expect(parseIso(text), text).to.equal(isTime ? Date.parse(text) : undefined);
        }
      }),
    );
  });

  it('has a clock that never goes back beside that of the day', () => {
    const clock = systemClock();
    const first = clock.monotonic();
    expect(clock.monotonic()).to.be.at.least(first);
    const before = Date.now();
    expect(clock.now()).to.be.within(before, Date.now());
  });
});
