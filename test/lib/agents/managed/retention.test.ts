import { expect } from 'chai';
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';

import { localSessions, pruneSessions } from '../../../../src/lib/agents/managed/retention';
import { scratch } from '../../../helpers/scratch';

describe('managed: local logs and their retention', () => {
  const box = scratch();
  const day = 86_400;

  it('keeps every file of a session that was written to, and removes the rest', () => {
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
      'fresh.jsonl',
      'kept.jsonl',
      'kept.send.json',
      'kept.shown',
    ]);
  });

  it('finds none where there is no folder', () => {
    expect(localSessions(box.path('nothing'))).to.deep.equal([]);
  });
});
