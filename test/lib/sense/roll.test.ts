import { recordDocument } from '../../../src/lib/time/record';
import { expect } from 'chai';
import { existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { recent } from '../../../src/lib/sense/read';
import { rollAgain, rollup } from '../../../src/lib/sense/roll';
import { recentText } from '../../../src/lib/sense/view-status';
import { thrown } from '../../helpers/errors';
import { commit, focus, listSource, senseBox, type SenseBox } from '../../helpers/sense';
import { long } from '../../helpers/long';
import type { SenseEvent } from '../../../src/lib/time/event';

describe('sense: rollup', () => {
  let box: SenseBox;
  let list: SenseEvent[];
  beforeEach(() => {
    box = senseBox();
    list = [];
  });
  afterEach(() => box.remove());

  /** A capture at that time, after which these events have been seen. */
  const captureAt = (iso: string, ...events: SenseEvent[]) => {
    box.at(iso);
    list.push(...events);
    return box.capture({ sources: [listSource('git', list)] });
  };

  it('records each day of a week without captures', async () => {
    await captureAt('2026-11-20T12:00:00Z', focus('2026-11-20T11:00:00Z', 'Code'));
    const { rolled } = await captureAt('2026-11-27T09:00:00Z');
    expect(rolled).to.deep.equal([20, 21, 22, 23, 24, 25, 26].map((day) => `2026-11-${day}`));
    expect(box.record('2026-11-20')).to.include({ totalMinutes: 2, final: true });
    expect(box.record('2026-11-20')).not.to.have.property('backfilled');
    expect(box.record('2026-11-23')).to.include({ totalMinutes: 0, final: true, backfilled: true });
    const inJson = recordDocument(box.record('2026-11-23'));
    expect(inJson).to.include({ totalMinutes: null, creationMinutes: null, neutralMinutes: null });
    expect(box.read('sense/daily/2026-11-23.md')).to.include('2026-11-23');
    expect((await captureAt('2026-11-27T09:02:00Z')).rolled, 'each once').to.deep.equal([]);
  });

  it('tells a captured day without use from a day without captures, also when it is built again', async () => {
    await captureAt('2026-11-20T12:00:00Z', focus('2026-11-20T11:00:00Z', 'Code'));
    await captureAt('2026-11-21T12:00:00Z');
    await captureAt('2026-11-23T12:00:00Z');
    for (const again of [false, true]) {
      if (again) for (const day of ['2026-11-21', '2026-11-22']) rollup(box.deps, day);
      expect(box.record('2026-11-21')).not.to.have.property('backfilled');
      expect(box.record('2026-11-22')).to.include({ backfilled: true });
    }
  });

  it('records no day before it is over locally', async () => {
    const capture = async (iso: string): Promise<string[]> => {
      box.at(iso);
      const sources = [listSource('git', [focus('2026-11-20T20:00:00Z', 'Code')])];
      return (await box.capture({ timezone: 'America/New_York', sources })).rolled;
    };
    expect(await capture('2026-11-20T21:00:00Z')).to.deep.equal([]);
    expect(await capture('2026-11-21T04:59:59.999Z')).to.deep.equal([]);
    expect(await capture('2026-11-21T05:00:00Z')).to.deep.equal(['2026-11-20']);
  });

  it('replaces a record from before the end of the day', async () => {
    await captureAt('2026-11-20T12:00:00Z', focus('2026-11-20T11:00:00Z', 'Code'));
    expect(rollup(box.deps)).to.include({ date: '2026-11-20', final: false, totalMinutes: 2 });
    expect(box.record('2026-11-20').final).to.equal(false);
    expect((await captureAt('2026-11-21T09:00:00Z')).rolled).to.deep.equal(['2026-11-20']);
    expect(box.record('2026-11-20').final).to.equal(true);
  });

  it('rebuilds a record for a late event while the event log exists', async () => {
    await captureAt('2026-11-20T12:00:00Z', commit('2026-11-20T11:00:00Z', 'app', 'a'));
    await captureAt('2026-11-21T09:00:00Z');
    const { rolled } = await captureAt('2026-11-22T09:00:00Z', commit('2026-11-20T18:00:00Z', 'app', 'b'));
    expect(rolled).to.deep.equal(['2026-11-20', '2026-11-21']);
    expect(box.record('2026-11-20').commits.count).to.equal(2);
  });

  it('accepts a late event for an empty day', async () => {
    await captureAt('2026-11-19T12:00:00Z', commit('2026-11-19T11:00:00Z', 'app', 'a'));
    await captureAt('2026-11-22T09:00:00Z');
    expect(box.record('2026-11-20').commits.count).to.equal(0);
    const { rolled } = await captureAt('2026-11-22T10:00:00Z', commit('2026-11-20T18:00:00Z', 'app', 'b'));
    expect(rolled).to.deep.equal(['2026-11-20']);
    expect(box.record('2026-11-20').commits.count).to.equal(1);
  });

  it('accepts it after a loss of the state, and quarantines one of a day without its log', async () => {
    await captureAt('2026-11-19T12:00:00Z', commit('2026-11-19T11:00:00Z', 'app', 'a'));
    await captureAt('2026-11-22T09:00:00Z');
    rmSync(box.area.sense.state);
    rmSync(box.store.logOf('2026-11-19'));
    const late = [commit('2026-11-19T20:00:00Z', 'app', 'c'), commit('2026-11-20T18:00:00Z', 'app', 'b')];
    box.at('2026-11-22T10:00:00Z');
    await box.capture({ sources: [listSource('git', late)] });
    expect(box.record('2026-11-20').commits.count).to.equal(1);
    expect(box.record('2026-11-19').commits.count).to.equal(1);
    expect(box.lines('quarantine/late.jsonl')).to.deep.equal(late.slice(0, 1));
  });

  it('deletes an event log past its retention, and keeps the record', async () => {
    await captureAt('2026-10-20T12:00:00Z', focus('2026-10-20T11:00:00Z', 'Code'));
    writeFileSync(box.store.logOf('2026-10-20'), 'noise\n', { flag: 'a' });
    await captureAt('2026-10-21T09:00:00Z');
    expect(box.lines('quarantine/2026-10-20.jsonl')).to.have.length(1);
    expect((await captureAt('2026-11-19T12:00:00Z')).pruned, '30 days are kept').to.deep.equal([]);
    expect((await captureAt('2026-11-20T12:00:00Z')).pruned).to.deep.equal(['2026-10-20']);
    expect(existsSync(box.store.logOf('2026-10-20'))).to.equal(false);
    expect(box.lines('quarantine/2026-10-20.jsonl')).to.deep.equal([]);
    expect(box.record('2026-10-20')).to.include({ totalMinutes: 2, final: true });
    expect(Object.keys(box.state()['zones'] as object)).not.to.include('2026-10-20');
  });

  it('records a day before deleting its log', async () => {
    await captureAt('2026-10-01T12:00:00Z', focus('2026-10-01T11:00:00Z', 'Code'));
    const result = await captureAt('2026-11-20T12:00:00Z');
    expect(result.rolled).to.include('2026-10-01');
    expect(result.pruned).to.deep.equal(['2026-10-01']);
    expect(box.record('2026-10-01')).to.include({ totalMinutes: 2, final: true });
  });

  it('keeps the event log of a day that could not be recorded', async () => {
    await captureAt('2026-10-01T12:00:00Z', focus('2026-10-01T11:00:00Z', 'Code'));
    await captureAt('2026-10-02T12:00:00Z', focus('2026-10-02T11:00:00Z', 'Code'));
    rmSync(join(box.area.sense.daily, '2026-10-01.json'));
    // A folder where the record should be: it cannot be written.
    mkdirSync(join(box.area.sense.daily, '2026-10-01.json', 'x'), { recursive: true });
    rmSync(box.area.sense.state);
    const result = await captureAt('2026-11-20T12:00:00Z');
    expect(result.problems.join('\n')).to.include('The record for 2026-10-01 could not be built');
    expect(result.pruned).to.deep.equal(['2026-10-02']);
    expect(existsSync(box.store.logOf('2026-10-01'))).to.equal(true);
  });

  it('quarantines a late event of a day without its event log', async () => {
    await captureAt('2026-10-01T12:00:00Z', commit('2026-10-01T11:00:00Z', 'app', 'a'));
    await captureAt('2026-11-20T12:00:00Z');
    const before = box.read('sense/daily/2026-10-01.json');
    const late = commit('2026-10-01T18:00:00Z', 'app', 'b');
    expect((await captureAt('2026-11-20T12:02:00Z', late)).rolled).to.deep.equal([]);
    await captureAt('2026-11-20T12:04:00Z');
    expect(box.lines('quarantine/late.jsonl')).to.deep.equal([late]);
    expect(box.read('sense/daily/2026-10-01.json')).to.equal(before);
    expect(existsSync(box.store.logOf('2026-10-01'))).to.equal(false);
  });

  it('calls afterRecords once per run with records', async () => {
    await captureAt('2026-11-20T12:00:00Z', focus('2026-11-20T11:00:00Z', 'Code'));
    expect(box.told).to.deep.equal([]);
    await captureAt('2026-11-23T12:00:00Z');
    expect(box.told).to.deep.equal(['2026-11-23']);
    rollup(box.deps);
    expect(box.told).to.deep.equal(['2026-11-23', '2026-11-23']);
  });

  it('retries when afterRecords fails', async () => {
    await captureAt('2026-11-20T12:00:00Z', focus('2026-11-20T11:00:00Z', 'Code'));
    box.at('2026-11-21T09:00:00Z');
    const afterRecords = (): never => {
      throw new Error('goals.md is odd');
    };
    const result = await box.capture({ afterRecords });
    expect(result.rolled).to.deep.equal(['2026-11-20']);
    expect(result.problems.join()).to.include('goals.md is odd');
    box.told.length = 0;
    await box.capture();
    await box.capture();
    expect(box.told, 'tried again until it holds').to.deep.equal(['2026-11-21']);
  });

  it('removes stale temp files only', async () => {
    await captureAt('2026-11-20T12:00:00Z', focus('2026-11-20T11:00:00Z', 'Code'));
    const old = box.write('sense/.state.json.0123456789ab.tmp', '{');
    const young = box.write('sense/daily/.2026-11-20.md.0123456789ab.tmp', '#');
    utimesSync(old, new Date('2026-11-20T12:00:00Z'), new Date('2026-11-20T12:00:00Z'));
    // Every write sweeps by the clock of the machine, and a capture by its own.
    const now = new Date();
    utimesSync(young, now, now);
    await captureAt(now.toISOString());
    expect(existsSync(old)).to.equal(false);
    expect(existsSync(young)).to.equal(true);
  });

  it('quarantines and counts invalid lines', async () => {
    const good = focus('2026-11-20T11:00:00Z', 'Code');
    const commitAt = commit('2026-11-20T11:30:00Z', 'app', 'a');
    const bad: (string | Buffer)[] = [
      'null',
      '[]',
      '7',
      '{"ts":"2026-11-20T10:00:00Z","type":"keystroke","source":"x"}',
      '{"ts":"2026-02-30T10:00:00Z","type":"app-focus","source":"x"}',
      '{"ts":"yesterday","type":"app-focus","source":"x"}',
      Buffer.from([0, 255, 254, 1, 128]),
      `{"ts":"2026-11-20T10:00:00Z","pad":"${'x'.repeat(70_000)}"}`,
    ];
    const parts = [JSON.stringify(good), ...bad, '', JSON.stringify(commitAt), '{"ts":"2026-11-20T12'];
    const bytes = Buffer.concat(parts.flatMap((part) => [Buffer.from(part), Buffer.from('\n')])).subarray(
      0,
      -1,
    );
    box.write('sense/events/2026-11-20.jsonl', '');
    writeFileSync(box.store.logOf('2026-11-20'), bytes);
    await captureAt('2026-11-21T09:00:00Z');
    expect(box.record('2026-11-20')).to.include({ totalMinutes: 2, final: true });
    expect(box.record('2026-11-20').commits.count).to.equal(1);
    const aside = box.lines('quarantine/2026-11-20.jsonl') as {
      offset: number;
      bytes: number;
      text?: string;
    }[];
    expect(aside).to.have.length(bad.length + 1);
    for (const [n, { offset, bytes: length, text }] of aside.entries()) {
      const raw = bytes.subarray(offset, offset + length);
      expect(raw.equals(Buffer.from(bad[n] ?? '{"ts":"2026-11-20T12')), `line ${n}`).to.equal(true);
      expect(raw.toString().startsWith(text ?? ''), `line ${n}`).to.equal(true);
    }
    const rolled = box.state()['rolled'] as Record<string, { quarantined: number }>;
    expect(rolled['2026-11-20']?.quarantined).to.equal(bad.length + 1);
  });

  it('reads a last line without a line feed', async () => {
    box.write('sense/events/2026-11-20.jsonl', JSON.stringify(focus('2026-11-20T11:00:00Z', 'Code')));
    await captureAt('2026-11-21T09:00:00Z');
    expect(box.record('2026-11-20').totalMinutes).to.equal(2);
    expect(box.lines('quarantine/2026-11-20.jsonl')).to.deep.equal([]);
  });

  long('counts all invalid lines, and quarantines a thousand', async () => {
    box.write('sense/events/2026-11-20.jsonl', 'x\n'.repeat(250_000));
    await captureAt('2026-11-21T09:00:00Z');
    expect(box.lines('quarantine/2026-11-20.jsonl')).to.have.length(1000);
    const rolled = box.state()['rolled'] as Record<string, { quarantined: number }>;
    expect(rolled['2026-11-20']?.quarantined).to.equal(250_000);
  });

  describe('by hand', () => {
    const kindOf = (day: string): string => thrown(() => rollup(box.deps, day)).kind;

    it('refuses a future day, and one without stored events', () => {
      expect(kindOf('2026-11-21')).to.equal('usage');
      expect(kindOf('2026-11-19')).to.equal('not_found');
      expect(existsSync(box.area.root), 'and writes nothing').to.equal(false);
    });

    it('records an empty past day, but none before the first', async () => {
      await captureAt('2026-11-17T12:00:00Z', focus('2026-11-17T11:00:00Z', 'Code'));
      box.at('2026-11-20T12:00:00Z');
      expect(rollup(box.deps, '2026-11-18')).to.deep.include({ totalMinutes: 0, final: true });
      expect(rollup(box.deps, '2026-11-18').final).to.equal(true);
      expect(kindOf('2026-11-16')).to.equal('not_found');
      expect(recentText(recent(box.deps, 7), { columns: 80, color: false })).to.match(
        /^2026-11-18 {2}Wed {4}- +not recorded\n2026-11-17 /,
      );
    });

    it('rebuilds records by new rules, and names those it cannot', async () => {
      await captureAt('2026-10-01T12:00:00Z', focus('2026-10-01T11:00:00Z', 'Zed'));
      await captureAt('2026-11-18T12:00:00Z', focus('2026-11-18T11:00:00Z', 'Zed'));
      await captureAt('2026-11-20T12:00:00Z', focus('2026-11-20T11:00:00Z', 'Zed'));
      const classify = (): { kind: 'consumption' } => ({ kind: 'consumption' });
      box.told.length = 0;
      expect(rollAgain({ ...box.deps, classify }, '2026-09-01')).to.deep.equal({
        rolled: ['2026-11-18'],
        kept: ['2026-10-01'],
      });
      expect(box.told).to.deep.equal(['2026-11-20']);
      expect(box.record('2026-11-18').apps[0]).to.include({ kind: 'consumption' });
      expect(box.record('2026-10-01').apps[0]).to.include({ kind: 'creation' });
      const [before] = [box.read('sense/daily/2026-11-18.json')];
      await captureAt('2026-11-20T13:00:00Z');
      expect(box.read('sense/daily/2026-11-18.json')).to.equal(before);
    });

    it('explains a deleted event log, and keeps the record', async () => {
      await captureAt('2026-10-01T12:00:00Z', focus('2026-10-01T11:00:00Z', 'Code'));
      await captureAt('2026-11-20T12:00:00Z');
      const before = box.read('sense/daily/2026-10-01.json');
      expect(thrown(() => rollup(box.deps, '2026-10-01')).message).to.include('was deleted');
      expect(box.read('sense/daily/2026-10-01.json')).to.equal(before);
    });

    it('leaves a lost state lost', async () => {
      await captureAt('2026-11-20T12:00:00Z', commit('2026-11-20T11:00:00Z', 'app', 'a'));
      for (const damage of [
        () => rmSync(box.area.sense.state),
        () => writeFileSync(box.area.sense.state, '{'),
      ]) {
        damage();
        expect(rollup(box.deps).commits.count).to.equal(1);
        expect((await captureAt('2026-11-20T13:00:00Z')).events).to.equal(0);
      }
      expect(box.lines('events/2026-11-20.jsonl')).to.deep.equal(list);
    });
  });
});
