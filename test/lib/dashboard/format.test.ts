import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';

import * as terminal from '../../../src/lib/platform/terminal/format';
import * as time from '../../../src/lib/platform/time/time';
import { PAGES } from '../../helpers/browser';

interface Format {
  minutes: (value: number) => string;
  longDay: (day: string) => string;
  daysBefore: (day: string, count: number) => string;
  clock: (ms: number, zone?: string) => string;
  dayOf: (ms: number, zone?: string) => string;
  moment: (ms: number, now: number, zone?: string) => string;
  ago: (ms: number, now: number) => string;
  span: (seconds: number) => string;
  percents: (shares: readonly number[]) => number[];
}

const ZONES = [
  'UTC',
  'Europe/Paris',
  'America/St_Johns',
  'Asia/Kathmandu',
  'Pacific/Apia',
  'America/Sao_Paulo',
];
const instant = fc.integer({
  min: Date.parse('2001-01-01T00:00:00Z'),
  max: Date.parse('2099-12-31T00:00:00Z'),
});

describe('the figures of the pages', () => {
  let format: Format;

  before(async () => {
    const path = join(PAGES, 'format.js');
    format = (await import(path)) as Format;
  });

  it('are those of the terminal: minutes, days', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 100_000, noNaN: true }), instant, (value, ms) => {
        const day = new Date(ms).toISOString().slice(0, 10);
        expect(format.minutes(value)).to.equal(terminal.minutes(value));
        expect(format.longDay(day)).to.equal(terminal.longDay(day));
        expect(format.daysBefore(day, 29)).to.equal(time.addDays(day, -29));
      }),
    );
  });

  it('are local: the clock and the day of a zone', () => {
    fc.assert(
      fc.property(instant, fc.constantFrom(...ZONES), (ms, zone) => {
        expect(format.clock(ms, zone)).to.equal(time.timeOf(ms, zone));
        expect(format.dayOf(ms, zone)).to.equal(time.dayOf(ms, zone));
      }),
    );
  });

  it('take the own zone of the browser where it does not know the one of the record', () => {
    const ms = Date.parse('2026-11-20T09:42:00Z');
    expect(format.clock(ms, 'Mars/Olympus')).to.equal(format.clock(ms));
  });

  it('name a time of another day with its day', () => {
    const now = Date.parse('2026-11-20T17:41:00Z');
    expect(format.moment(Date.parse('2026-11-20T09:42:00Z'), now, 'UTC')).to.equal('09:42');
    expect(format.moment(Date.parse('2026-11-19T23:30:00Z'), now, 'UTC')).to.equal('Thu 19 Nov 23:30');
    expect(format.moment(Date.parse('2026-11-19T23:30:00Z'), now, 'Europe/Paris')).to.equal('00:30');
  });

  it('say how long ago, and never that something is yet to come', () => {
    const words = [-600, 0, 59, 60, 3599, 3600, 47 * 3600, 48 * 3600, 365 * 86_400, 736 * 86_400].map((s) =>
      format.ago(0, s * 1000),
    );
    expect(words).to.deep.equal(['just now', 'just now', 'just now', '1 min ago', '59 min ago', '1 h ago', '47 h ago', '2 days ago', '1 year ago', '2 years ago']); // prettier-ignore
    expect([120, 90, 60, 3600].map(format.span)).to.deep.equal(['2 min', '90 s', '1 min', '1 h']);
  });

  it('give percents that add up to 100, each within one of the share', () => {
    const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(shares, (list) => {
        const sum = list.reduce((a, b) => a + b, 0);
        fc.pre(sum > 1e-9);
        const whole = format.percents(list);
        expect(whole.reduce((a, b) => a + b, 0)).to.equal(100);
        whole.forEach((value, i) =>
          expect(Math.abs(value - (list[i]! / sum) * 100)).to.be.lessThan(1 + 1e-6),
        );
      }),
    );
    expect(format.percents([0, 0])).to.deep.equal([0, 0]);
  });
});
