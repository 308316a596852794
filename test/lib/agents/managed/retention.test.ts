import { expect } from 'chai';
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';

import { deadMessages, localSessions, pruneSessions } from '../../../../src/lib/agents/managed/sessions';
import { deadNames, deadReport } from '../../../../src/lib/platform/files/dead-letters';
import { scratch } from '../../../helpers/scratch';

describe('managed: local logs and their retention', () => {
  const box = scratch();
  const day = 86_400;

  it('keeps the files of recent sessions, and removes the rest', () => {
    const folder = box.path('managed');
    mkdirSync(folder);
    const now = 1_800_000_000;
    const file = (name: string, age: number): void => {
      writeFileSync(box.path('managed', name), '');
      utimesSync(box.path('managed', name), now - age * day, now - age * day);
    };
    file('old.jsonl', 91);
    file('old.shown', 91);
    file('old.send.json', 95);
    file('kept.jsonl', 200);
    file('kept.shown', 1);
    file('kept.send.json', 200);
    file('fresh.jsonl', 2);
    file('nonce.start.json', 91);
    file('a-note.txt', 500);
    expect(localSessions(folder)[0]).to.equal('fresh');
    pruneSessions(folder, 90, now * 1000);
    expect(readdirSync(folder).sort()).to.deep.equal([
      'a-note.txt',
      'dead',
      'fresh.jsonl',
      'kept.jsonl',
      'kept.send.json',
      'kept.shown',
    ]);
  });

  it('buries unsent messages instead of removing them', () => {
    const folder = box.path('managed');
    mkdirSync(folder);
    const now = 1_800_000_000;
    const pending = { version: 1, pending: { text: 'Look at the tests', before: 0 }, sent: [] };
    for (const [name, value] of [
      ['old.send.json', pending],
      ['sent.send.json', { ...pending, pending: null }],
      ['nonce.start.json', { nonce: 'n', message: 'Begin' }],
    ] as const) {
      writeFileSync(box.path('managed', name), JSON.stringify(value));
      utimesSync(box.path('managed', name), now - 91 * day, now - 91 * day);
    }
    pruneSessions(folder, 90, now * 1000);
    expect(readdirSync(folder)).to.deep.equal(['dead']);
    expect(deadNames(deadMessages(folder))).to.deep.equal(['nonce.start.json', 'old.send.json']);
    expect(deadReport(deadMessages(folder)).reasons).to.deep.equal([
      { reason: 'not sent within 90 days', count: 2 },
    ]);
  });

  it('is empty without a folder', () => {
    expect(localSessions(box.path('nothing'))).to.deep.equal([]);
  });
});
