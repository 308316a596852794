import { expect } from 'chai';

import type { FrontAppReading } from '../../../src/lib/sense/front-app';
import type { IdleReading } from '../../../src/lib/sense/idle';
import { appFocusSource, type AppFocusDeps } from '../../../src/lib/sense/app-focus';
import { readEvent } from '../../../src/lib/time/event';
import type { Collected } from '../../../src/lib/sense/source';
import { recordedDesktop } from '../../helpers/fake-desktop';
import { seeded } from '../../helpers/random';
import { long } from '../../helpers/long';

const NOW = Date.parse('2026-11-20T08:14:00.000Z');
const FIREFOX: FrontAppReading = {
  state: 'seen',
  app: { app: 'Firefox', bundleId: 'org.mozilla.firefox', pid: 9 },
  via: 'x11',
};
const LAST = { lastSampleMs: NOW - 120_000 };
const BUSY: IdleReading = { idleMs: 1000, locked: false, via: 'x11' };

interface Situation {
  sight?: FrontAppReading;
  idle?: IdleReading;
  config?: Partial<AppFocusDeps['config']>;
}

function collect(situation: Situation, cursor: unknown, nowMs = NOW): Promise<Collected> {
  const source = appFocusSource({
    desktop: recordedDesktop('linux', {}),
    config: { pollIntervalSec: 120, idleAfterSec: 300, countsAsActive: [], exclude: [], ...situation.config },
    machineId: 'abcdef012345',
    timezone: 'UTC',
    frontApp: () => Promise.resolve(situation.sight ?? FIREFOX),
    idle: () => Promise.resolve(situation.idle ?? BUSY),
  });
  return source.collect({ nowMs, dayStartMs: NOW - 1e7, cursor });
}

const seconds = ({ events }: Collected): unknown => events[0]?.detail?.['intervalSec'];

describe('sense/app-focus', () => {
  it('stores one valid event per sample', async () => {
    const { events, state, cursor } = await collect({}, LAST);
    expect(events).to.deep.equal([
      {
        ts: '2026-11-20T08:14:00.000Z',
        type: 'app-focus',
        source: 'appFocus',
        app: 'Firefox',
        detail: {
          ...{ intervalSec: 120, idleSec: 1, via: 'x11' },
          ...{ bundleId: 'org.mozilla.firefox', machine: 'abcdef012345' },
        },
      },
    ]);
    expect(readEvent(JSON.parse(JSON.stringify(events[0])))).to.deep.equal(events[0]);
    expect({ state, cursor }).to.deep.equal({ state: 'ok', cursor: { lastSampleMs: NOW, carryMs: 0 } });
  });

  it('stores the time since the last input, if the desktop reports it', async () => {
    const idleSec = async (idle: IdleReading): Promise<unknown> =>
      (await collect({ idle }, LAST)).events[0]?.detail?.['idleSec'];
    expect(await idleSec({ via: 'x11', idleMs: 90_400 })).to.equal(90);
    expect(await idleSec({ via: 'logind', locked: false })).to.equal(undefined);
    expect(await idleSec({ unknown: 'no adapter' })).to.equal(undefined);
  });

  describe('time', () => {
    it('counts the time since the last sample, at most a poll interval', async () => {
      expect(seconds(await collect({}, { lastSampleMs: NOW - 30_000 }))).to.equal(30);
      expect(seconds(await collect({}, { lastSampleMs: NOW - 120_400 }))).to.equal(120);
      expect(seconds(await collect({}, { lastSampleMs: NOW - 239_000 }))).to.equal(120);
    });

    it('counts nothing before the first sample, or in a gap', async () => {
      expect((await collect({}, undefined)).events).to.deep.equal([]);
      expect((await collect({}, { lastSampleMs: NOW - 241_000 })).events).to.deep.equal([]);
      expect((await collect({}, { lastSampleMs: NOW - 3_600_000 })).events).to.deep.equal([]);
    });

    it('counts no time twice at any capture times', async () => {
      let cursor: unknown = { lastSampleMs: NOW };
      let total = 0;
      let at = NOW;
      for (const step of [120_000, 700, 900, 41_333, 1, 0, 250, 77_777, 119_999, 999, 1001, 60_500]) {
        at += step;
        const sample = await collect({}, cursor, at);
        total += Number(seconds(sample) ?? 0);
        cursor = sample.cursor;
      }
      expect(total).to.equal(Math.floor((at - NOW) / 1000));
    });

    long('adds up to the sampled time with any jitter', async () => {
      for (let seed = 1; seed <= 40; seed += 1) {
        const random = seeded(seed).next;
        let cursor: unknown = { lastSampleMs: NOW };
        let [at, counted, sampledMs] = [NOW, 0, 0];
        for (let n = 0; n < 220; n += 1) {
          // About the poll interval as a rule, at times far less or far more, and at times nobody is there.
          const kind = random();
          const gapMs = Math.floor(kind < 0.8 ? 119_000 + random() * 2_000 : random() * 200_000);
          const isAway = random() < 0.1;
          at += gapMs;
          if (!isAway) sampledMs += Math.min(gapMs, 120_000);
          const sample = await collect(isAway ? { idle: { idleMs: 900_000, via: 'x11' } } : {}, cursor, at);
          const interval = Number(seconds(sample) ?? 0);
          expect(interval).to.be.at.most(120);
          counted += interval;
          cursor = sample.cursor;
        }
        expect(counted, `seed ${seed}`).to.equal(Math.floor(sampledMs / 1000));
      }
    });

    it('stores no event without time', async () => {
      const sample = await collect({}, { lastSampleMs: NOW });
      expect(sample.events).to.deep.equal([]);
      expect(sample.state).to.equal('ok');
    });

    it('counts nothing after the clock was set back until the next sample', async () => {
      const first = await collect({}, { lastSampleMs: NOW + 3_600_000 });
      expect(first.events).to.deep.equal([]);
      expect(first.cursor).to.deep.equal({ lastSampleMs: NOW, carryMs: 0 });
      expect(seconds(await collect({}, first.cursor, NOW + 60_000))).to.equal(60);
    });

    it('starts over with an invalid cursor', async () => {
      for (const cursor of [null, 'x', {}, { lastSampleMs: 'a' }, { lastSampleMs: NaN }]) {
        expect((await collect({}, cursor)).cursor, JSON.stringify(cursor)).to.deep.equal({
          lastSampleMs: NOW,
          carryMs: 0,
        });
      }
    });

    it('recovers the last sample time from the stored events', () => {
      const source = appFocusSource({
        desktop: recordedDesktop('linux', {}),
        config: { pollIntervalSec: 120, idleAfterSec: 300, countsAsActive: [], exclude: [] },
        machineId: 'm',
        timezone: 'UTC',
      });
      const event = (ts: string, name: string) => ({ ts, type: 'app-focus' as const, source: name });
      const stored = [
        event('2026-11-20T08:02:00Z', 'appFocus'),
        event('2026-11-20T08:00:00Z', 'appFocus'),
        event('2026-11-20T08:09:00Z', 'git'),
      ];
      expect(source.recover?.(stored)).to.deep.equal({
        lastSampleMs: Date.parse('2026-11-20T08:02:00Z'),
        carryMs: 0,
      });
      expect(source.recover?.([])).to.equal(undefined);
    });
  });

  describe('time away', () => {
    const away: IdleReading = { idleMs: 12.5 * 60_000, via: 'x11' };

    async function nothing(
      situation: Situation,
      reason: string,
      kind?: 'idle' | 'locked',
      from = '2026-11-20T08:13:00.000Z',
    ): Promise<void> {
      const sample = await collect(situation, { lastSampleMs: NOW - 60_000 });
      const detail = { from, reason: kind, machine: 'abcdef012345' };
      const event = { ts: '2026-11-20T08:14:00.000Z', type: 'away', source: 'appFocus', detail };
      expect(sample).to.deep.equal({
        events: kind === undefined ? [] : [event],
        cursor: { lastSampleMs: NOW, carryMs: 0 },
        state: 'idle',
        reason,
      });
    }

    it('stores the time away, from the last input on once the idle limit is reached', async () => {
      await nothing({ idle: away }, 'idle 12 min', 'idle');
      const limit = { idleMs: 300_000, via: 'x' };
      await nothing({ idle: limit }, 'idle 5 min', 'idle', '2026-11-20T08:09:00.000Z');
      expect(
        seconds(await collect({ idle: { ...limit, idleMs: 299_999 } }, { lastSampleMs: NOW - 9_000 })),
      ).to.equal(9);
    });

    it('stores only the time away while locked', async () => {
      await nothing({ idle: { locked: true, via: 'logind' } }, 'locked', 'locked');
      const input = '2026-11-20T08:13:50.000Z';
      await nothing({ idle: { idleMs: 10_000, locked: true, via: 'x' } }, 'locked', 'locked', input);
      await nothing({ idle: { idleMs: 0, locked: true, via: 'x' } }, 'locked');
    });

    it('covers a poll interval if you were away before, and nothing at the first sample', async () => {
      const from = async (cursor: unknown): Promise<unknown> =>
        (await collect({ idle: away }, cursor)).events[0]?.detail?.['from'];
      expect(await from({ lastSampleMs: NOW - 300_000 })).to.equal('2026-11-20T08:12:00.000Z');
      expect(await from({ lastSampleMs: NOW - 3_600_000 })).to.equal('2026-11-20T08:01:30.000Z');
      expect(await from(undefined)).to.equal(undefined);
      expect(await from({ lastSampleMs: NOW + 60_000 })).to.equal(undefined);
    });

    it('stores nothing without a front application', async () => {
      await nothing({ sight: { state: 'none', via: 'sway' } }, 'no window or terminal has the focus');
    });

    it('counts applications in countsAsActive, unless locked', async () => {
      const config = { countsAsActive: ['FIREFOX'] };
      expect((await collect({ idle: away, config }, LAST)).events).to.have.length(1);
      await nothing({ idle: { ...away, locked: true }, config }, 'locked', 'locked');
      await nothing({ idle: away, config: { countsAsActive: ['fire'] } }, 'idle 12 min', 'idle');
    });

    it('counts all time with a warning when idle time is unknown', async () => {
      const sample = await collect({ idle: { unknown: 'no such protocol' } }, LAST);
      expect(sample.events).to.have.length(1);
      expect(sample).to.include({ state: 'ok' });
      expect(sample.reason).to.include('no such protocol');
      expect((await collect({ idle: { locked: false, via: 'logind' } }, LAST)).events).to.have.length(1);
    });
  });

  describe('exclusion', () => {
    async function excluded(entry: string, sight: FrontAppReading = FIREFOX): Promise<boolean> {
      const sample = await collect({ sight, config: { exclude: [entry] } }, { lastSampleMs: NOW - 60_000 });
      expect(sample.cursor, 'the sample time advances').to.deep.equal({ lastSampleMs: NOW, carryMs: 0 });
      if (sample.events.length === 0) {
        expect(sample.state).to.equal('ok');
        expect(JSON.stringify(sample), 'an excluded name stands nowhere').to.not.match(/firefox/i);
      }
      return sample.events.length === 0;
    }

    it('matches whole names and ids without case', async () => {
      expect(await excluded('firefox')).to.equal(true);
      expect(await excluded('ORG.Mozilla.Firefox')).to.equal(true);
      for (const part of ['fox', 'Fire', 'mozilla', 'org.mozilla', '', '.*', 'Firefo']) {
        expect(await excluded(part), part).to.equal(false);
      }
    });

    it('matches globs', async () => {
      expect(await excluded('Fire*')).to.equal(true);
      expect(await excluded('org.mozilla.*')).to.equal(true);
      expect(await excluded('F?refox')).to.equal(true);
      expect(await excluded('*chrome*')).to.equal(false);
      expect(await excluded('Firefo[x]')).to.equal(false);
      expect(await excluded('{Firefox,a}*')).to.equal(false);
      expect(await excluded('!Chrome*')).to.equal(false);
    });

    it('treats other special characters literally', async () => {
      const sight: FrontAppReading = { state: 'seen', app: { app: 'Q (beta) [x64]/2' }, via: 'x11' };
      expect(await excluded('q (beta) [x64]*', sight)).to.equal(true);
      expect(await excluded('Q (beta) [X64]/2', sight)).to.equal(true);
    });
  });

  describe('failures', () => {
    it('passes the reason on, and keeps the cursor', async () => {
      for (const state of ['unsupported', 'error'] as const) {
        const cursor = { lastSampleMs: NOW - 5000 };
        const sample = await collect({ sight: { state, reason: 'Install it.' } }, cursor);
        expect(sample).to.deep.equal({ events: [], cursor, state, reason: 'Install it.' });
      }
    });
  });

  it('cleans and truncates names', async () => {
    const app = { app: `\u001b]0;x\u0007Evil\u202e\n${'é'.repeat(500)}`, bundleId: 'a\u0000b'.repeat(200) };
    const { events } = await collect({ sight: { state: 'seen', app, via: 'x11' } }, LAST);
    expect(events[0]?.app)
      .to.match(/^Evil é+$/)
      .and.to.have.lengthOf(200);
    expect(events[0]?.detail?.['bundleId'])
      .to.match(/^[ab]+$/)
      .and.to.have.lengthOf(200);
    const empty = await collect(
      { sight: { state: 'seen', app: { app: '\u0007', bundleId: '' }, via: 'x' } },
      LAST,
    );
    expect(empty.events[0]?.app).to.equal('unknown');
    expect(empty.events[0]?.detail).to.not.have.property('bundleId');
  });
});
