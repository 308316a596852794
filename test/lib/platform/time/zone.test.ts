import { expect } from 'chai';
import fc from 'fast-check';
import { execFileSync } from 'node:child_process';

import { isZone, systemZone, wallClock } from '../../../../src/lib/platform/time/time';
import { long } from '../../../helpers/long';

describe('platform/zone', () => {
  const before = process.env['TZ'];
  afterEach(() => {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  });

  long('reads the same wall clock with and without a formatter, in all zones', () => {
    const zones = Intl.supportedValuesOf('timeZone');
    const instant = fc.integer({ min: Date.UTC(1970, 0, 1), max: Date.UTC(2040, 11, 31) });
    for (const zone of zones) {
      const instants = fc.sample(instant, 40);
      process.env['TZ'] = 'UTC';
      const byFormatter = instants.map((ms) => wallClock(ms, zone));
      process.env['TZ'] = zone;
      expect(systemZone(), zone).to.be.oneOf([zone, new Intl.DateTimeFormat().resolvedOptions().timeZone]);
      const byOwnClock = instants.map((ms) => wallClock(ms, systemZone()));
      expect(byOwnClock, zone).to.deep.equal(byFormatter);
    }
  }).timeout(60_000);

  for (const tz of [
    undefined,
    '',
    'UTC',
    'Asia/Kolkata',
    ':Europe/Paris',
    'EST5EDT',
    'CET-1CEST',
    'nonsense',
  ]) {
    it(`names a zone that the engine knows and lives in, with TZ=${tz ?? ' not set'}`, () => {
      if (tz === undefined) delete process.env['TZ'];
      else process.env['TZ'] = tz;
      const zone = systemZone();
      expect(isZone(zone), zone).to.equal(true);
      const inZone = new Intl.DateTimeFormat('sv-SE', {
        timeZone: zone,
        dateStyle: 'short',
        timeStyle: 'medium',
      });
      const inEngine = (ms: number): string => {
        const d = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000);
        return d.toISOString().slice(0, 19).replace('T', ' ');
      };
      for (let month = 0; month < 24; month += 1) {
        const ms = Date.UTC(2026, month, 15, 12);
        expect(inZone.format(ms)).to.equal(inEngine(ms));
      }
    });
  }

  it('says what is no zone', () => {
    for (const zone of ['', 'Mars/Olympus', 'Etc/Unknown', '../etc/passwd'])
      expect(isZone(zone)).to.equal(false);
    expect(() => wallClock(0, 'Mars/Olympus')).to.throw(RangeError);
  });

  it('refuses what is no time, by either way', () => {
    process.env['TZ'] = 'UTC';
    expect(() => wallClock(Number.NaN, 'UTC')).to.throw(RangeError);
    expect(() => wallClock(Number.NaN, 'Asia/Tokyo')).to.throw(RangeError);
  });

  long('makes no formatter for the zone of the system', () => {
    // In a process of its own, where none has been made: Intl is taken away first.
    const script = `
      const { systemZone, wallClock } = require('./src/lib/platform/time/time');
      const { dayBounds } = require('./src/lib/platform/time/time');
      const { readlinkSync } = require('node:fs');
      let link = '';
      try { link = readlinkSync('/etc/localtime'); } catch {}
      Intl.DateTimeFormat = function () { throw new Error('made a formatter'); };
      if (!/zoneinfo\\/(Etc\\/UTC|[A-Z][a-z]+\\/[A-Za-z_]+)$/.test(link)) { console.log('no link'); process.exit(); }
      dayBounds('2026-11-20', systemZone());
      wallClock(0, systemZone());
      console.log('none made');`;
    const env = { ...process.env };
    delete env['TZ'];
    const said = execFileSync(process.execPath, ['--require', 'tsx/cjs', '-e', script], {
      env,
      encoding: 'utf8',
    });
    expect(said.trim()).to.be.oneOf(['none made', 'no link']);
  });
});
