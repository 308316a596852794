import { expect } from 'chai';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  rmdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import { acceptNotification } from '../../../src/lib/notify/accept';
import { deliverWaiting, keepDelivering, type Delivering } from '../../../src/lib/notify/deliver';
import { closeDispatcher, isBusy, resumeAll, scan, startDispatcher } from '../../../src/lib/notify/dispatch';
import type { Outcome } from '../../../src/lib/notify/channels/channel';
import { mute, muteState, unmute } from '../../../src/lib/notify/routing';
import { checkOutbox, outboxOf, outboxStatus, waiting } from '../../../src/lib/notify/outbox';
import { claim } from '../../../src/lib/platform/files/spool';
import { retry, whyNotReached } from '../../../src/lib/notify/history';
import { until } from '../../helpers/desktop-kit';
import { MINUTE, NINE, notifyWorld, type NotifyWorld } from '../../helpers/notify';
import { rejection, thrown } from '../../helpers/errors';

const HOUR = 60 * MINUTE;
const AGAIN: Outcome = { outcome: 'again', reason: 'It is down.', hint: 'Wait.' };
const DOWN: Outcome = { ...AGAIN, all: true };

describe('notify: delivery', () => {
  let world: NotifyWorld;
  let delivering: Delivering | undefined;
  beforeEach(() => {
    world = notifyWorld();
  });
  afterEach(async () => {
    // Also of a test that failed in the midst.
    await delivering?.close(0);
    delivering = undefined;
    expect(world.faults).to.deep.equal([]);
    world.remove();
  });

  const send = async (body: object): Promise<string> =>
    (await acceptNotification(world.deps, { message: 'Hello', ...body })).id;
  const deliver = (): Promise<boolean> => deliverWaiting(world.deps, { patienceMs: 0, longestMs: 20_000 });
  const texts = (channel: 'voice' | 'push' | 'chat' | 'desktop' | 'sms'): string[] =>
    world.channels[channel].got.map(({ message }) => message);

  it('accepts at once, before anything is delivered', async () => {
    const accepted = await acceptNotification(world.deps, { message: 'Hello', event: 'security' });
    expect(accepted).to.have.keys('status', 'id').and.include({ status: 'accepted' });
    expect(texts('push')).to.deep.equal([]);
    expect(outboxStatus(world.deps)).to.deep.equal({ waiting: 3, dead: 0 });
    await deliver();
    expect([texts('voice'), texts('push'), texts('chat')]).to.deep.equal([['Hello'], ['Hello'], ['Hello']]);
    expect(outboxStatus(world.deps)).to.deep.equal({ waiting: 0, dead: 0 });
    const results = world.entries()[0]?.channels.map(({ channel, result }) => `${channel} ${result}`);
    expect(results).to.deep.equal(['voice delivered', 'push delivered', 'chat delivered']);
  });

  it('accepts nothing of a body that is wrong', async () => {
    const error = await rejection(acceptNotification(world.deps, { message: '' }));
    expect(error).to.include({ kind: 'usage', message: 'message is empty.' });
    expect(existsSync(world.deps.outbox)).to.equal(false);
    expect(world.entries()).to.deep.equal([]);
  });

  it('accepts a notification as a whole, or not at all', async () => {
    // Where the log belongs there is a folder, as a disk that is full would refuse it.
    mkdirSync(world.deps.history, { recursive: true });
    await rejection(acceptNotification(world.deps, { message: 'x', event: 'security' }));
    expect(waiting(world.deps)).to.deep.equal([]);
    rmdirSync(world.deps.history);
    expect((await send({ event: 'security' })).length).to.equal(32);
    expect(waiting(world.deps)).to.have.length(3);
  });

  it('writes into no folder that a link leads to', async () => {
    checkOutbox(world.deps);
    await send({});
    checkOutbox(world.deps);
    symlinkSync(world.deps.locks, join(world.deps.outbox, 'dead'));
    expect(thrown(() => checkOutbox(world.deps))).to.include({ kind: 'config' });
  });

  it('a channel that hangs, or throws, keeps none of the others waiting', async () => {
    let free: (outcome: Outcome) => void = () => undefined;
    world.channels.push.answers = [() => new Promise((resolve) => (free = resolve))];
    world.channels.chat.answers = [() => Promise.reject(new Error('boom'))];
    delivering = keepDelivering(world.deps);
    world.deps.wake = delivering.wake;
    await send({ event: 'security' });
    const next = await send({ event: 'taskComplete', message: 'next' });
    await until('voice has spoken both', () => world.result(next, 'voice')?.result === 'delivered');
    expect(texts('voice')).to.deep.equal(['Hello', 'next']);
    expect(texts('push')).to.deep.equal(['Hello']);
    free({ outcome: 'delivered' });
    await delivering.close(5000);
    expect(world.entries()[1]?.channels.map(({ result }) => result)).to.deep.equal([
      'delivered',
      'delivered',
      'waiting',
    ]);
  }).timeout(60_000);

  it('leaves the event loop to others while thousands are answered at once', async () => {
    // A clock by which each look takes as long as a slice does: so there is a turn between two, and never a thousand.
    let ticks = 0;
    const clock = { now: () => world.nowMs, monotonic: () => (ticks += 1) };
    world.channels.voice.send = () => Promise.resolve({ outcome: 'show', reason: 'nothing speaks' });
    world.channels.desktop.send = () => Promise.resolve(AGAIN);
    for (let n = 0; n < 500; n += 1) await send({ message: `m${n}` });
    const dispatcher = startDispatcher({ ...world.deps, clock });
    let turns = 0;
    while (isBusy(dispatcher, 0)) {
      await new Promise((resolve) => setImmediate(resolve));
      turns += 1;
    }
    await closeDispatcher(dispatcher, 0);
    expect(outboxStatus(world.deps)).to.deep.equal({ waiting: 500, dead: 0 });
    expect(turns).to.be.greaterThan(500);
  }).timeout(60_000);

  it('tries again later, by itself and after a restart, and not before', async () => {
    world.channels.push.answers = [AGAIN, AGAIN];
    const id = await send({ event: 'backgroundAgent' });
    await deliver();
    expect(world.result(id, 'push')).to.include({ result: 'waiting', attempts: 1, reason: 'It is down. Wait.', nextAt: '2026-11-20T09:00:05.000Z' }); // prettier-ignore
    world.nowMs += 4_999;
    await deliver();
    expect(texts('push')).to.have.length(1);
    world.nowMs += 1;
    await deliver();
    expect(world.result(id, 'push')).to.include({ result: 'waiting', attempts: 2 });
    world.nowMs += 15_000;
    await deliver();
    expect(world.result(id, 'push')).to.include({ result: 'delivered', attempts: 3, maybeTwice: false });
  });

  it('tries a banner until its quarter of an hour is over, however many attempts were made at once', async () => {
    world.notifications.routing.backgroundAgent = ['desktop'];
    world.channels.desktop.answers = Array.from({ length: 20 }, () => AGAIN);
    const id = await send({ event: 'backgroundAgent' });
    const dispatcher = startDispatcher(world.deps);
    try {
      for (let attempts = 1; attempts <= 9; attempts += 1) {
        await until('it failed', () => world.result(id, 'desktop')?.attempts === attempts);
        await until('it waits', () => !isBusy(dispatcher, 0));
        expect(world.result(id, 'desktop')?.result).to.equal('waiting');
        resumeAll(dispatcher);
      }
    } finally {
      await closeDispatcher(dispatcher, 0);
    }
    const { nextAt } = world.result(id, 'desktop') ?? {};
    expect(nextAt).to.equal('2026-11-20T09:15:00.000Z');
    world.nowMs = Date.parse(String(nextAt));
    await deliver();
    expect(world.result(id, 'desktop')).to.include({ result: 'expired', reason: 'It is down. Wait.' });
  });

  it('gives up after a day, keeps it, and sends it when asked to', async () => {
    world.channels.push.answers = Array.from({ length: 200 }, () => AGAIN);
    const id = await send({ event: 'backgroundAgent' });
    for (let hour = 0; hour < 100 && world.result(id, 'push')?.result !== 'expired'; hour += 1) {
      await deliver();
      world.nowMs += HOUR / 2;
    }
    expect(world.result(id, 'push')).to.include({ result: 'expired', reason: 'It is down. Wait.' });
    expect(world.nowMs - NINE).to.be.within(23 * HOUR, 25 * HOUR);
    expect(outboxStatus(world.deps)).to.deep.equal({ waiting: 0, dead: 1 });
    world.channels.push.answers = [];
    expect(retry(world.deps, id).map(({ channel }) => channel)).to.deep.equal(['push']);
    await deliver();
    expect(world.result(id, 'push')).to.include({ result: 'delivered', attempts: 1 });
    expect(outboxStatus(world.deps)).to.deep.equal({ waiting: 0, dead: 0 });
    expect(thrown(() => retry(world.deps, id))).to.include({ kind: 'conflict' });
    expect(thrown(() => retry(world.deps, '20261120T090000000Z-0123456789ab'))).to.include({
      kind: 'not_found',
    });
    expect(thrown(() => retry(world.deps, '../../etc/passwd'))).to.include({ kind: 'usage' });
  }).timeout(60_000);

  it('retry hastens what waits, also in a process that delivers already', async () => {
    world.channels.push.answers = [AGAIN];
    const id = await send({ event: 'backgroundAgent' });
    delivering = keepDelivering(world.deps);
    await until('the first attempt failed', () => world.result(id, 'push')?.attempts === 1);
    retry(world.deps, id);
    await until(
      'the second came before its time',
      () => world.result(id, 'push')?.result === 'delivered',
      20_000,
    );
    await delivering.close(0);
    expect(world.nowMs).to.equal(NINE);
  }).timeout(60_000);

  it('a channel that refuses for good is not asked again', async () => {
    world.channels.push.answers = [{ outcome: 'failed', reason: 'Gone.', hint: 'Make a new one.' }];
    const id = await send({ event: 'backgroundAgent' });
    await deliver();
    world.nowMs += HOUR;
    await deliver();
    expect(texts('push')).to.have.length(1);
    expect(world.result(id, 'push')).to.include({ result: 'failed', reason: 'Gone. Make a new one.' });
  });

  it('a server that is down is asked with one message, not with all that wait', async () => {
    world.channels.push.answers = [{ ...DOWN, afterMs: 60_000 } as Outcome];
    for (let n = 0; n < 5; n += 1) await send({ event: 'backgroundAgent', message: `m${n}` });
    const dispatcher = startDispatcher(world.deps);
    try {
      await until('it was asked', () => !isBusy(dispatcher, 0));
      world.nowMs += 59_999;
      scan(dispatcher);
      expect([texts('push'), isBusy(dispatcher, 0)]).to.deep.equal([['m0'], false]);
      const word = world.entries()[0]?.channels[0];
      expect(word).to.include({ result: 'waiting', attempts: 0, reason: 'It is down.', nextAt: '2026-11-20T09:01:00.000Z' }); // prettier-ignore
      expect(whyNotReached(world.entries()[0]!)).to.equal('push: It is down.');
      world.nowMs += 1;
      scan(dispatcher);
      await until('all are out', () => !isBusy(dispatcher, 0));
      expect(texts('push')).to.deep.equal(['m0', 'm0', 'm1', 'm2', 'm3', 'm4']);
    } finally {
      await closeDispatcher(dispatcher, 0);
    }
  });

  it('tells of some that a server that is down keeps waiting, so that the log keeps room for others', async () => {
    world.channels.push.answers = [DOWN, DOWN];
    for (let n = 0; n < 300; n += 1) await send({ event: 'backgroundAgent', message: `m${n}` });
    await deliver();
    world.nowMs += MINUTE;
    await deliver();
    const told = readFileSync(world.deps.history, 'utf8').match(/"result":"waiting"/g);
    expect(told).to.have.length(2 * 201);
    const [newest, ...others] = world.entries();
    expect(newest?.channels[0]).to.include({ reason: 'It is down.', nextAt: '2026-11-20T09:01:15.000Z' });
    expect(others.at(-2)?.channels[0]).to.include({ reason: null, nextAt: null });
    expect(outboxStatus(world.deps)).to.deep.equal({ waiting: 300, dead: 0 });
  }).timeout(60_000);

  describe('a clock that is put back', () => {
    it('makes nothing wait that was accepted before, and loses none of it', async () => {
      const far = await send({ event: 'backgroundAgent', message: 'days' });
      world.nowMs -= 24 * HOUR;
      await send({ event: 'backgroundAgent', message: 'a day' });
      world.nowMs -= 72 * HOUR;
      await deliver();
      expect(texts('push').sort()).to.deep.equal(['a day', 'days']);
      expect(world.result(far, 'push')).to.include({ result: 'delivered' });
    });

    it('makes due what failed before, and what fails again ages from now on', async () => {
      world.channels.push.answers = [AGAIN, AGAIN];
      const id = await send({ event: 'backgroundAgent' });
      await deliver();
      world.nowMs -= 72 * HOUR;
      await deliver();
      expect(world.result(id, 'push')).to.include({ result: 'waiting', attempts: 2 });
      await deliver();
      expect(texts('push'), 'and then it waits as ever').to.have.length(2);
      world.channels.push.answers = Array.from({ length: 200 }, () => AGAIN);
      world.nowMs += 25 * HOUR;
      await deliver();
      expect(world.result(id, 'push')).to.include({ result: 'expired' });
    });

    it('does not expire what was accepted before the clock was set ahead', async () => {
      let upMs = HOUR;
      world.deps.clock.boot = () => ({ id: 'a', upMs });
      world.channels.push.answers = [AGAIN];
      const id = await send({ event: 'backgroundAgent' });
      world.nowMs += 72 * HOUR;
      upMs += MINUTE;
      await deliver();
      expect(world.result(id, 'push')).to.include({ result: 'waiting', attempts: 1 });
      world.nowMs += MINUTE;
      upMs += MINUTE;
      await deliver();
      expect(world.result(id, 'push')).to.include({ result: 'delivered' });
      const late = await send({ event: 'backgroundAgent', message: 'late' });
      world.nowMs -= 72 * HOUR;
      upMs += 25 * HOUR;
      await deliver();
      expect(world.result(late, 'push'), 'old by the clock that nobody sets').to.include({
        result: 'expired',
      });
    });

    it('ends the pause of a server that was down', async () => {
      world.channels.push.answers = [{ ...DOWN, afterMs: HOUR } as Outcome];
      await send({ event: 'backgroundAgent', message: 'one' });
      const dispatcher = startDispatcher(world.deps);
      try {
        await until('it was asked', () => !isBusy(dispatcher, 0));
        world.nowMs -= HOUR;
        await send({ event: 'backgroundAgent', message: 'two' });
        scan(dispatcher);
        await until('both are out', () => !isBusy(dispatcher, 2 * HOUR));
        expect(texts('push').sort()).to.deep.equal(['one', 'one', 'two']);
      } finally {
        await closeDispatcher(dispatcher, 0);
      }
    });

    it('lets the quiet hours last as long as that clock says', async () => {
      world.quietHours = '08:30-10:00';
      await send({ event: 'backgroundAgent' });
      world.nowMs -= HOUR / 4;
      await deliver();
      expect(texts('push')).to.deep.equal([]);
      world.nowMs = NINE + HOUR;
      await deliver();
      expect(texts('push')).to.deep.equal(['Hello']);
    });
  });

  it('tries at once what a setting had kept back, when the settings change', async () => {
    world.channels.push.answers = [{ ...DOWN, afterMs: HOUR } as Outcome];
    world.quietHours = '08:30-10:00';
    const held = await send({ event: 'backgroundAgent', message: 'held' });
    world.quietHours = undefined;
    const id = await send({ event: 'backgroundAgent' });
    let isChanged = false;
    const settingsChanged = (): Promise<boolean> => {
      const was = isChanged;
      isChanged = false;
      return Promise.resolve(was);
    };
    delivering = keepDelivering({ ...world.deps, settingsChanged });
    await until('it failed', () => world.result(id, 'push')?.attempts === 1);
    const behind = await send({ event: 'backgroundAgent', message: 'behind it' });
    await until('that waits, too', () => world.result(behind, 'push')?.reason === 'It is down.', 20_000);
    isChanged = true;
    await until('both have arrived', () => world.result(behind, 'push')?.result === 'delivered', 20_000);
    expect(texts('push')).to.deep.equal(['Hello', 'Hello', 'behind it']);
    expect(world.result(held, 'push')).to.include({ result: 'waiting', reason: 'quiet hours' });
    expect(world.nowMs).to.equal(NINE);
  }).timeout(60_000);

  it('when its time is up, lets end what is under way: it is not sent twice', async () => {
    let free: (outcome: Outcome) => void = () => undefined;
    world.channels.push.answers = [() => new Promise((resolve) => (free = resolve))];
    const id = await send({ event: 'backgroundAgent' });
    const delivered = deliverWaiting(world.deps, { patienceMs: 0, longestMs: 1 });
    await until('it is under way', () => texts('push').length === 1);
    free({ outcome: 'delivered' });
    await delivered;
    expect(world.result(id, 'push')).to.include({ result: 'delivered', maybeTwice: false });
    await deliver();
    expect(texts('push')).to.deep.equal(['Hello']);
  });

  it('shows what was to be spoken and could not be, once', async () => {
    world.channels.voice.answers = [{ outcome: 'show', reason: 'no speech engine is set up' }];
    const id = await send({});
    await deliver();
    expect(texts('desktop')).to.deep.equal(['Hello']);
    expect(world.result(id, 'voice')).to.include({ result: 'shown', reason: 'no speech engine is set up' });
    expect(world.result(id, 'desktop')).to.include({ result: 'delivered' });
  });

  it('does not show twice what is routed to the desktop as well', async () => {
    world.notifications.routing.taskComplete = ['desktop'];
    world.channels.voice.answers = [{ outcome: 'show', reason: 'broken' }];
    await send({});
    await deliver();
    await deliver();
    expect(texts('desktop')).to.deep.equal(['Hello']);
  });

  it('mutes, for a time or until it is taken back, and shows meanwhile', async () => {
    expect(muteState(world.deps)).to.deep.equal({ muted: false, until: null });
    mute(world.deps, HOUR);
    expect(muteState(world.deps)).to.deep.equal({ muted: true, until: '2026-11-20T10:00:00.000Z' });
    await send({});
    await deliver();
    expect([texts('voice'), world.channels.desktop.got[0]?.silent]).to.deep.equal([[], true]);
    world.nowMs += HOUR;
    await send({});
    await deliver();
    expect(texts('voice')).to.deep.equal(['Hello']);
    mute(world.deps, undefined);
    world.nowMs += 1000 * HOUR;
    expect(muteState(world.deps).muted).to.equal(true);
    unmute(world.deps);
    expect(muteState(world.deps).muted).to.equal(false);
    writeFileSync(world.deps.mute, '{"until": 5');
    expect(muteState(world.deps), 'a broken file mutes').to.deep.equal({ muted: true, until: null });
  });

  it('holds pushes for one digest at the end of the quiet hours', async () => {
    world.quietHours = '08:30-10:00';
    const first = await send({ event: 'backgroundAgent', message: 'one' });
    await send({ event: 'error', message: 'two', title: 'Oh' });
    await send({ event: 'security', message: 'at once' });
    await deliver();
    expect(texts('push')).to.deep.equal(['at once']);
    expect(texts('voice')).to.deep.equal(['at once']);
    expect(world.result(first, 'push')).to.include({ result: 'waiting', nextAt: '2026-11-20T10:00:00.000Z', reason: 'quiet hours' }); // prettier-ignore
    expect(whyNotReached(world.entries().find(({ id }) => id === first)!)).to.equal(undefined);
    world.nowMs += HOUR;
    await deliver();
    const digest = world.channels.push.got[1];
    expect(digest).to.include({ count: 2, title: '2 notifications', message: '• one\n• Oh: two', priority: 4, event: 'error' }); // prettier-ignore
    expect(world.channels.push.got).to.have.length(2);
    expect(world.result(first, 'push')?.result).to.equal('delivered');
  });

  it('a single push that was held goes out as it is', async () => {
    world.quietHours = '08:30-10:00';
    await send({ event: 'backgroundAgent', message: 'one' });
    world.nowMs += HOUR;
    await deliver();
    expect(world.channels.push.got[0]).to.include({ count: 1, message: 'one' });
  });

  it('makes one banner of many at once', async () => {
    for (let n = 0; n < 8; n += 1) await send({ source: 'subagent', message: `agent ${n}` });
    await deliver();
    expect(world.channels.desktop.got.map(({ count }) => count)).to.deep.equal([8]);
    expect(world.channels.desktop.got[0]?.message).to.include('• agent 7');
    expect(world.entries().every(({ channels }) => channels.some(({ channel, result }) => channel === 'desktop' && result === 'delivered'))).to.equal(true); // prettier-ignore
  });

  describe('dedupe keys', () => {
    const key = { dedupe: 'build', event: 'backgroundAgent' };

    it('send the same text once', async () => {
      const first = await send(key);
      const second = await send(key);
      await deliver();
      await send(key);
      await deliver();
      expect(texts('push')).to.deep.equal(['Hello']);
      expect(world.entries().find(({ id }) => id === second)?.duplicateOf).to.equal(first);
      world.nowMs += 13 * HOUR;
      await send(key);
      await deliver();
      expect(texts('push'), 'much later it is news again').to.have.length(2);
    });

    it('replace what has not gone out yet', async () => {
      const old = await send({ ...key, message: '10 %' });
      await send({ ...key, message: '20 %' });
      await send({ event: 'backgroundAgent', message: 'other' });
      await deliver();
      expect(texts('push')).to.deep.equal(['20 %', 'other']);
      expect(world.result(old, 'push')?.result).to.equal('superseded');
    });

    it('replace a banner that took the place of the voice, and leave what goes elsewhere', async () => {
      world.channels.voice.answers = [{ outcome: 'show', reason: 'nothing speaks' }];
      world.channels.desktop.answers = [AGAIN];
      world.channels.push.answers = [AGAIN];
      const old = await send({ dedupe: 'build', event: 'error', message: '10 %' });
      await deliver();
      await send({ dedupe: 'build', source: 'subagent', message: '20 %' });
      world.nowMs += MINUTE;
      await deliver();
      expect(texts('desktop')).to.deep.equal(['10 %', '20 %']);
      expect(world.result(old, 'desktop')?.result).to.equal('superseded');
      expect(world.result(old, 'push')?.result).to.equal('delivered');
    });

    it('are looked for among their own, whatever else waits', async () => {
      await send({ ...key, message: '10 %' });
      // One of the key that the log knows nothing of: who looked at all that waits would take it away.
      const [name] = waiting(world.deps) as [string];
      const other = '20261120T080000000Z-0123456789ab';
      const text = readFileSync(join(world.deps.outbox, name), 'utf8');
      writeFileSync(join(world.deps.outbox, `${other}.push.json`), text.replace(name.slice(0, 32), other));
      await send({ ...key, message: '20 %' });
      expect(waiting(world.deps))
        .to.have.length(2)
        .and.to.include(`${other}.push.json`)
        .and.not.to.include(name);
    });

    it('hand the key on, so that the channel can update', async () => {
      await send({ ...key, message: '10 %' });
      await deliver();
      await send({ ...key, message: '20 %' });
      await deliver();
      expect(world.channels.push.got.map(({ dedupe }) => dedupe)).to.deep.equal(['build', 'build']);
    });

    it('send what was given up once more', async () => {
      world.channels.push.answers = [{ outcome: 'failed', reason: 'No.', hint: 'Do.' }];
      await send(key);
      await deliver();
      await send(key);
      await deliver();
      expect(texts('push')).to.have.length(2);
    });

    it('send one of fifty at once', async () => {
      await Promise.all(Array.from({ length: 50 }, () => send(key)));
      await deliver();
      expect(texts('push')).to.deep.equal(['Hello']);
    }).timeout(60_000);
  });

  it('a phase is written by whoever is given for it, and its word is in the answer', async () => {
    const asked: unknown[] = [];
    const deps = {
      ...world.deps,
      phaseEffect: (phase: string, slug: string | undefined) => {
        asked.push([phase, slug]);
        return Promise.resolve(phase === 'execute' ? undefined : 'unknown');
      },
    };
    const body = { message: 'x', phase: 'execute', slug: 'fix-it' };
    expect(await acceptNotification(deps, body)).to.have.keys('status', 'id');
    expect(await acceptNotification(deps, { message: 'x', phase: 'party' })).to.include({ phase: 'unknown' });
    expect(asked).to.deep.equal([
      ['execute', 'fix-it'],
      ['party', undefined],
    ]);
  });

  describe('several processes', () => {
    it('one delivers at a time; the other leaves it to that one', async () => {
      let free: (outcome: Outcome) => void = () => undefined;
      world.channels.voice.answers = [() => new Promise((resolve) => (free = resolve))];
      await send({});
      const first = deliver();
      await until('it speaks', () => texts('voice').length === 1);
      await send({ message: 'meanwhile' });
      expect(await deliver()).to.equal(false);
      free({ outcome: 'delivered' });
      expect(await first).to.equal(true);
      expect(texts('voice')).to.deep.equal(['Hello', 'meanwhile']);
    });

    it('a daemon waits until another process has ended, and takes what others put there', async () => {
      let free: (outcome: Outcome) => void = () => undefined;
      world.channels.voice.answers = [() => new Promise((resolve) => (free = resolve))];
      await send({});
      const first = deliver();
      await until('it speaks', () => texts('voice').length === 1);
      delivering = keepDelivering(world.deps);
      free({ outcome: 'delivered' });
      await first;
      await send({ message: 'by another' });
      await until('the daemon has it', () => texts('voice').includes('by another'), 20_000);
      await delivering.close(100);
    }).timeout(60_000);

    it('leaves what another machine has put into a shared folder', async () => {
      const other = { ...world.deps, machineId: 'ffffffffffff' };
      await acceptNotification(other, { message: 'theirs' });
      await send({ message: 'ours' });
      await deliver();
      expect(texts('voice')).to.deep.equal(['ours']);
      expect(waiting(world.deps)).to.have.length(1);
    });
  });

  describe('after a kill', () => {
    it('what was in the midst of an attempt is tried once more, and said to be so', async () => {
      const id = await send({ event: 'backgroundAgent' });
      claim(outboxOf(world.deps), `${id}.push.json`);
      await deliver();
      expect(texts('push')).to.deep.equal(['Hello']);
      expect(world.result(id, 'push')).to.include({ result: 'delivered', maybeTwice: true });
    });

    it('the second time it is given up, said to be unknown, and sent when asked to', async () => {
      const id = await send({ event: 'backgroundAgent' });
      const name = `${id}.push.json`;
      claim(outboxOf(world.deps), name);
      world.channels.push.answers = [
        () => {
          // As if it were killed here: the claim stands and nothing is recorded.
          throw new Error('unreachable');
        },
      ];
      const path = join(world.deps.outbox, 'claimed', name);
      writeFileSync(path, readFileSync(path, 'utf8').replace('"interrupted":0', '"interrupted":1'));
      await deliver();
      expect(texts('push')).to.deep.equal([]);
      expect(world.result(id, 'push')?.result).to.equal('unknown');
      expect(world.result(id, 'push')?.reason).to.include('may have arrived');
      world.channels.push.answers = [];
      retry(world.deps, id);
      await deliver();
      expect(texts('push')).to.deep.equal(['Hello']);
    });

    it('what has its result recorded is not sent again, only logged', async () => {
      const id = await send({ event: 'backgroundAgent' });
      const name = `${id}.push.json`;
      claim(outboxOf(world.deps), name);
      const path = join(world.deps.outbox, 'claimed', name);
      writeFileSync(
        path,
        readFileSync(path, 'utf8').replace('"attempts":0', '"attempts":1,"result":"delivered"'),
      );
      await deliver();
      expect(texts('push')).to.deep.equal([]);
      expect(world.result(id, 'push')).to.include({ result: 'delivered', attempts: 1 });
      expect(readdirSync(join(world.deps.outbox, 'claimed'))).to.deep.equal([]);
    });

    it('what was sent before its acceptance was logged is in the history', async () => {
      const id = await send({ event: 'backgroundAgent', title: 'Build', source: 'subagent' });
      // As if the sender was killed between the delivery and its line in the log.
      rmSync(world.deps.history);
      await deliver();
      const [entry] = world.entries();
      expect(entry).to.deep.include({ id, event: 'backgroundAgent', priority: 3, source: 'subagent' });
      expect(entry).to.include({ text: 'Hello', title: 'Build', at: '2026-11-20T09:00:00.000Z' });
      expect(entry?.channels.map(({ channel, result }) => [channel, result])).to.deep.equal([
        ['push', 'delivered'],
      ]);
    });

    it('what was on its way from the voice to the desktop is shown once', async () => {
      const id = await send({});
      const name = `${id}.voice.json`;
      claim(outboxOf(world.deps), name);
      const path = join(world.deps.outbox, 'claimed', name);
      writeFileSync(path, readFileSync(path, 'utf8').replace('"channel":"voice"', '"channel":"desktop"'));
      await deliver();
      expect([texts('voice'), texts('desktop')]).to.deep.equal([[], ['Hello']]);
    });
  });

  describe('a disk that takes nothing for a while', () => {
    const claimedFolder = (): string => join(world.deps.outbox, 'claimed');
    const away = (): string => join(world.deps.locks, 'away');
    /** Where the folder was there is a file: nothing can be written into it, as on a full disk. */
    const breakIt = (folder: string): void => {
      mkdirSync(world.deps.locks, { recursive: true });
      renameSync(folder, away());
      writeFileSync(folder, '');
    };
    const mend = (folder: string): void => {
      rmSync(folder);
      renameSync(away(), folder);
    };

    for (const [outcome, result, got] of [
      [{ outcome: 'delivered' }, { result: 'delivered', attempts: 1, maybeTwice: false }, 1],
      [AGAIN, { result: 'delivered', attempts: 2, maybeTwice: false }, 2],
    ] as [Outcome, object, number][]) {
      it(`forgets nothing of what came of an attempt: ${outcome.outcome}`, async () => {
        world.channels.push.answers = [
          () => {
            breakIt(claimedFolder());
            return Promise.resolve(outcome);
          },
        ];
        const id = await send({ event: 'backgroundAgent' });
        const dispatcher = startDispatcher(world.deps);
        try {
          await until('it could not be written down', () => world.faults.length > 0);
          mend(claimedFolder());
          scan(dispatcher);
          world.nowMs += MINUTE;
          scan(dispatcher);
          await until(
            'it is',
            () => !isBusy(dispatcher, 0) && world.result(id, 'push')?.result === 'delivered',
          );
          expect(world.result(id, 'push')).to.include(result);
          expect(texts('push')).to.have.length(got);
          expect(outboxStatus(world.deps)).to.deep.equal({ waiting: 0, dead: 0 });
        } finally {
          await closeDispatcher(dispatcher, 0);
          world.faults.length = 0;
        }
      });
    }

    it('puts back what was not even sent, and ends what was given up', async () => {
      const old = await send({ event: 'backgroundAgent', message: 'old' });
      world.nowMs += 25 * HOUR;
      world.quietHours = '00:00-11:00';
      const held = [await send({ event: 'backgroundAgent' }), await send({ event: 'backgroundAgent' })] as [
        string,
        string,
      ];
      world.quietHours = undefined;
      world.nowMs += HOUR;
      mkdirSync(world.deps.locks, { recursive: true });
      renameSync(world.deps.history, away());
      mkdirSync(world.deps.history);
      // A folder where the second of the digest would be claimed.
      const inTheWay = join(claimedFolder(), `${held[1]}.push.json`);
      const dispatcher = startDispatcher(world.deps);
      mkdirSync(join(inTheWay, 'x'), { recursive: true });
      try {
        await until('the first fault', () => world.faults.length > 0);
        rmdirSync(world.deps.history);
        renameSync(away(), world.deps.history);
        world.nowMs += MINUTE;
        scan(dispatcher);
        await until('the second fault', () => world.faults.length > 1);
        rmSync(inTheWay, { recursive: true });
        world.nowMs += MINUTE;
        scan(dispatcher);
        await until('it is out', () => !isBusy(dispatcher, 0) && texts('push').length > 0);
        expect(world.result(old, 'push')).to.include({ result: 'expired' });
        expect(world.channels.push.got.map(({ count }) => count)).to.deep.equal([2]);
        for (const id of held)
          expect(world.result(id, 'push')).to.include({ result: 'delivered', maybeTwice: false });
        expect(outboxStatus(world.deps)).to.deep.equal({ waiting: 0, dead: 1 });
      } finally {
        await closeDispatcher(dispatcher, 0);
        world.faults.length = 0;
      }
    });

    it('writes the line of the log later, where only that failed', async () => {
      world.channels.push.answers = [
        () => {
          renameSync(world.deps.history, away());
          mkdirSync(world.deps.history);
          return Promise.resolve({ outcome: 'delivered' });
        },
      ];
      mkdirSync(world.deps.locks, { recursive: true });
      const id = await send({ event: 'backgroundAgent' });
      const dispatcher = startDispatcher(world.deps);
      try {
        await until('it failed', () => world.faults.length === 1);
        scan(dispatcher);
        expect(world.faults).to.have.length(2);
        rmdirSync(world.deps.history);
        renameSync(away(), world.deps.history);
        scan(dispatcher);
        expect(world.result(id, 'push')).to.include({ result: 'delivered', attempts: 1, maybeTwice: false });
        expect([texts('push').length, outboxStatus(world.deps).waiting]).to.deep.equal([1, 0]);
      } finally {
        await closeDispatcher(dispatcher, 0);
        world.faults.length = 0;
      }
    });
  });

  it('puts aside what is no delivery, and goes on', async () => {
    mkdirSync(world.deps.outbox, { recursive: true });
    writeFileSync(join(world.deps.outbox, '20261120T080000000Z-0123456789ab.push.json'), '{"version": 9}');
    writeFileSync(join(world.deps.outbox, '20261120T080000000Z-0123456789ac.push.json'), '');
    writeFileSync(join(world.deps.outbox, 'README'), 'mine');
    const [folder, link] = ['ad', 'ae'].map((end) => `20261120T080000000Z-0123456789${end}.push.json`) as [string, string]; // prettier-ignore
    mkdirSync(join(world.deps.outbox, folder));
    symlinkSync(world.deps.locks, join(world.deps.outbox, link));
    await send({});
    await deliver();
    expect(texts('voice')).to.deep.equal(['Hello']);
    expect(readdirSync(world.deps.outbox).sort()).to.deep.equal([folder, link, 'README', 'claimed', 'dead']);
  });

  it('a channel that was switched off since is not asked', async () => {
    const id = await send({ event: 'backgroundAgent' });
    world.channels.push.offReason = 'switched off';
    await deliver();
    expect(texts('push')).to.deep.equal([]);
    expect(world.result(id, 'push'))
      .to.include({ result: 'failed' })
      .and.property('reason')
      .to.include('switched off');
  });

  it('a text that the voice accepted before it was switched off is shown', async () => {
    const id = await send({ event: 'taskComplete' });
    world.channels.voice.offReason = 'switched off';
    await deliver();
    expect(texts('voice')).to.deep.equal([]);
    expect(world.result(id, 'voice')).to.include({ result: 'shown', reason: 'switched off' });
    expect(texts('desktop')).to.have.length(1);
  });

  it('closes in time, whatever hangs, and the next one takes it up', async () => {
    world.channels.push.answers = [() => new Promise(() => undefined)];
    const id = await send({ event: 'backgroundAgent' });
    delivering = keepDelivering(world.deps);
    await until('it is under way', () => texts('push').length === 1);
    const began = performance.now();
    await delivering.close(50);
    expect(performance.now() - began).to.be.lessThan(30_000);
    await deliver();
    expect(world.result(id, 'push')).to.include({ result: 'delivered', maybeTwice: true });
  });
});
