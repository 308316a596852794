import { expect } from 'chai';
import { appendFileSync, rmSync, writeFileSync } from 'node:fs';

import { makeClassifier } from '../../../src/lib/time/classify';
import { liveReads, type LiveReads } from '../../../src/lib/sense/live';
import { sources, status, today } from '../../../src/lib/sense/read';
import { focus, listSource, senseBox, type SenseBox } from '../../helpers/sense';

describe('sense: cached reads', () => {
  let box: SenseBox;
  let live: LiveReads;
  const list = [focus('2026-11-20T11:00:00Z', 'Code')];
  const scheduler = { kind: 'the daemon', installed: true };

  beforeEach(async () => {
    box = senseBox();
    live = liveReads(scheduler);
    list.length = 1;
    box.deps.sources = ['appFocus', 'git', 'agentSession'].map((id) =>
      id === 'appFocus' ? listSource('appFocus', list) : listSource(id as 'git', []),
    );
    await box.capture();
  });
  afterEach(() => box.remove());

  /** The same as the reads that remember nothing; the time at which it was made is its own. */
  const isRight = (): void => {
    const record = live.today(box.deps);
    expect(Date.parse(record.generatedAt)).to.be.at.most(box.deps.clock.now());
    expect(record).to.deep.equal({ ...today(box.deps).record, generatedAt: record.generatedAt });
    expect(live.sources(box.deps)).to.deep.equal(sources(box.deps));
    expect(live.status(box.deps)).to.deep.equal(status(box.deps, scheduler));
  };
  const log = (): string => box.store.logOf('2026-11-20');

  it('equal uncached reads, and return the same object until something changes', () => {
    isRight();
    const record = live.today(box.deps);
    box.at('2026-11-20T12:30:00Z');
    expect(live.today(box.deps)).to.equal(record);
    expect(live.sources(box.deps)).to.equal(live.sources(box.deps));
    expect(live.status(box.deps)).to.equal(live.status(box.deps));
  });

  it('notice appended events', async () => {
    expect(live.today(box.deps).totalMinutes).to.equal(2);
    for (let minute = 2; minute <= 10; minute += 2) {
      const at = `2026-11-20T12:${String(minute).padStart(2, '0')}:00Z`;
      list.push(focus(at, 'Code'));
      box.at(at);
      await box.capture();
      expect(live.today(box.deps).totalMinutes).to.equal(2 + minute);
      expect(live.sources(box.deps)[0]?.eventsToday).to.equal(1 + minute / 2);
      expect(live.status(box.deps).lastCaptureTs).to.equal(new Date(at).toISOString());
      isRight();
    }
  });

  it('notice an incomplete line, and a log that is truncated, replaced or deleted', () => {
    live.today(box.deps);
    const line = JSON.stringify(focus('2026-11-20T11:30:00Z', 'Slack'));
    appendFileSync(log(), line.slice(0, 20));
    isRight();
    appendFileSync(log(), `${line.slice(20)}\n`);
    isRight();
    expect(live.today(box.deps).totalMinutes).to.equal(4);
    writeFileSync(log(), `${line}\n`);
    isRight();
    expect(live.today(box.deps).totalMinutes).to.equal(2);
    rmSync(log());
    isRight();
    expect(live.today(box.deps).totalMinutes).to.equal(0);
  });

  it('start a new day at local midnight', () => {
    expect(live.today(box.deps)).to.include({ date: '2026-11-20', totalMinutes: 2 });
    box.at('2026-11-20T23:59:59.999Z');
    expect(live.today(box.deps).date).to.equal('2026-11-20');
    box.at('2026-11-21T00:00:00Z');
    expect(live.today(box.deps)).to.include({ date: '2026-11-21', totalMinutes: 0, final: false });
    expect(live.sources(box.deps)[0]?.eventsToday).to.equal(0);
    isRight();
    box.at('2026-11-20T12:00:00Z');
    expect(live.today(box.deps), 'a clock that was put back').to.include({
      date: '2026-11-20',
      totalMinutes: 2,
    });
  });

  it('notice a change of time zone, classification and poll interval', () => {
    const before = live.today(box.deps);
    expect(before.creationMinutes).to.equal(2);
    const east = { ...box.deps, timezone: 'Pacific/Auckland' };
    expect(live.today(east)).to.include({ date: '2026-11-21' });
    const other = {
      ...box.deps,
      classify: makeClassifier('templates', [{ key: 'app', pattern: 'Code', kind: 'consumption' }]),
    };
    expect(live.today(other)).to.include({ creationMinutes: 0, consumptionMinutes: 2 });
    expect(live.today(box.deps)).to.deep.include({ creationMinutes: 2, date: '2026-11-20' });
    const off = { ...box.deps, config: { ...box.deps.config, enabled: false } };
    expect(live.status(off).enabled).to.equal(false);
    expect(live.status(box.deps).enabled).to.equal(true);
  });

  it('notice a new record', async () => {
    box.at('2026-11-21T08:00:00Z');
    expect(live.status(box.deps).lastRecord).to.equal(null);
    await box.capture();
    expect(live.status(box.deps).lastRecord).to.equal('2026-11-20');
  });
});
