import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';

import { makeClassifier } from '../../../src/lib/time/classify';
import {
  readMachines,
  readPublishedDay,
  readPublishedSessions,
  readPublishedUsage,
} from '../../../src/lib/sync/exchange';
import { namedMachines } from '../../../src/lib/sync/machine-days';
import { distinctNames } from '../../../src/lib/time/machines/model';
import { chosenMachines } from '../../../src/lib/time/machines/read';
import { openReceived } from '../../../src/lib/sync/received';
import { commitId, hashedId, toMinute } from '../../../src/lib/sync/format';
import { scratch } from '../../helpers/scratch';
import { buildDailyRecord, focus } from '../../helpers/sense';
import { long } from '../../helpers/long';

const ID = '0123456789ab';
const DAY = '2026-11-20';
const INFO = {
  ...{ format: 1, id: ID, name: 'laptop', timezone: 'UTC', version: '1.0.0' },
  ...{ lastInput: '2026-11-20T09:41Z', publishedAt: '2026-11-20T09:42Z' },
};
const record = buildDailyRecord(DAY, [focus('2026-11-20T09:00:00Z', 'Code')], {
  ...{ timezone: 'UTC', pollIntervalSec: 120, classify: makeClassifier('templates') },
  ...{ version: '1.2.0', generatedAt: '2026-11-20T09:00:00.000Z', final: false },
});
const published = {
  format: 1,
  record,
  spans: [
    { from: 1_795_165_080, to: 1_795_165_200, app: 'Code', kind: 'creation', repo: 'shop', input: null },
  ],
  commits: [{ id: hashedId('commit', 'x'), repo: 'shop', ts: 1_795_165_100 }],
};
const session = {
  ...{ id: hashedId('session', 's1'), assistant: null, repo: 'shop', branch: null },
  parts: [[1_795_165_080, 1_795_165_200, 'w']],
};
const usage = {
  ...{ assistant: 'codex', session: session.id, repo: null, model: 'm' },
  ...{ input: 1, output: 2, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, cost: 0.1 },
};

describe('the exchange folder (lib)', () => {
  const { path } = scratch();
  const put = (name: string, content: unknown): void => {
    const file = path('machines', name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' ? content : `${JSON.stringify(content)}\n`);
  };
  const damaged: string[] = [];
  const note = (file: string, reason: string): unknown =>
    damaged.push(`${file.slice(path('machines').length + 1)}: ${reason}`);
  beforeEach(() => {
    damaged.length = 0;
    put(`${ID}/machine.json`, INFO);
  });
  const machine = (): { path: string } => ({ path: path('machines', ID) });

  it('lists the machines with their days, and ignores names that steward does not write', () => {
    put(`${ID}/daily/${DAY}.json`, published);
    put(`${ID}/daily/${DAY}.sync-conflict-20261120-101010-ABCDEFG.json`, published);
    put(`${ID}/daily/.${DAY}.json.0123456789ab.tmp`, '{');
    put(`${ID}/daily/2026-02-30.json`, published);
    put(`${ID}/sessions/${DAY}.jsonl`, session);
    put('notes/machine.json', INFO);
    put('README.md', 'mine');
    const [found, ...more] = readMachines(path(), note);
    expect(more).to.deep.equal([]);
    expect(found).to.deep.equal({
      ...{ id: ID, path: path('machines', ID), info: INFO },
      days: { daily: [DAY], sessions: [DAY], usage: [] },
    });
    expect(damaged).to.deep.equal([]);
    expect(readMachines(path('missing'), note)).to.deep.equal([]);
  });

  it('tells machines with the same name apart', () => {
    put(`${ID}/machine.json`, { ...INFO, name: 'Laptop' });
    const other = 'fedcba987654';
    put(`${other}/machine.json`, { ...INFO, id: other, name: 'desk' });
    const self = { id: 'aaaabbbbcccc', name: 'laptop' };
    const { own, names } = namedMachines(self, { folder: path(), isCopy: false }, note);
    expect(own.name).to.equal('laptop-aaaa');
    expect(names.map(({ name }) => name)).to.deep.equal(['Laptop-0123', 'desk']);
    const twins = distinctNames(['01234a', '01234b', '09'].map((id) => ({ id, name: 'vm' })));
    expect(twins.map(({ name }) => name)).to.deep.equal(['vm-01234a', 'vm-01234b', 'vm-09']);
    const choose = (wanted: string): unknown => [...chosenMachines({ own, others: names }, wanted)];
    for (const wanted of ['Laptop-0123', '01', ID]) expect(choose(wanted), wanted).to.deep.equal([ID]);
    expect(() => choose('laptop')).to.throw(
      `More than one machine matches "laptop": laptop-aaaa (this), Laptop-0123 (${ID}).`,
    );
  });

  it('tells machines with the same name apart in the notes of a copy', () => {
    put(`${ID}/machine.json`, INFO);
    put('fedcba987654/machine.json', { ...INFO, id: 'fedcba987654' });
    const notes: string[] = [];
    const time = (iso: string): string => iso.slice(11, 16);
    const add = (text: string): unknown => notes.push(text);
    const { source, noteAway } = openReceived('/nas', { machine: path() }, time, add);
    const { isCopy } = source ?? expect.fail();
    noteAway(namedMachines({ id: 'aaaabbbbcccc', name: 'desk' }, { folder: path(), isCopy }, note).names);
    expect(notes).to.deep.equal(
      ['laptop-0123', 'laptop-fedc'].map((name) => `${name}: as of 09:42, /nas not reachable`),
    );
  });

  it('reads a day, its sessions and its usage as they were written', () => {
    put(`${ID}/daily/${DAY}.json`, published);
    put(`${ID}/sessions/${DAY}.jsonl`, session);
    put(`${ID}/usage/${DAY}.json`, { format: 1, rows: [usage] });
    expect(readPublishedDay(machine(), DAY, note)).to.deep.equal(published);
    expect(readPublishedSessions(machine(), DAY, note)).to.deep.equal([session]);
    expect(readPublishedUsage(machine(), DAY, note)).to.deep.equal([usage]);
    expect(readPublishedDay(machine(), '2026-11-21', note)).to.equal(undefined);
    expect(readPublishedSessions(machine(), '2026-11-21', note)).to.deep.equal([]);
    expect(damaged).to.deep.equal([]);
  });

  it('reports and skips a machine whose file is missing, cut off, newer, a link or of another machine', () => {
    put('aaaaaaaaaaaa/daily/x', '');
    put('bbbbbbbbbbbb/machine.json', '{"format":1,"id":"bbbb');
    put('cccccccccccc/machine.json', { ...INFO, id: 'cccccccccccc', format: 2 });
    put('dddddddddddd/machine.json', INFO);
    put('eeeeeeeeeeee/x', '');
    symlinkSync(path('machines', ID, 'machine.json'), path('machines/eeeeeeeeeeee/machine.json'));
    expect(readMachines(path(), note).map(({ id }) => id)).to.deep.equal([ID]);
    expect(
      damaged.map((line) => line.replace(/\/machine\.json: .*(missing|damaged|newer|another|link).*/, ' $1')),
    ).to.deep.equal([
      'aaaaaaaaaaaa missing',
      'bbbbbbbbbbbb damaged',
      'cccccccccccc newer',
      'dddddddddddd another',
      'eeeeeeeeeeee link',
    ]);
  });

  long('reports and skips damaged days, and keeps the valid lines of sessions', () => {
    const wrong: Record<string, unknown> = {
      text: '{"format":1,',
      record: { ...published, record: { ...record, totalMinutes: -1 } },
      date: { ...published, record: { ...record, date: '2026-11-19' } },
      span: { ...published, spans: [{ ...published.spans[0], to: 5 }] },
      commit: { ...published, commits: [{ ...published.commits[0], id: 'abc' }] },
      minutes: { ...published, record: { ...record, totalMinutes: 1e308 } },
      hour: { ...published, record: { ...record, hours: [{ ...record.hours[0], creation: 1e6 }] } },
      hours: { ...published, record: { ...record, hours: Array(50).fill(record.hours[0]) } },
      zone: { ...published, record: { ...record, timezone: 'Mars/Olympus' } },
      century: { ...published, spans: [{ ...published.spans[0], to: Number.MAX_SAFE_INTEGER }] },
      depth: JSON.stringify(published).replace('{', `{"ä":${'['.repeat(4000)}${']'.repeat(4000)},`),
      size: `${JSON.stringify(published)}${' '.repeat(8 * 1024 * 1024)}`,
      escapes: `{"format":1,"text":"${'\\\\'.repeat(4_000_000)}"}`,
    };
    for (const content of Object.values(wrong)) {
      put(`${ID}/daily/${DAY}.json`, content);
      expect(readPublishedDay(machine(), DAY, note)).to.equal(undefined);
    }
    expect(damaged).to.have.length(Object.keys(wrong).length);
    put(`${ID}/sessions/${DAY}.jsonl`, `<<<<<<< HEAD\n${JSON.stringify(session)}\n{"id":1}\n`);
    for (const amount of ['many', 1e308, -1]) {
      put(`${ID}/usage/${DAY}.json`, { format: 1, rows: [{ ...usage, cost: amount }] });
      expect(readPublishedUsage(machine(), DAY)).to.deep.equal([]);
    }
    put(`${ID}/usage/${DAY}.json`, { format: 1, rows: [{ ...usage, input: 'many' }] });
    damaged.length = 0;
    expect(readPublishedSessions(machine(), DAY, note)).to.deep.equal([session]);
    expect(readPublishedUsage(machine(), DAY, note)).to.deep.equal([]);
    expect(damaged).to.deep.equal([
      `${ID}/sessions/${DAY}.jsonl: has invalid lines`,
      `${ID}/usage/${DAY}.json: damaged`,
    ]);
  });

  it('reports a file where a folder of days belongs, and reads the others', () => {
    put(`${ID}/daily`, 'a file');
    put(`${ID}/usage/${DAY}.json`, { format: 1, rows: [usage] });
    expect(readMachines(path(), note).map(({ days }) => days)).to.deep.equal([
      { daily: [], sessions: [], usage: [DAY] },
    ]);
    expect(damaged).to.have.length(1);
    expect(damaged[0]).to.include(`${ID}/daily: `);
  });

  it('cleans every text of another machine', () => {
    put(`${ID}/machine.json`, { ...INFO, name: 'lap\u001b[31mtop\u202e\u0007' });
    put(`${ID}/daily/${DAY}.json`, {
      ...published,
      record: { ...record, apps: [{ app: 'Co\u001b]0;x\u0007de', kind: 'creation', minutes: 2 }] },
    });
    expect(readMachines(path(), note)[0]?.info.name).to.equal('laptop');
    expect(readPublishedDay(machine(), DAY, note)?.record.apps[0]?.app).to.equal('Code');
    put(`${ID}/machine.json`, { ...INFO, name: 'Büro' });
    expect(readMachines(path(), note)[0]?.info.name).to.equal('Büro');
  });

  it('hashes the same id to the same text everywhere', () => {
    expect(hashedId('session', 's1')).to.equal('64d3092c2df3c560');
    expect(hashedId('session', 's1')).to.not.equal(hashedId('commit', 's1'));
    expect(commitId('Shop', 'abc')).to.deep.equal(commitId('shop', 'abc'));
    expect(commitId('shop', 'abc')).to.not.deep.equal(commitId('site', 'abc'));
    expect(commitId('shop', 'abc.2', 'p')).to.deep.equal(commitId('shop', 'abc', 'p'));
    expect(commitId('shop', 'abc', 'q').id).to.equal(commitId('shop', 'abc', 'p').id);
    expect(toMinute('2026-11-20T09:41:59.999Z')).to.equal('2026-11-20T09:41Z');
  });
});
