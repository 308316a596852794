import { expect } from 'chai';

import type { ChannelResult, HistoryEntry } from '../../../src/lib/notify/history';
import type { RoutesReport } from '../../../src/lib/notify/routing';
import { answersText, historyText, routesText, untilText } from '../../../src/lib/notify/view';
import { MINUTE, NINE } from '../../helpers/notify';

const OPTIONS = { columns: 80, color: false, zone: 'Europe/Paris', nowMs: NINE };
const HOUR = 60 * MINUTE;
const iso = (ms: number): string => new Date(ms).toISOString();

function push(more: Partial<ChannelResult>): ChannelResult {
  const plain = { attempts: 1, reason: null, nextAt: null, maybeTwice: false };
  return { channel: 'push', result: 'delivered', ...plain, ...more };
}

function entry(channel: Partial<ChannelResult>, more: Partial<HistoryEntry> = {}): HistoryEntry {
  return {
    id: '20261120T090000000Z-0123456789ab',
    at: iso(NINE),
    event: 'error',
    priority: 4,
    source: 'da',
    text: 'The build failed.',
    title: null,
    duplicateOf: null,
    channels: [push(channel)],
    ...more,
  };
}

describe('notify: views', () => {
  it('show a line a notification, in local time, with the date if it is not today', () => {
    const old = entry({}, { at: iso(NINE - 24 * HOUR), title: 'Nightly' });
    expect(historyText([entry({}), old], OPTIONS).split('\n')).to.deep.equal([
      '20261120T090000000Z-0123456789ab  10:00  push  The build failed.',
      '20261120T090000000Z-0123456789ab  2026-11-19  push  Nightly: The build failed.',
    ]);
    expect(historyText([], OPTIONS)).to.match(/^No notifications yet\./);
    expect(historyText([], { ...OPTIONS, columns: 40 })).to.match(/^(?:.{1,40}(?:\n|$)){2,}$/);
  });

  it('fit a narrow terminal with the id and the text', () => {
    const same = entry({}, { duplicateOf: '20261120T080000000Z-0123456789ab', channels: [] });
    expect(historyText([entry({}), same], { ...OPTIONS, columns: 40 }).split('\n')).to.deep.equal([
      '20261120T090000000Z-0123456789ab',
      '  10:00  push  The build failed.',
      '20261120T090000000Z-0123456789ab',
      '  10:00  –  The build failed.',
      '  duplicate of',
      '    20261120T080000000Z-0123456789ab,',
      '    not sent again',
    ]);
  });

  const waits: [inMs: number, words: string][] = [
    [-1, 'retrying now'],
    [4_001, 'retrying in 5 s'],
    [10 * MINUTE, 'waiting until 10:10'],
    [15 * HOUR, 'waiting until 2026-11-21 01:00'],
  ];
  for (const [inMs, words] of waits) {
    it(`show a wait of ${inMs} ms as "${words}"`, () => {
      const waiting = entry({ result: 'waiting', nextAt: iso(NINE + inMs), reason: 'It is down.' });
      expect(answersText(waiting, OPTIONS).split('\n')[1]).to.equal(`  push  ${words}: It is down.`);
    });
  }

  it('show the result of each channel, and possible duplicates', () => {
    const lines = (['failed', 'expired', 'shown', 'skipped', 'unknown', 'superseded'] as const).map(
      (result) => answersText(entry({ result }), OPTIONS).split('\n')[1],
    );
    expect(lines).to.deep.equal([
      '  push  failed',
      '  push  expired',
      '  push  not spoken',
      '  push  skipped',
      '  push  unknown',
      '  push  replaced',
    ]);
    expect(historyText([entry({ maybeTwice: true })], OPTIONS)).to.include('delivered, possibly twice');
  });

  it('begin with what became of the message', () => {
    const first = (result: ChannelResult['result']): string =>
      answersText(entry({ result }), OPTIONS).split('\n')[0] ?? '';
    expect(first('delivered')).to.equal(`Delivered: push.  ${entry({}).id}`);
    expect(first('waiting')).to.match(/^Accepted\.  /);
    expect(first('skipped')).to.match(/^Not delivered\.  /);
  });

  it('show that no channel is set up for an event', () => {
    const words = [
      '  not sent: neither a channel nor the voice is set up for taskComplete; see',
      '    `steward notify routes`',
    ];
    const none = entry({}, { event: 'taskComplete', channels: [] });
    expect(historyText([none], OPTIONS).split('\n').slice(1)).to.deep.equal(words);
    expect(answersText(none, OPTIONS).split('\n').slice(1)).to.deep.equal(words);
    expect(answersText({ ...none, duplicateOf: 'X' }, OPTIONS)).to.equal(
      `Sent before as X, so not sent again.  ${none.id}`,
    );
  });

  it('show the date of a mute that ends on another day', () => {
    expect(untilText(iso(NINE + HOUR), OPTIONS)).to.equal('11:00');
    expect(untilText(iso(NINE + 20 * HOUR), OPTIONS)).to.equal('2026-11-21 06:00');
    const report: RoutesReport = {
      maySpeak: true,
      events: [{ event: 'error', title: 'Error', voice: true, channels: ['push'], atBreak: true }],
      longTaskMinutes: 5,
      breakMinutes: 20,
      muted: { muted: true, until: iso(NINE + 20 * HOUR) },
      quietHours: '22:00-07:00',
      quietUntil: null,
      broken: [{ channel: 'push', reason: 'The topic is gone.', hint: 'Set it.' }],
      off: [{ channel: 'chat', reason: 'switched off', hint: 'Switch it on.' }],
    };
    const text = routesText(report, OPTIONS);
    expect(text).to.include('The voice is muted until 2026-11-21 06:00;');
    expect(text).to.include('Not working:\n  push  The topic is gone. Set it.');
    expect(text)
      .to.include('error  voice (muted) + push (at a break)  Error')
      .and.include('wait for a break for at most 20 minutes')
      .and.include('  chat  switched off. Switch it on.');
  });

  it('show which channels of a route are off, and leave out titles that have no room', () => {
    const events: RoutesReport['events'] = [
      {
        event: 'attention',
        title: 'Waiting for you',
        voice: true,
        channels: ['desktop', 'push', 'terminal'],
        atBreak: false,
      },
    ];
    const report: RoutesReport = {
      events,
      longTaskMinutes: 5,
      breakMinutes: 20,
      maySpeak: true,
      muted: { muted: true, until: null },
      quietHours: null,
      quietUntil: null,
      broken: [],
      off: (['voice', 'push'] as const).map((channel) => ({ channel, reason: 'not here', hint: 'Add it.' })),
    };
    const [wide] = routesText(report, OPTIONS).split('\n');
    expect(wide).to.equal('attention  voice (off) + desktop + push (off) + terminal  Waiting for you');
    const [narrow] = routesText(report, { ...OPTIONS, columns: 60 }).split('\n');
    expect(narrow).to.equal('attention  voice (off) + desktop + push (off) + terminal');
  });

  it('show no control characters, and wrap everything', () => {
    const wild = { text: `\u001b[2J${'wide 日本語 '.repeat(30)}`, title: 'a\u001b]0;x\u0007b\u202e' };
    const narrow = historyText([entry({ result: 'failed', reason: 'x '.repeat(99) }, wild)], { ...OPTIONS, columns: 40 }); // prettier-ignore
    for (const line of narrow.split('\n')) expect(line.length).to.be.at.most(40);
    expect(narrow).to.not.match(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  });
});
