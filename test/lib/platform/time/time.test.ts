import { expect } from 'chai';
import fc from 'fast-check';

import {
  addDays,
  dayBounds,
  dayOf,
  hourOf,
  hourStarts,
  isDay,
  timeOf,
} from '../../../../src/lib/platform/time/time';
import { long } from '../../../helpers/long';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const ZONES = Intl.supportedValuesOf('timeZone');

const someZone = fc.constantFrom(...ZONES);
/** Days from 1970 to 2040, as a count. */
const someDay = fc.integer({ min: 1, max: 71 * 365 }).map((count) => addDays('1970-01-01', count));

/** Another reader of the wall clock than the one under test: `2026-11-20 09:42:00`. */
const readers = new Map<string, Intl.DateTimeFormat>();
function wall(ms: number, zone: string): string {
  let reader = readers.get(zone);
  if (reader === undefined) {
    reader = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
    readers.set(zone, reader);
  }
  return reader.format(ms);
}

/** Was the clock put back over midnight near this instant, so that two days interleave? */
function isUnsteady(ms: number, zone: string): boolean {
  const day = wall(ms, zone).slice(0, 10);
  for (let k = 1; k <= 130; k += 1) {
    if (wall(ms - k * MINUTE, zone).slice(0, 10) > day || wall(ms + k * MINUTE, zone).slice(0, 10) < day) {
      return true;
    }
  }
  return false;
}

function hoursOf(day: string, zone: string): number {
  const { startMs, endMs } = dayBounds(day, zone);
  return (endMs - startMs) / HOUR;
}

const iso = (ms: number): string => new Date(ms).toISOString();
const clocks = (day: string, zone: string): string[] => hourStarts(day, zone).map((ms) => timeOf(ms, zone));

describe('platform/time: days', () => {
  long('contains every instant in the bounds of its own day, in all zones', () => {
    const instant = fc.integer({ min: 0, max: Date.UTC(2040, 11, 31) });
    for (const zone of ZONES) {
      fc.assert(
        fc.property(instant, (ms) => {
          const day = dayOf(ms, zone);
          expect(day).to.equal(wall(ms, zone).slice(0, 10));
          const { startMs, endMs } = dayBounds(day, zone);
          if (!(startMs <= ms && ms < endMs))
            expect(isUnsteady(ms, zone), `${zone} ${iso(ms)}`).to.equal(true);
        }),
        { numRuns: 15 },
      );
    }
  }).timeout(60_000);

  long('begins a day where the wall clock first shows it, and tiles the days without a gap', () => {
    fc.assert(
      fc.property(someZone, someDay, (zone, day) => {
        const { startMs, endMs } = dayBounds(day, zone);
        expect(dayBounds(addDays(day, 1), zone).startMs).to.equal(endMs);
        if (startMs === endMs) return;
        expect(wall(startMs, zone).slice(0, 10)).to.equal(day);
        expect(wall(startMs - 1, zone).slice(0, 10) < day).to.equal(true);
        expect(endMs - startMs).to.be.within(20 * HOUR, 28 * HOUR);
      }),
      { numRuns: 1000 },
    );
  }).timeout(60_000);

  it('knows the days of 23 and 25 hours', () => {
    expect(hoursOf('2026-03-29', 'Europe/Berlin')).to.equal(23);
    expect(hoursOf('2026-10-25', 'Europe/Berlin')).to.equal(25);
    expect(hoursOf('2026-11-20', 'Europe/Berlin')).to.equal(24);
    expect(hoursOf('2026-03-08', 'America/New_York')).to.equal(23);
    expect(hoursOf('2026-11-01', 'America/New_York')).to.equal(25);
  });

  for (const [zone, day, start, hours] of [
    // No midnight: the clock went from 23:59:59 to 01:00.
    ['America/Sao_Paulo', '2018-11-04', '2018-11-04T03:00:00.000Z', 23],
    ['Asia/Beirut', '2021-03-28', '2021-03-27T22:00:00.000Z', 23],
    ['America/Havana', '2021-03-14', '2021-03-14T05:00:00.000Z', 23],
    ['Africa/Cairo', '2024-04-26', '2024-04-25T22:00:00.000Z', 23],
    // Midnight twice: 01:00 became 00:00; and 24:00 became 23:00 of the day before.
    ['America/Havana', '2021-11-07', '2021-11-07T04:00:00.000Z', 25],
    ['America/Sao_Paulo', '2018-02-17', '2018-02-17T02:00:00.000Z', 25],
    ['America/Sao_Paulo', '2018-02-18', '2018-02-18T03:00:00.000Z', 24],
    ['Australia/Lord_Howe', '2026-04-05', '2026-04-04T13:00:00.000Z', 24.5],
    ['Australia/Lord_Howe', '2026-10-04', '2026-10-03T13:30:00.000Z', 23.5],
    ['Asia/Kathmandu', '2026-11-20', '2026-11-19T18:15:00.000Z', 24],
    ['Pacific/Apia', '2011-12-29', '2011-12-29T10:00:00.000Z', 24],
    ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00:00.000Z', 0],
    ['Pacific/Apia', '2011-12-31', '2011-12-30T10:00:00.000Z', 24],
    // 00:01 became 23:01 of the day before: the day begins at the second midnight.
    ['America/St_Johns', '2010-11-07', '2010-11-07T03:30:00.000Z', 24],
    ['Africa/Monrovia', '1971-06-01', '1971-06-01T00:44:30.000Z', 24],
  ] as const) {
    it(`${day} in ${zone} begins at ${start} and has ${hours} hours`, () => {
      expect(iso(dayBounds(day, zone).startMs)).to.equal(start);
      expect(hoursOf(day, zone)).to.equal(hours);
    });
  }

  it('takes only what is on the calendar for a day', () => {
    for (const good of ['2026-11-20', '2024-02-29', '1970-01-01']) expect(isDay(good)).to.equal(true);
    for (const bad of [
      '2026-02-30',
      '2025-02-29',
      '2026-13-01',
      '2026-1-1',
      ' 2026-11-20',
      '2026-11-20x',
      '',
    ]) {
      expect(isDay(bad), bad).to.equal(false);
    }
  });

  it('counts days over the ends of months and years', () => {
    expect(addDays('2026-12-31', 1)).to.equal('2027-01-01');
    expect(addDays('2024-03-01', -1)).to.equal('2024-02-29');
    expect(addDays('2026-11-20', 0)).to.equal('2026-11-20');
  });
});

describe('platform/time: hours', () => {
  /** The same by looking at every half minute of the day. */
  function hourStartsByLooking(day: string, zone: string): number[] {
    const { startMs, endMs } = dayBounds(day, zone);
    const starts: number[] = [];
    let before = '';
    for (let ms = startMs; ms < endMs; ms += MINUTE / 2) {
      const now = wall(ms, zone);
      if (now.slice(0, 13) !== before.slice(0, 13) || now < before) starts.push(ms);
      before = now;
    }
    return starts;
  }

  /** The days around which a zone's offset changes, 1970 to 2040, with their neighbours. */
  function daysOfChange(zone: string): string[] {
    const days: string[] = [];
    for (let year = 1970; year <= 2040; year += 1) {
      for (let ms = Date.UTC(year, 0, 1); ms < Date.UTC(year + 1, 0, 1); ms += 7 * 24 * HOUR) {
        const [a, b] = [ms, ms + 7 * 24 * HOUR];
        if (wall(a, zone).slice(10) === wall(b, zone).slice(10)) continue;
        for (let d = 0; d <= 7; d += 1) {
          const from = a + d * 24 * HOUR;
          if (wall(from, zone).slice(10) !== wall(from + 24 * HOUR, zone).slice(10)) {
            days.push(dayOf(from, zone), dayOf(from + 24 * HOUR, zone));
          }
        }
      }
    }
    return [...new Set(days)];
  }

  long('agrees with a look at every half minute, on any day of any zone', () => {
    fc.assert(
      fc.property(someZone, someDay, (zone, day) => {
        expect(hourStarts(day, zone).map(iso), `${zone} ${day}`).to.deep.equal(
          hourStartsByLooking(day, zone).map(iso),
        );
      }),
      { numRuns: 150 },
    );
  }).timeout(60_000);

  long('agrees with it on the days on which a clock is changed', () => {
    const changing = fc.constantFrom(
      'Europe/Berlin',
      'America/St_Johns',
      'Australia/Lord_Howe',
      'Africa/Cairo',
      'Asia/Beirut',
      'America/Havana',
      'Pacific/Apia',
      'Africa/Casablanca',
      'Asia/Tehran',
      'Antarctica/Troll',
      'America/Sao_Paulo',
      'Africa/Monrovia',
    );
    const known = new Map<string, string[]>();
    fc.assert(
      fc.property(changing, fc.nat(), (zone, n) => {
        const days = known.get(zone) ?? daysOfChange(zone);
        known.set(zone, days);
        const day = days[n % days.length] ?? expect.fail(`${zone} never changes`);
        expect(hourStarts(day, zone).map(iso), `${zone} ${day}`).to.deep.equal(
          hourStartsByLooking(day, zone).map(iso),
        );
      }),
      { numRuns: 150 },
    );
  }).timeout(60_000);

  it('has 24 on an ordinary day, 23 and 25 on those of the change', () => {
    expect(clocks('2026-11-20', 'Asia/Kathmandu')).to.deep.equal(
      Array.from({ length: 24 }, (_, hour) => `${String(hour).padStart(2, '0')}:00`),
    );
    expect(clocks('2026-03-29', 'Europe/Berlin').slice(0, 4)).to.deep.equal([
      '00:00',
      '01:00',
      '03:00',
      '04:00',
    ]);
    expect(clocks('2026-03-29', 'Europe/Berlin')).to.have.length(23);
    expect(clocks('2026-10-25', 'Europe/Berlin').slice(1, 5)).to.deep.equal([
      '01:00',
      '02:00',
      '02:00',
      '03:00',
    ]);
    expect(clocks('2026-10-25', 'Europe/Berlin')).to.have.length(25);
  });

  it('begins at 01:00 where there is no midnight, and repeats 00:00 where there are two', () => {
    expect(clocks('2018-11-04', 'America/Sao_Paulo').slice(0, 2)).to.deep.equal(['01:00', '02:00']);
    expect(clocks('2021-11-07', 'America/Havana').slice(0, 3)).to.deep.equal(['00:00', '00:00', '01:00']);
    expect(clocks('2018-02-17', 'America/Sao_Paulo').slice(-2)).to.deep.equal(['23:00', '23:00']);
  });

  it('has a short hour where a zone changes by half an hour', () => {
    expect(clocks('2026-04-05', 'Australia/Lord_Howe').slice(0, 4)).to.deep.equal([
      '00:00',
      '01:00',
      '01:30',
      '02:00',
    ]);
    expect(clocks('2026-10-04', 'Australia/Lord_Howe').slice(0, 4)).to.deep.equal([
      '00:00',
      '01:00',
      '02:30',
      '03:00',
    ]);
  });

  it('has none on a day that the zone has skipped', () => {
    expect(hourStarts('2011-12-30', 'Pacific/Apia')).to.deep.equal([]);
  });

  it('shows what a clock on the wall shows', () => {
    const ms = Date.parse('2026-11-20T23:50:00Z');
    expect(timeOf(ms, 'UTC')).to.equal('23:50');
    expect(timeOf(ms, 'Asia/Kathmandu')).to.equal('05:35');
    expect(hourOf(ms, 'Europe/Berlin')).to.equal(0);
    expect(dayOf(ms, 'Europe/Berlin')).to.equal('2026-11-21');
  });
});
