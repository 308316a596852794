import { expect } from 'chai';
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

import { ledgersOf } from '../../../src/lib/sense/ledgers';
import { dayDetail, dayView, recent, sources, status, today } from '../../../src/lib/sense/read';
import type { SenseEvent } from '../../../src/lib/time/event';
import { rollup } from '../../../src/lib/sense/roll';
import { statusText } from '../../../src/lib/sense/view-status';
import { commit, filesIn, focus, listSource, senseBox, sourceOf, type SenseBox } from '../../helpers/sense';
import { thrown } from '../../helpers/errors';

describe('sense: reading', () => {
  let box: SenseBox;
  beforeEach(() => {
    box = senseBox();
    box.deps.sources = (['appFocus', 'git', 'agentSession'] as const).map((id) => listSource(id, []));
  });
  afterEach(() => box.remove());

  const captureAt = (iso: string, events: SenseEvent[]) => {
    box.at(iso);
    return box.capture({ sources: [listSource('git', events)] });
  };

  it('writes nothing', async () => {
    await captureAt('2026-11-20T12:00:00Z', [focus('2026-11-20T11:00:00Z', 'Code')]);
    const before = filesIn(box.home);
    today(box.deps);
    status(box.deps, null);
    sources(box.deps);
    recent(box.deps, 7);
    expect(filesIn(box.home)).to.deep.equal(before);
  });

  it('shows an empty area', () => {
    expect(today(box.deps).record).to.include({ date: '2026-11-20', totalMinutes: 0, final: false });
    expect(recent(box.deps, 366)).to.deep.equal([]);
    expect(status(box.deps, null)).to.deep.include({ eventsToday: 0, lastCaptureTs: null, lastRecord: null, quarantined: 0 });
    expect(sources(box.deps).map(({ state, reason }) => [state, reason])).to.deep.equal(
      Array(3).fill(['idle', 'not captured yet']),
    );
  }); // prettier-ignore

  it('shows today in the time zone of its start', async () => {
    await captureAt('2026-11-20T12:00:00Z', [focus('2026-11-20T11:00:00Z', 'Code')]);
    const { record } = today({ ...box.deps, timezone: 'Asia/Tokyo' });
    expect(record).to.include({ date: '2026-11-20', timezone: 'UTC', totalMinutes: 2 });
  });

  it('shows another day from its log, or from its record', async () => {
    await captureAt('2026-10-01T12:00:00Z', [focus('2026-10-01T11:00:00Z', 'Code')]);
    await captureAt('2026-11-19T12:00:00Z', [
      focus('2026-10-01T11:00:00Z', 'Code'),
      focus('2026-11-19T11:00:00Z', 'Code'),
    ]);
    box.at('2026-11-20T12:00:00Z');
    const before = filesIn(box.home);
    expect(dayView(box.deps, '2026-11-19').record).to.include({ final: true, totalMinutes: 2 });
    expect(box.store.hasRecord('2026-11-19')).to.equal(false);
    expect(box.store.logBytes('2026-10-01')).to.equal(undefined);
    expect(dayView(box.deps, '2026-10-01').record).to.deep.equal(box.record('2026-10-01'));
    expect(dayView(box.deps, '2026-11-20').record).to.include({ date: '2026-11-20', final: false });
    expect(thrown(() => dayView(box.deps, '2026-09-01')).kind).to.equal('not_found');
    expect(thrown(() => dayView(box.deps, '2026-11-21')).kind).to.equal('usage');
    expect(filesIn(box.home)).to.deep.equal(before);
  });

  it('shows a past day as it is stored, even if applications have been reclassified since', async () => {
    const events = ['2026-11-18T11:00:00Z', '2026-11-19T11:00:00Z'].map((ts) => focus(ts, 'Firefox'));
    await captureAt('2026-11-18T12:00:00Z', events.slice(0, 1));
    await captureAt('2026-11-19T12:00:00Z', events);
    box.at('2026-11-20T12:00:00Z');
    const deps = { ...box.deps, classify: () => ({ kind: 'creation' as const }) };
    const [newest, stored] = recent(deps, 7);
    expect(dayView(deps, '2026-11-18').record).to.deep.equal(stored).and.include({ creationMinutes: 0 });
    expect(dayDetail(deps, '2026-11-18').timeline.apps).to.deep.equal([['Firefox', 'consumption']]);
    // The 19th has no record yet.
    expect(box.store.hasRecord('2026-11-19')).to.equal(false);
    expect(dayView(deps, '2026-11-19').record).to.deep.equal(newest).and.include({ creationMinutes: 2 });
    expect(recent(deps, 1)).to.deep.equal([newest]);
  });

  it('ignores and counts events of another day', async () => {
    const other = focus('2026-11-17T11:00:00Z', 'Code');
    await captureAt('2026-11-20T12:00:00Z', [focus('2026-11-20T11:00:00Z', 'Code')]);
    const log = box.store.logOf('2026-11-20');
    appendFileSync(log, `${JSON.stringify(other)}\n${JSON.stringify({ ...other, ts: '2026-11-17T11:02:00.000Z' })}\n`);
    expect(status(box.deps, null)).to.include({ eventsToday: 1, quarantined: 2 });
    rollup(box.deps);
    expect(box.lines('quarantine/2026-11-20.jsonl')).to.have.length(2);
    expect(box.lines('quarantine/2026-11-20.jsonl')[0]).to.include({ reason: 'from another day' });
    expect(box.record('2026-11-20').totalMinutes).to.equal(2);
  }); // prettier-ignore

  it('shows the configuration in the status', () => {
    const config = { ...box.deps.config, repos: ['/src/site'], retentionDays: 7 };
    const shown = status({ ...box.deps, config }, null);
    expect(shown).to.deep.include({ repos: ['/src/site'], retentionDays: 7 });
    const text = statusText(shown, { columns: 80, color: false, timezone: 'UTC', now: 0 });
    expect(text)
      .to.match(/^repositories {2}\/src\/site$/m)
      .and.to.match(/^event logs {4}deleted after 7 days; records remain$/m);
  });

  it('lists sources that failed', async () => {
    box.deps.sources = [
      sourceOf('appFocus', () => Promise.resolve({ events: [], cursor: 1, state: 'idle' })),
      sourceOf('git', () => Promise.reject(new Error('broken'))),
      sourceOf('agentSession', () => Promise.resolve({ events: [], cursor: 1, state: 'ok' })),
    ];
    await box.capture();
    const { notSeen } = today(box.deps);
    expect(notSeen.idleMinutes).to.equal(2);
    expect(notSeen.sources.map(({ label, reason }) => [label, reason.includes('broken')])).to.deep.equal([['the git', true]]);
    const off = { ...box.deps, config: { ...box.deps.config, sources: { appFocus: true, git: false, agentSession: true, web: true } } };
    expect(today(off).notSeen.sources[0]?.reason).to.include('sense.sources.git');
    const kill = { ...box.deps, config: { ...box.deps.config, enabled: false } };
    expect(sources(kill).every(({ state, reason }) => state === 'off' && reason?.includes('sense.enabled'))).to.equal(true);
  }); // prettier-ignore

  it('returns the newest records first', async () => {
    await captureAt('2026-11-10T12:00:00Z', [commit('2026-11-10T11:00:00Z', 'app', 'a')]);
    await captureAt('2026-11-20T12:00:00Z', []);
    expect(recent(box.deps, 3).map(({ date }) => date)).to.deep.equal([
      '2026-11-19',
      '2026-11-18',
      '2026-11-17',
    ]);
    expect(recent(box.deps, 366)).to.have.length(10);
    expect(recent(box.deps, 2, { to: '2026-11-12' }).map(({ date }) => date)).to.deep.equal([
      '2026-11-12',
      '2026-11-11',
    ]);
    for (const days of [0, 367, -1, 1.5, Number.NaN])
      expect(thrown(() => recent(box.deps, days)).kind, String(days)).to.equal('usage');
  });

  it('counts invalid lines of all days', async () => {
    await captureAt('2026-11-19T12:00:00Z', [focus('2026-11-19T11:00:00Z', 'Code')]);
    writeFileSync(box.store.logOf('2026-11-19'), 'null\nx\n', { flag: 'a' });
    await captureAt('2026-11-20T12:00:00Z', []);
    expect(status(box.deps, null).quarantined).to.equal(2);
    box.write('sense/events/2026-11-20.jsonl', '{}\n{"ts":"2026-11-20T1');
    expect(status(box.deps, null)).to.deep.include({ quarantined: 4, eventsToday: 0 });
    expect(today(box.deps).record.totalMinutes).to.equal(0);
  });

  it("shows today's events and the newest time of each source", async () => {
    box.deps.sources = [
      listSource('appFocus', [focus('2026-11-20T11:00:00Z', 'Code'), focus('2026-11-20T10:00:00Z', 'Code')]),
      listSource('git', []),
      listSource('agentSession', []),
    ];
    await box.capture();
    const row = sources(box.deps)[0];
    expect(row).to.include({
      eventsToday: 2,
      lastEventTs: '2026-11-20T11:00:00.000Z',
      state: 'ok',
      enabled: true,
    });
    rmSync(box.store.logOf('2026-11-20'));
    expect(sources(box.deps)[0], 'remembered').to.include({
      eventsToday: 0,
      lastEventTs: '2026-11-20T11:00:00.000Z',
    });
  });

  it('leaves out a record without a field, and names its file', async () => {
    await captureAt('2026-11-18T12:00:00Z', [
      focus('2026-11-18T11:00:00Z', 'Code'),
      commit('2026-11-18T11:00:00Z', 'site', 'a'),
    ]);
    await captureAt('2026-11-20T12:00:00Z', []);
    const sound = box.record('2026-11-18');
    const damaged = ['{}', 'null', '[]', 'text', ''];
    for (const key of Object.keys(sound).filter(
      (name) => !['ledger', 'narrative', 'goalTags'].includes(name),
    ))
      damaged.push(JSON.stringify({ ...sound, [key]: undefined }));
    damaged.push(
      JSON.stringify({ ...sound, commits: { count: 1 } }),
      JSON.stringify({ ...sound, apps: [{}] }),
    );
    for (const text of damaged) {
      const path = box.write('sense/daily/2026-11-18.json', text);
      const told: string[] = [];
      const days = recent(box.deps, 7, {
        onDamaged: ({ kind, message }) => told.push(`${kind} ${message}`),
      });
      expect(days.map(({ date }) => date)).to.deep.equal(['2026-11-19']);
      expect(told).to.deep.equal([`config ${path} is not a valid daily record.`]);
      expect(status(box.deps, null).damagedDays).to.deep.equal(['2026-11-18']);
    }
  });

  it('reports a day whose record and log are both unreadable, and replaces neither', async () => {
    await captureAt('2026-11-18T12:00:00Z', [focus('2026-11-18T11:00:00Z', 'Code')]);
    await captureAt('2026-11-20T12:00:00Z', []);
    const record = box.write('sense/daily/2026-11-18.json', '{"date":');
    const log = box.write('sense/events/2026-11-18.jsonl', '{"ts":\nnone\n');
    const act = [
      () => dayView(box.deps, '2026-11-18'),
      () => rollup(box.deps, '2026-11-18'),
      () => dayDetail(box.deps, '2026-11-18'),
    ];
    for (const read of act) expect(thrown(read)).to.include({ kind: 'config' });
    const { damaged, notRecorded } = ledgersOf(box.deps, ['2026-11-18']);
    expect(damaged.map(({ message }) => message)).to.deep.equal([`${record} is not a valid daily record.`]);
    expect(notRecorded).to.equal(0);
    expect(status(box.deps, null)).to.deep.include({ damagedDays: ['2026-11-18'], lostDays: ['2026-11-18'] });
    await captureAt('2026-11-20T12:10:00Z', [focus('2026-11-20T12:05:00Z', 'Code')]);
    expect([record, log].map((path) => readFileSync(path, 'utf8'))).to.deep.equal([
      '{"date":',
      '{"ts":\nnone\n',
    ]);
    // Without its record, the day has nothing more than its log.
    rmSync(record);
    expect(dayView(box.deps, '2026-11-18').record.totalMinutes).to.equal(0);
  });

  it('refuses a log that is too large, without reading it', async () => {
    await captureAt('2026-11-20T12:00:00Z', []);
    const path = box.write('sense/events/2026-11-20.jsonl', '');
    const { truncateSync } = await import('node:fs');
    truncateSync(path, 100 * 1024 * 1024);
    const error = thrown(() => today(box.deps));
    expect(error.kind).to.equal('config');
    expect(error.message).to.include(path).and.include('100 MiB');
  });
});
