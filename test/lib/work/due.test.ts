import { expect } from 'chai';
import fc from 'fast-check';

import { dayOf, instantOf, timeOf, wallClock } from '../../../src/lib/platform/time/time';
import { readDue, readWhen } from '../../../src/lib/work/due';
import { rejection } from '../../helpers/errors';
import { long } from '../../helpers/long';

describe('work: due dates', () => {
  // A Friday, 10:00 in Berlin.
  const nowMs = Date.parse('2026-11-20T09:00:00Z');
  const due = async (text: string, zone = 'Europe/Berlin', now = nowMs): Promise<string> => {
    const read = await readDue(text, { nowMs: now, zone });
    if (read.dueMs === undefined) return `${read.text} | none`;
    return `${read.text} | ${dayOf(read.dueMs, zone)} ${timeOf(read.dueMs, zone)}`;
  };

  long('reads natural language in the local zone, in the future', async () => {
    expect(await due('call Ann tomorrow at 9')).to.equal('call Ann | 2026-11-21 09:00');
    expect(await due('call Ann on friday at 14:30')).to.equal('call Ann | 2026-11-20 14:30');
    expect(await due('call Ann on friday at 8:00')).to.equal('call Ann | 2026-11-27 08:00');
    expect(await due('in 2 hours look at the oven')).to.equal('look at the oven | 2026-11-20 12:00');
    expect(await due('pay the rent by 1 December')).to.equal('pay the rent | 2026-12-01 09:00');
    expect(await due('tonight: water the plants')).to.equal('water the plants | 2026-11-20 20:00');
    expect(await due('lunch tomorrow at noon')).to.equal('lunch | 2026-11-21 12:00');
    expect(await due('write to Bo 2026-12-24 18:00')).to.equal('write to Bo | 2026-12-24 18:00');
    expect(await due('meet 2026-12-24T18:00:00Z')).to.equal('meet | 2026-12-24 19:00');
    expect(await due('meet tomorrow 9am UTC')).to.equal('meet | 2026-11-21 10:00');
    expect(await due('call Ann tmrw morning')).to.equal('call Ann | 2026-11-21 09:00');
    expect(await due('call Ann on monday morning')).to.equal('call Ann | 2026-11-23 09:00');
    expect(await due('call Ann tomorrow evening')).to.equal('call Ann | 2026-11-21 20:00');
    expect(await due('call Ann at 7 in the morning')).to.equal('call Ann | 2026-11-21 07:00');
    expect(await due('look in 30 minutes')).to.equal('look | 2026-11-20 10:30');
    expect(await due('look in 3 days')).to.equal('look | 2026-11-23 09:00');
    expect(await due('no date in here')).to.equal('no date in here | none');
    // The day of the person, not that of UTC: 00:30 in Berlin on the 21st.
    expect(await due('tomorrow', 'Europe/Berlin', Date.parse('2026-11-20T23:30:00Z'))).to.equal(
      ' | 2026-11-22 09:00',
    );
    expect((await rejection(due('yesterday'))).kind).to.equal('usage');
    for (const text of ['meet on 31 November', 'meet on 31 November at 9', 'meet 2026-02-30'])
      expect((await rejection(due(text))).message, text).to.match(/does not exist/);
  }).timeout(60_000);

  it('reads the day before the month in dotted dates', async () => {
    expect(await due('pay the rent on 1.12.')).to.equal('pay the rent | 2026-12-01 09:00');
    expect(await due('pay the rent on 12.11.')).to.equal('pay the rent | 2027-11-12 09:00');
    expect(await due('pay the rent by 5.1. at 14:00')).to.equal('pay the rent | 2027-01-05 14:00');
    expect(await due('renew it on 12.11.2027')).to.equal('renew it | 2027-11-12 09:00');
    expect(await due('renew it on 12.11.27 at 8:30')).to.equal('renew it | 2027-11-12 08:30');
    expect(await due('move to version 1.5')).to.equal('move to version 1.5 | none');
    expect(await due('move to 12.11. of the driver')).to.equal('move to 12.11. of the driver | none');
    const when = await readWhen('24.12. 18:00', { nowMs, zone: 'Europe/Berlin' });
    expect(new Date(when).toISOString()).to.equal('2026-12-24T17:00:00.000Z');
  }).timeout(60_000);

  it('keeps the wall clock across a change to summer time', async () => {
    const before = Date.parse('2026-03-28T11:00:00Z');
    expect(await due('x tomorrow at 9', 'Europe/Berlin', before)).to.equal('x | 2026-03-29 09:00');
    const { dueMs } = await readDue('x tomorrow at 9', { nowMs: before, zone: 'Europe/Berlin' });
    expect(new Date(dueMs ?? 0).toISOString()).to.equal('2026-03-29T07:00:00.000Z');
  }).timeout(60_000);

  long('does not depend on the zone of the machine', async () => {
    const { TZ } = process.env;
    try {
      for (const machine of [
        'UTC',
        'America/Los_Angeles',
        'America/St_Johns',
        'Europe/Berlin',
        'Pacific/Auckland',
      ]) {
        process.env['TZ'] = machine;
        for (const [text, expected] of [
          ['x on friday at 10:01', '2026-11-20 10:01'],
          ['x on friday at 23:59', '2026-11-20 23:59'],
          ['x on friday at 9:59', '2026-11-27 09:59'],
          ['x on friday at 0:10', '2026-11-27 00:10'],
          ['x on monday at 8', '2026-11-23 08:00'],
          ['x on wednesday at 8', '2026-11-25 08:00'],
          ['x on November 20 at 10:01', '2026-11-20 10:01'],
          ['x on November 20 at 9:59', '2027-11-20 09:59'],
          ['x on November 19 at 18:00', '2027-11-19 18:00'],
          ['x on friday at 8:30 UTC', '2026-11-27 09:30'],
          ['x on friday at 9:30 UTC', '2026-11-20 10:30'],
          ['x at 9:59', '2026-11-21 09:59'],
          ['x at 10:01', '2026-11-20 10:01'],
        ] as const)
          expect(await due(text), `${text}, on a machine in ${machine}`).to.equal(`x | ${expected}`);
      }
    } finally {
      if (TZ === undefined) delete process.env['TZ'];
      else process.env['TZ'] = TZ;
    }
  });

  it('converts a wall clock back into its instant', () => {
    const zones = fc.constantFrom(
      'Europe/Berlin',
      'America/St_Johns',
      'Asia/Kathmandu',
      'Australia/Lord_Howe',
      'UTC',
    );
    const minute = fc.integer({ min: 0, max: 25_000_000 }).map((n) => Date.UTC(2000, 0, 1) + n * 60_000);
    fc.assert(
      fc.property(minute, zones, (ms, zone) => {
        const back = instantOf(wallClock(ms, zone), zone);
        // The same instant, or the first of the two that show it.
        expect(wallClock(back, zone)).to.deep.equal({ ...wallClock(ms, zone), second: 0 });
        expect(back).to.be.at.most(ms);
        expect(ms - back).to.be.at.most(3_600_000);
      }),
    );
    // 02:30 is skipped: what the clock would have shown.
    const skipped = instantOf({ year: 2026, month: 3, day: 29, hour: 2, minute: 30 }, 'Europe/Berlin');
    expect(new Date(skipped).toISOString()).to.equal('2026-03-29T01:30:00.000Z');
  });

  it('reads the end of the day as 18:00, tomorrow if it is past', async () => {
    for (const words of [
      'eod',
      'EOD',
      'by end of day',
      'by the end of the day',
      'cob',
      'before close of business',
    ])
      expect(await due(`pay the rent ${words}`), words).to.equal('pay the rent | 2026-11-20 18:00');
    expect(await due('tomorrow eod send it')).to.equal('send it | 2026-11-21 18:00');
    expect(await due('send it by eod monday')).to.equal('send it | 2026-11-23 18:00');
    const evening = Date.parse('2026-11-20T17:30:00Z');
    expect(await due('send it eod', 'Europe/Berlin', evening)).to.equal('send it | 2026-11-21 18:00');
    expect(await due('send it eod', 'America/New_York', evening)).to.equal('send it | 2026-11-20 18:00');
    // Clocks go back in the night: the day has 25 hours.
    const before = Date.parse('2026-10-24T17:30:00Z');
    expect(await due('send it eod', 'Europe/Berlin', before)).to.equal('send it | 2026-10-25 18:00');
  });

  it('reads a day of the month as the next existing one', async () => {
    expect(await due('pay the rent on the 1st')).to.equal('pay the rent | 2026-12-01 09:00');
    expect(await due('pay the rent on the 25th')).to.equal('pay the rent | 2026-11-25 09:00');
    expect(await due('pay the rent by the 31st')).to.equal('pay the rent | 2026-12-31 09:00');
    expect(await due('pay the rent on the 1st at 14:00')).to.equal('pay the rent | 2026-12-01 14:00');
    // 09:00 of the 20th is over, 14:00 is not.
    expect(await due('pay the rent on the 20th')).to.equal('pay the rent | 2026-12-20 09:00');
    expect(await due('pay the rent on the 20th at 14:00')).to.equal('pay the rent | 2026-11-20 14:00');
    const endOfJanuary = Date.parse('2027-01-31T12:00:00Z');
    expect(await due('pay on the 31st', 'Europe/Berlin', endOfJanuary)).to.equal('pay | 2027-03-31 09:00');
    expect(await due('pay on the 1st of december')).to.equal('pay | 2026-12-01 09:00');
    for (const text of ['call the 1st customer', 'look on the 2nd floor', 'pay on the 1st and 15th'])
      expect(await due(text)).to.equal(`${text} | none`);
  });

  it('moves a day to the next one once its morning is past', async () => {
    expect(await due('call Ann on friday')).to.equal('call Ann | 2026-11-27 09:00');
    expect(await due('call Ann on November 20')).to.equal('call Ann | 2027-11-20 09:00');
  });

  long('leaves ambiguous words in the text', async () => {
    for (const text of [
      'email Sun Microsystems', 'order 3 march calendars', 'walk for 5 minutes',
      '5 minutes walk', 'the 1990s book', 'read 12/24', "prepare friday's slides", 'buy sun-dried tomatoes',
      'book the night train', 'see the friday movie', 'fix the bug in May build', 'take a day off',
      'pay in march the tax', 'look at 3 flats', 'march on Rome', 'week 2 review',
    ])
      expect(await due(text)).to.equal(`${text} | none`); // prettier-ignore
    for (const text of [
      'read chapter 10', 'renew 2 may contracts', 'buy 2 for 5', '10-11 meet', 'march on Rome',
      'look at 3 flats', 'prepare the 3pm meeting', 'meet from 9 to 10', 'I may call Ann', 'turn the heater on',
    ])
      expect(await due(`${text} tomorrow`)).to.equal(`${text} | 2026-11-21 09:00`); // prettier-ignore
    expect(await due('tomorrow 10 people come')).to.equal('10 people come | 2026-11-21 09:00');
    expect(await due("prepare tomorrow's slides friday")).to.equal(
      "prepare tomorrow's slides | 2026-11-27 09:00",
    );
  });

  it('reads unambiguous words anywhere', async () => {
    for (const [text, expected] of [
      ['call Ann sat', 'call Ann | 2026-11-21 09:00'],
      ['sat call Ann', 'call Ann | 2026-11-21 09:00'],
      ['Sun: call Ann', 'call Ann | 2026-11-22 09:00'],
      ['call on sun about it', 'call about it | 2026-11-22 09:00'],
      ['friday 14:00 call Ann', 'call Ann | 2026-11-20 14:00'],
      ['on 3 march order calendars', 'order calendars | 2027-03-03 09:00'],
      ['pay 3 May 2027 invoice', 'pay invoice | 2027-05-03 09:00'],
      ['the may report due next friday', 'the may report | 2026-11-27 09:00'],
      ['on 12/24 call Ann', 'call Ann | 2026-12-24 09:00'],
      ['tomorrow call Ann at 15', 'call Ann | 2026-11-21 15:00'],
      ['at 15 call Ann tomorrow', 'call Ann | 2026-11-21 15:00'],
      ['call Ann by 9 tomorrow', 'call Ann | 2026-11-21 09:00'],
      ['call Ann @ 9 tomorrow', 'call Ann | 2026-11-21 09:00'],
      ['call Ann at 15', 'call Ann | 2026-11-20 15:00'],
      ['call Ann 3 pm', 'call Ann | 2026-11-20 15:00'],
      ['call Ann two weeks from now', 'call Ann | 2026-12-04 10:00'],
      ['water in the evening', 'water | 2026-11-20 20:00'],
    ] as const)
      expect(await due(text), text).to.equal(expected);
    // Nothing but a time leaves no doubt.
    const at = await readWhen('tomorrow 10', { nowMs, zone: 'Europe/Berlin' });
    expect(timeOf(at, 'Europe/Berlin')).to.equal('10:00');
  });

  it('ends today at midnight, and tonight later', async () => {
    const at = (time: string): number => Date.parse(`2026-11-20T${time}:00Z`);
    const berlin = (text: string, time: string): Promise<string> => due(text, 'Europe/Berlin', at(time));
    expect(await berlin('do it today', '10:52')).to.equal('do it | 2026-11-20 18:00');
    expect(await berlin('send it by end of today', '10:52')).to.equal('send it | 2026-11-20 18:00');
    expect(await berlin('do it today', '17:00')).to.equal('do it | 2026-11-20 23:59');
    expect(await berlin('do it today at 20:00', '17:00')).to.equal('do it | 2026-11-20 20:00');
    expect(await berlin('do it tonight', '10:52')).to.equal('do it | 2026-11-20 20:00');
    expect(await berlin('do it tonight', '19:30')).to.equal('do it | 2026-11-20 21:30');
    expect(await berlin('do it tonight', '22:30')).to.equal('do it | 2026-11-21 00:30');
  });

  it('rejects recurring times only', async () => {
    for (const text of [
      'water the plants every monday', 'every other day at 9 stretch', 'each morning stretch', 'stretch daily',
      'weekly on friday: the review', 'review on fridays', 'stretch twice a day', 'every 2 hours drink',
      'pay on every 1st',
    ]) {
      const error = await rejection(due(text));
      expect(error, text).to.include({ kind: 'usage' });
      expect(error.message).to.match(/^Recurring reminders are not supported: "/);
    } // prettier-ignore
    expect((await rejection(readWhen('every monday', { nowMs, zone: 'Europe/Berlin' }))).kind).to.equal(
      'usage',
    );
    expect(await due('read the daily report tomorrow')).to.equal('read the daily report | 2026-11-21 09:00');
    expect(await due('take every bag tomorrow')).to.equal('take every bag | 2026-11-21 09:00');
    expect(await due('review monthly numbers')).to.equal('review monthly numbers | none');
  });
});
