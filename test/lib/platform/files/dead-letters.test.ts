import { expect } from 'chai';
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import {
  bury,
  deadNames,
  deadReport,
  deadText,
  pruneDead,
} from '../../../../src/lib/platform/files/dead-letters';
import { scratch } from '../../../helpers/scratch';

const DAY = 86_400_000;
const NOW = Date.parse('2026-11-20T08:00:00Z');

describe('the graveyard of a queue', () => {
  const folder = scratch();
  const dead = (): string => folder.path('queue', 'dead');
  const lay = (name: string, text: string): string => {
    mkdirSync(folder.path('queue'), { recursive: true });
    const path = folder.path('queue', name);
    writeFileSync(path, text);
    return path;
  };

  it('keeps a file with the reason, and whatever it held', () => {
    expect(bury(dead(), lay('a.json', '{"text":"call Ann"}'), { atMs: NOW, reason: 'no network' })).to.equal(
      true,
    );
    expect(JSON.parse(readFileSync(join(dead(), 'a.json'), 'utf8'))).to.deep.equal({
      text: 'call Ann',
      deadReason: 'no network',
    });
    expect(bury(dead(), lay('b.json', '{"torn'), { atMs: NOW, reason: 'any' })).to.equal(true);
    expect(readFileSync(join(dead(), 'b.json'), 'utf8')).to.equal('{"torn');
    expect(bury(dead(), folder.path('queue', 'gone.json'), { atMs: NOW })).to.equal(false);
  });

  it('counts the reasons, the most frequent first, also of entries from before they were kept', () => {
    for (const name of ['a.json', 'b.json'])
      bury(dead(), lay(name, '{}'), { atMs: NOW, reason: 'no network.' });
    bury(dead(), lay('c.json', '{"result":"expired","reason":"too late"}'), { atMs: NOW });
    writeFileSync(join(dead(), 'd.json'), '{"kind":"prompt-matched"}');
    writeFileSync(join(dead(), 'e.json'), 'torn');
    writeFileSync(join(dead(), 'README'), 'of a person');
    const report = deadReport(dead());
    expect(report).to.deep.equal({
      count: 5,
      pruned: 0,
      reasons: [
        { reason: 'no network.', count: 2 },
        { reason: 'too late', count: 1 },
        { reason: 'not recorded', count: 1 },
        { reason: 'the file cannot be read', count: 1 },
      ],
    });
    expect(deadText(report)).to.equal(
      '5 failed permanently: no network (2), too late (1), not recorded (1), and 1 more',
    );
    expect(deadText(deadReport(folder.path('none')))).to.equal(undefined);
  });

  it('removes what is over 30 days old, and the oldest beyond 1,000, and counts it', () => {
    mkdirSync(dead(), { recursive: true });
    for (let index = 0; index < 1003; index += 1) {
      const path = join(dead(), `${String(index).padStart(4, '0')}.json`);
      writeFileSync(path, '{}');
      utimesSync(path, NOW / 1000, NOW / 1000);
    }
    const old = join(dead(), '0500.json');
    utimesSync(old, (NOW - 31 * DAY) / 1000, (NOW - 31 * DAY) / 1000);
    pruneDead(dead(), NOW);
    expect(deadNames(dead()))
      .to.have.length(999)
      .and.not.include.members(['0000.json', '0002.json', '0500.json']);
    expect(deadReport(dead())).to.include({ count: 999, pruned: 4 });
    pruneDead(dead(), NOW + 31 * DAY);
    expect(deadReport(dead())).to.deep.equal({ count: 0, pruned: 1003, reasons: [] });
    expect(deadText(deadReport(dead()))).to.equal('1003 older failures already deleted');
  });
});
