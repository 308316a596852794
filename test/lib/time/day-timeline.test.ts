import { expect } from 'chai';
import { appendFileSync } from 'node:fs';

import { toIso } from '../../../src/lib/platform/time/clock';
import { dayBounds } from '../../../src/lib/platform/time/time';
import { makeClassifier } from '../../../src/lib/time/classify';
import { dayTimeline, type DayTimeline } from '../../../src/lib/time/day-timeline';
import type { SenseEvent } from '../../../src/lib/time/event';
import { liveReads } from '../../../src/lib/sense/live';
import { dayDetail } from '../../../src/lib/sense/read';
import { commit, focus, listSource, senseBox } from '../../helpers/sense';

const classify = makeClassifier('templates');
const NINE = 9 * 3600;

function timelineOf(events: readonly SenseEvent[], day = '2026-11-20', zone = 'UTC'): DayTimeline {
  return dayTimeline(events, { ...dayBounds(day, zone), pollIntervalSec: 120, classify });
}

const at = (minute: number): string => toIso(Date.parse('2026-11-20T09:00:00Z') + minute * 60_000);
const front = (minute: number, app: string, repo?: string, sec = 120): SenseEvent => ({
  ...focus(at(minute), app, sec),
  ...(repo === undefined ? {} : { repo }),
});
const state = (minute: number, session: string, to: string, more: object = {}): SenseEvent => ({
  ...{ ts: at(minute), type: 'session-state', source: 'agentSession', repo: 'shop' },
  detail: { session, state: to, ...more },
});

describe('sense: the timeline of a day', () => {
  it('joins samples of one application and repository, in any order', () => {
    const events = [
      ...[2, 4, 6].map((minute) => front(minute, 'Code', 'shop')),
      front(8, 'Code', 'infra'),
      ...[10, 12].map((minute) => front(minute, 'firefox')),
      front(20, 'Firefox'),
    ];
    const expected = {
      apps: [
        ['Code', 'creation'],
        ['firefox', 'consumption'],
      ],
      repos: ['infra', 'shop'],
      spans: [
        [NINE, 360, 0, 1],
        [NINE + 360, 120, 0, 0],
        [NINE + 480, 240, 1],
        [NINE + 1080, 120, 1],
      ],
    };
    expect(timelineOf(events)).to.deep.include(expected);
    expect(timelineOf([...events].reverse())).to.deep.include(expected);
  });

  it('leaves gaps open, and lets samples of one machine not overlap', () => {
    const { spans } = timelineOf([
      front(2, 'Code'),
      front(3, 'Slack'),
      front(8, 'Slack'),
      front(8.1, 'Slack'),
    ]);
    expect(spans.map(([from, length]) => [from - NINE, length])).to.deep.equal([
      [0, 120],
      [120, 60],
      [360, 126],
    ]);
  });

  it('cuts at the bounds of the day, which may have 25 hours', () => {
    const events = [
      { ...focus('2026-10-24T22:01:00Z', 'Code'), detail: { intervalSec: 300 } },
      focus('2026-10-25T22:59:00Z', 'Code'),
    ];
    const { spans } = timelineOf(events, '2026-10-25', 'Europe/Berlin');
    expect(spans).to.deep.equal([
      [0, 60, 0],
      [25 * 3600 - 180, 120, 0],
    ]);
  });

  it('names commits once, and tells time away', () => {
    const twice = {
      ...commit(at(5), 'shop', 'abc'),
      detail: { ...commit(at(5), 'shop', 'abc').detail, branch: 'main' },
    };
    const away = {
      ts: at(40),
      type: 'away' as const,
      source: 'appFocus',
      detail: { from: at(30), reason: 'locked' },
    };
    const { commits, away: spells } = timelineOf([commit(at(6), 'infra', 'def'), twice, twice, away]);
    expect(commits).to.deep.equal([
      { at: NINE + 300, repo: 'shop', branch: 'main', sha: 'abc', subject: 'Commit abc' },
      { at: NINE + 360, repo: 'infra', branch: null, sha: 'def', subject: 'Commit def' },
    ]);
    expect(spells).to.deep.equal([[NINE + 1800, 600, 'locked']]);
  });

  it('tells when a session worked and when it waited, as far as captures cover it', () => {
    const { sessions } = timelineOf([
      state(0, 'a', 'working', { branch: 'login' }),
      state(10, 'a', 'waiting', { branch: 'login' }),
      state(14, 'a', 'working', { branch: 'login' }),
      state(20, 'a', 'ready', { branch: 'login' }),
      front(25, 'Code'),
      front(200, 'Code'),
    ]);
    expect(sessions).to.deep.equal([
      {
        id: 'a',
        repo: 'shop',
        branch: 'login',
        parts: [
          [NINE, 600, 'w'],
          [NINE + 600, 240, 'y'],
          [NINE + 840, 360, 'w'],
          [NINE + 1200, 300, 'r'],
          [NINE + 198 * 60, 120, 'r'],
        ],
      },
    ]);
  });

  it('has 2,000 spans in 30 kB', () => {
    const apps = ['Ghostty', 'Code', 'Firefox', 'Slack', 'Zed'];
    const start = Date.parse('2026-11-20T00:00:00Z');
    const events = Array.from({ length: 2000 }, (_, i) => ({
      ...focus(toIso(start + (i + 1) * 43_000), apps[i % 5] ?? '', 43),
      ...(i % 2 === 0 ? { repo: `repo-${i % 7}` } : {}),
    }));
    const timeline = timelineOf(events);
    expect(timeline.spans).to.have.length(2000);
    expect(JSON.stringify(timeline).length).to.be.at.most(30_000);
  });

  it('comes with the record, and stays the same object until something changes', async () => {
    const box = senseBox('2026-11-20T12:00:00Z');
    try {
      box.deps.sources = (['appFocus', 'git', 'agentSession'] as const).map((id) => listSource(id, []));
      await box.capture({ sources: [listSource('appFocus', [focus(at(2), 'Code')])] });
      const live = liveReads(null);
      const first = live.day(box.deps, '2026-11-20');
      expect(first).to.deep.include({ raw: true, startMs: Date.parse('2026-11-20T00:00:00Z') });
      expect(first.record.totalMinutes).to.equal(2);
      box.at('2026-11-20T12:10:00Z');
      expect(live.day(box.deps, '2026-11-20')).to.equal(first);
      appendFileSync(box.store.logOf('2026-11-20'), `${JSON.stringify(focus(at(4), 'Code'))}\n`);
      expect(live.day(box.deps, '2026-11-20').timeline.spans).to.deep.equal([[NINE, 240, 0]]);
      box.at('2026-11-21T12:00:00Z');
      expect(live.day(box.deps, '2026-11-20').record.final).to.equal(true);
      await box.capture();
      box.store.removeLog('2026-11-20');
      const kept = dayDetail(box.deps, '2026-11-20');
      expect([kept.raw, kept.record.totalMinutes, kept.timeline.spans]).to.deep.equal([false, 4, []]);
      expect(() => dayDetail(box.deps, '2026-11-19')).to.throw('Nothing is stored for 2026-11-19.');
      expect(() => dayDetail(box.deps, '2026-11-22')).to.throw('2026-11-22 is in the future.');
    } finally {
      box.remove();
    }
  });
});
