import { expect } from 'chai';
import { mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';

import { StewardError } from '../../../../src/lib/errors';
import { deadReport } from '../../../../src/lib/platform/files/dead-letters';
import {
  abandoned,
  attempt,
  claim,
  compactTime,
  countForeign,
  entriesIn,
  finish,
  namesIn,
  put,
  readEntry,
  record,
  release,
  revive,
  checkRoom,
  spoolCounts,
  sweep,
  timeOfName,
  withdraw,
  type Spool,
} from '../../../../src/lib/platform/files/spool';
import { scratch } from '../../../helpers/scratch';

interface Entry {
  id: string;
  machine: string;
  attempts: number;
}

const NOW = Date.parse('2026-11-20T08:00:00.123Z');
const DAY = 86_400_000;

describe('a spool', () => {
  const folder = scratch();
  const spool = (durable = true): Spool<Entry> => ({
    path: folder.path('spool'),
    version: 1,
    parse: ({ id, machine, attempts }) =>
      typeof id === 'string' && typeof machine === 'string' && typeof attempts === 'number'
        ? { id, machine, attempts }
        : undefined,
    isName: (name) => name.endsWith('.json'),
    nameOf: ({ id }) => `${id}.json`,
    machineOf: ({ machine }) => machine,
    timeOf: timeOfName,
    durable,
    cap: 3,
    full: (count) => new StewardError('unavailable', `${count} wait already.`),
  });
  let count = 0;
  const left = (machine = 'here', durable = true): { name: string; entry: Entry } => {
    count += 1;
    const entry = { id: `${compactTime(NOW)}-${String(count).padStart(4, '0')}`, machine, attempts: 0 };
    put(spool(durable), entry);
    return { name: `${entry.id}.json`, entry };
  };
  const places = (): number[] =>
    (['waiting', 'claimed', 'dead'] as const).map((place) => namesIn(spool(), place).length);
  const clock = { now: () => NOW };
  const again = (entry: Entry): Entry | undefined =>
    entry.attempts < 1 ? { ...entry, attempts: entry.attempts + 1 } : undefined;

  for (const durable of [true, false]) {
    it(`gives entries back oldest first, and one process claims each (${durable ? 'durable' : 'not durable'})`, () => {
      const [first, second] = [left('here', durable), left('here', durable)];
      expect(entriesIn(spool(durable), 'waiting')).to.deep.equal([first.entry, second.entry]);
      expect(claim(spool(durable), first.name)).to.equal(true);
      expect(claim(spool(durable), first.name)).to.equal(false);
      record(spool(durable), first.name, { ...first.entry, attempts: 7 });
      release(spool(durable), first.name);
      expect(readEntry(spool(durable), 'waiting', first.name)).to.deep.equal({ ...first.entry, attempts: 7 });
      expect(withdraw(spool(durable), second.name)).to.equal(true);
      expect(withdraw(spool(durable), second.name)).to.equal(false);
      claim(spool(durable), first.name);
      finish(spool(durable), first.name);
      expect(places()).to.deep.equal([0, 0, 0]);
    });
  }

  it('takes no more entries when it is full', () => {
    for (let index = 0; index < 2; index += 1) left();
    checkRoom(spool(), 1);
    expect(() => checkRoom(spool(), 2))
      .to.throw(StewardError, '2 wait already')
      .with.property('kind', 'unavailable');
  });

  it('counts toward the maximum what the spool counts', () => {
    left();
    const none = { ...spool(), counts: () => false };
    expect(() => checkRoom(none, 3)).not.to.throw();
    expect(() => checkRoom(none, 4)).to.throw('0 wait already.');
    expect(() => checkRoom(spool(), 3)).to.throw('1 wait already.');
  });

  it('replaces an entry of the same name only if it is not durable', () => {
    const { entry } = left();
    expect(() => put(spool(), { ...entry, attempts: 5 })).to.throw(`${entry.id}.json is already in`);
    expect(readEntry(spool(), 'waiting', `${entry.id}.json`)?.attempts).to.equal(0);
    put(spool(false), { ...entry, attempts: 5 });
    expect(readEntry(spool(), 'waiting', `${entry.id}.json`)?.attempts).to.equal(5);
  });

  it('reads at most as many entries as it is asked for, and none of a newer version', () => {
    const [first] = [left(), left()];
    expect(entriesIn(spool(), 'waiting', 1)).to.deep.equal([first.entry]);
    const newer: Spool<Entry> = { ...spool(), parse: () => 'newer' };
    expect(entriesIn(newer, 'waiting')).to.deep.equal([]);
    expect(spoolCounts(newer)).to.include({ waiting: 2, unreadable: 0 });
    expect(entriesIn({ ...spool(), version: 2 }, 'waiting')).to.deep.equal([]);
    expect(readEntry(spool(), 'waiting', 'missing.json')).to.equal(undefined);
  });

  it('tells the oldest entry, claimed or waiting, and those of other machines', () => {
    const [mine, theirs] = [left(), left('there')];
    expect(spoolCounts(spool()).oldest).to.deep.equal(mine.entry);
    claim(spool(), theirs.name);
    expect(spoolCounts(spool())).to.deep.include({ waiting: 1, claimed: 1, oldest: theirs.entry });
    expect(countForeign(spool(), 'here')).to.equal(1);
    claim(spool(), mine.name);
    expect([countForeign(spool(), 'here'), countForeign(spool(), 'there')]).to.deep.equal([1, 1]);
  });

  it('does an entry, lets it wait, retries it, and gives it up', async () => {
    const run = async (work: (entry: Entry) => unknown): Promise<unknown> => {
      const [name = ''] = namesIn(spool(), 'waiting');
      const entry = readEntry(spool(), 'waiting', name) as Entry;
      return attempt(spool(), name, entry, { clock, run: work, again });
    };
    const fail = (): never => {
      throw new Error('no network');
    };
    left();
    expect(await run(() => 'later')).to.equal('later');
    expect(await run(fail)).to.equal('failed');
    expect(entriesIn(spool(), 'waiting')[0]).to.have.property('attempts', 1);
    expect(await run(fail)).to.equal('dead');
    left();
    expect(await run(() => ({ refused: 'it is public' }))).to.equal('dead');
    left();
    expect(await run(() => undefined)).to.equal('done');
    expect(places()).to.deep.equal([0, 0, 2]);
    expect(deadReport(folder.path('spool', 'dead')).reasons.map(({ reason }) => reason)).to.have.members([
      'no network',
      'it is public',
    ]);
  });

  it('puts an interrupted entry back as it was', async () => {
    const { name, entry } = left();
    const run = (): never => {
      throw new StewardError('canceled', 'Interrupted.');
    };
    const error = await attempt(spool(), name, entry, { clock, run, again }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).to.have.property('kind', 'canceled');
    expect(entriesIn(spool(), 'waiting')).to.deep.equal([entry]);
  });

  it('tells abandoned claims: our own, unreadable ones, and those another machine forgot', () => {
    const names = ['here', 'there'].map((machine) => left(machine).name);
    for (const name of names) claim(spool(), name);
    writeFileSync(folder.path('spool', 'claimed', 'torn.json'), '{"torn');
    mkdirSync(folder.path('spool', 'claimed', 'folder.json'));
    const found = (nowMs: number): string[] => abandoned(spool(), 'here', nowMs).map(({ name }) => name);
    expect(found(NOW + DAY - 1)).to.have.members([names[0], 'torn.json']);
    expect(found(NOW + DAY + 1)).to.have.members([...names, 'torn.json']);
    expect(countForeign(spool(), 'here')).to.equal(1);
  });

  it('revives a dead entry as given', async () => {
    const { name, entry } = left();
    await attempt(spool(), name, entry, { clock, run: () => ({ refused: 'no' }), again });
    revive(spool(), name, { ...entry, machine: 'there' });
    expect(entriesIn(spool(), 'waiting')).to.deep.equal([{ ...entry, machine: 'there' }]);
    expect(places()).to.deep.equal([1, 0, 0]);
  });

  it('counts what it cannot read, and skips it', () => {
    const { entry } = left();
    const path = folder.path('spool');
    writeFileSync(`${path}/0-empty.json`, '');
    writeFileSync(`${path}/0-large.json`, ' '.repeat(1025 * 1024));
    writeFileSync(`${path}/0-newer.json`, '{"version":2}');
    symlinkSync('nowhere', `${path}/0-link.json`);
    writeFileSync(`${path}/README`, 'of a person');
    expect(spoolCounts(spool())).to.deep.equal({
      waiting: 5,
      claimed: 0,
      unreadable: 3,
      dead: 0,
      oldest: entry,
    });
    expect(entriesIn(spool(), 'waiting')).to.deep.equal([entry]);
  });

  it('refuses a link in the place of its folder', () => {
    mkdirSync(folder.path('elsewhere'));
    symlinkSync('elsewhere', folder.path('spool'));
    expect(() => left()).to.throw(StewardError, 'symbolic link');
  });

  it('sweeps the temp files of killed processes', () => {
    left();
    const temp = folder.path('spool', '.x.json.0123456789ab.tmp');
    writeFileSync(temp, 'half');
    utimesSync(temp, NOW / 1000, NOW / 1000);
    sweep(spool(), NOW + 30_000);
    expect(readdirSync(folder.path('spool'))).to.have.length(2);
    sweep(spool(), NOW + 90_000);
    expect(readdirSync(folder.path('spool'))).to.have.length(1);
  });
});
