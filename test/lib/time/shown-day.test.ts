import { expect } from 'chai';

import { dayBounds } from '../../../src/lib/platform/time/time';
import { makeClassifier } from '../../../src/lib/time/classify';
import type { SenseEvent } from '../../../src/lib/time/event';
import { shownDay, visibleEvents, type Shown } from '../../../src/lib/time/shown-day';
import { buildDailyRecord, focus } from '../../helpers/sense';

const DAY = '2026-11-20';
const options = { pollIntervalSec: 120, classify: makeClassifier('templates'), ...dayBounds(DAY, 'UTC') };
const SHOWN: Shown = {
  isShown: (id) => id.startsWith('open'),
  isRestrictedRepo: (repo, path) => (path ?? repo).includes('client'),
};

const sample = (time: string, repo: string, detail: object = {}): SenseEvent => ({
  ...focus(`${DAY}T${time}Z`, 'Code'),
  repo,
  detail: { intervalSec: 120, branch: 'main', ...detail },
});
const commit = (repo: string, path: string): SenseEvent => ({
  ...{ ts: `${DAY}T09:30:00.000Z`, type: 'git-commit', source: 'git', repo },
  detail: { sha: path, identity: path, subject: 'x', path },
});
const state = (session: string, time: string, more: object, repo = 'shop'): SenseEvent => ({
  ...{ ts: `${DAY}T${time}.000Z`, type: 'session-state', source: 'agentSession', repo },
  detail: { session, state: 'working', ...more },
});

describe('what other machines may see of a day (lib)', () => {
  it('hides the repository in front of a session that must not be shown, in both forms of its id', () => {
    const shown = (sessions: unknown): unknown => {
      const [event] = visibleEvents([sample('09:02:00', 'shop', { sessions })], SHOWN);
      expect(event?.app).to.equal('Code');
      return event?.repo;
    };
    expect(shown(['open'])).to.equal('shop');
    expect(shown([{ id: 'open' }])).to.equal('shop');
    expect(shown([])).to.equal('shop');
    expect(shown(['open', { id: 'secret' }])).to.equal(undefined);
    expect(shown(['secret'])).to.equal(undefined);
    expect(shown([5])).to.equal(undefined);
  });

  it('leaves out restricted repositories by their path, and by name if the path is unknown', () => {
    const events = [
      commit('shop', '/work/client/shop'),
      commit('shop', '/work/shop'),
      commit('client', '/gone'),
    ];
    expect(visibleEvents(events, SHOWN).map(({ detail }) => detail?.['path'])).to.deep.equal([
      '/work/shop',
      '/gone',
    ]);
    const [event] = visibleEvents([sample('09:02:00', 'client')], SHOWN);
    expect(event).to.deep.equal({ ...focus(`${DAY}T09:02:00Z`, 'Code'), detail: { intervalSec: 120 } });
    const both = [state('open', '09:00:00', {}), state('open', '09:10:00', {}, 'client')];
    expect(visibleEvents(both, SHOWN)).to.deep.equal([]);
  });

  it('computes every sum without the hidden sessions and commits, but keeps your time', () => {
    const open = [
      sample('09:02:00', 'shop', { sessions: ['open'] }),
      state('open', '09:00:00', {}),
      state('open', '09:30:00', { state: 'over' }),
      commit('shop', '/work/shop'),
    ];
    const hidden = [
      sample('09:12:00', 'client', { sessions: ['secret'] }),
      ...['secret', 'stray'].flatMap((id) => [
        state(id, '09:00:00', {}),
        state(id, '09:10:00', { state: 'waiting', reason: 'permission_prompt' }),
        state(id, '09:16:00', { prompt: true }),
        state(id, '09:30:00', { state: 'over' }),
      ]),
      commit('shop', '/work/client/shop'),
    ];
    const label = { version: '1.2.0', generatedAt: `${DAY}T23:00:00.000Z`, final: true };
    const build = (events: SenseEvent[]) =>
      buildDailyRecord(DAY, events, { ...options, timezone: 'UTC', ...label });
    const all = build([...open, ...hidden]);
    expect(all.ledger?.parallel.most).to.equal(3);
    expect(all.ledger?.answers.count).to.equal(2);
    const { record, parts } = shownDay(all, [...open, ...hidden], options, SHOWN);
    const alone = build(open);
    expect(record.totalMinutes).to.equal(4);
    expect(record.ledger?.attention.reduce((sum, { minutes }) => sum + minutes, 0)).to.equal(4);
    expect(record.commits).to.deep.equal(alone.commits);
    expect(record.sessions).to.deep.equal(alone.sessions);
    expect(record.ledger?.parallel).to.deep.equal({ most: 1, mean: 1 });
    expect(record.ledger?.answers).to.deep.equal({ count: 0, medianMinutes: null, longestMinutes: null });
    expect(record.ledger?.heldUpMinutes).to.equal(0);
    expect(record.ledger?.apps.map(({ cells }) => cells.waiting)).to.deep.equal([undefined]);
    expect(parts.commits).to.have.length(1);
    expect(parts.sessions.map(({ id }) => id)).to.deep.equal(['open']);
  });
});
