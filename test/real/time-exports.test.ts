import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import { ics, timewarrior, type TrackedInterval } from '../../src/lib/time/ledger/exports';
import { requirePart, requirePrograms } from '../helpers/real-part';
import { scratch } from '../helpers/scratch';

const at = (time: string): number => Date.parse(`2026-11-20T${time}:00Z`);
const KEYS = ['shop', 'other folders', '#12', 'a "quoted" name; with, signs \\ and 微信 '.repeat(4).trim()];
const INTERVALS: TrackedInterval[] = KEYS.map((key, i) => ({
  startMs: at(`1${i}:00`),
  endMs: at(`1${i}:45`),
  key,
}));

/** The parts of ical.js that the test uses. */
interface Ical {
  parse: (text: string) => unknown;
  Component: new (parsed: unknown) => {
    getAllSubcomponents: (
      name: string,
    ) => { getFirstPropertyValue: (name: string) => { toString: () => string } }[];
  };
}

function icalParser(): Ical | undefined {
  try {
    const found = createRequire(__filename)('ical.js') as Ical & { default?: Ical };
    return found.default ?? found;
  } catch {
    return undefined;
  }
}

describe('exported time, read by real programs', function () {
  this.timeout(30_000);
  const box = scratch();

  it('is a calendar for ical.js', function () {
    const parser = icalParser();
    requirePart(this, parser !== undefined, 'ical.js is not installed: npm ci');
    if (parser === undefined) return;
    const calendar = new parser.Component(parser.parse([...ics(INTERVALS)].join('')));
    const events = calendar.getAllSubcomponents('vevent').map((event) => {
      const value = (name: string): string => event.getFirstPropertyValue(name).toString();
      return {
        startMs: Date.parse(value('dtstart')),
        endMs: Date.parse(value('dtend')),
        key: value('summary'),
      };
    });
    expect(events).to.deep.equal(INTERVALS);
    const uids = calendar
      .getAllSubcomponents('vevent')
      .map((event) => event.getFirstPropertyValue('uid').toString());
    expect(new Set(uids).size).to.equal(INTERVALS.length);
  });

  it('is a data file for timewarrior', function () {
    requirePrograms(this, { timew: 'timewarrior' });
    mkdirSync(box.path('data'), { recursive: true });
    writeFileSync(box.path('data', '2026-11.data'), [...timewarrior(INTERVALS)].join(''));
    writeFileSync(box.path('timewarrior.cfg'), '');
    const env = { ...process.env, TIMEWARRIORDB: box.path(), TZ: 'UTC' };
    const text = execFileSync('timew', ['export'], { env, encoding: 'utf8' });
    const found = JSON.parse(text.slice(text.indexOf('['))) as {
      start: string;
      end: string;
      tags: string[];
    }[];
    expect(found.map(({ start, end, tags }) => [start, end, ...tags])).to.deep.equal(
      KEYS.map((key, i) => [`20261120T1${i}0000Z`, `20261120T1${i}4500Z`, key.replace(/["\\]/g, "'")]),
    );
  });
});
