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
import { dirname, join } from 'node:path';

import { acceptNotification } from '../../../src/lib/notify/accept';
import { deliverWaiting, keepDelivering, type Delivering } from '../../../src/lib/notify/deliver';
import { closeDispatcher, isBusy, resumeAll, scan, startDispatcher } from '../../../src/lib/notify/dispatch';
import type { Outcome } from '../../../src/lib/notify/channels/channel';
import { mute, muteState, unmute } from '../../../src/lib/notify/routing';
import { checkOutbox, outboxOf, outboxStatus, waitingNames } from '../../../src/lib/notify/outbox';
import { claim } from '../../../src/lib/platform/files/spool';
import { retry, whyUndelivered } from '../../../src/lib/notify/history';
import { until } from '../../helpers/desktop-kit';
import { MINUTE, NINE, notifyWorld, type NotifyWorld } from '../../helpers/notify';
import { rejection, thrown } from '../../helpers/errors';
import { long } from '../../helpers/long';

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

  it('drops the words of a request for a restricted session', async () => {
    world.notifications.routing.attention = ['desktop', 'push', 'chat'];
    const words = { event: 'attention', title: 'secret·main', message: 'asks to run Bash', tags: ['merger'], url: 'https://merger.example' }; // prettier-ignore
    await send({ ...words, slug: 'restricted-0123abcd' });
    await deliver();
    for (const { got } of [world.channels.push, world.channels.chat, world.channels.desktop]) {
      expect(got[0]).to.deep.include({ message: 'Your assistant is waiting for you.', tags: [] });
      expect(JSON.stringify(got)).to.not.match(/secret|Bash|merger/);
    }
    await send({ ...words, slug: 'open' });
    await deliver();
    expect(texts('push')[1]).to.equal('asks to run Bash');
  });

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

  it('rejects an invalid body', async () => {
    const error = await rejection(acceptNotification(world.deps, { message: '' }));
    expect(error).to.include({ kind: 'usage', message: 'message is empty.' });
    expect(existsSync(world.deps.outbox)).to.equal(false);
    expect(world.entries()).to.deep.equal([]);
  });

  it('accepts a notification for all channels or none', async () => {
    // A folder in place of the log fails like a full disk.
    world.channels.telegram.offReason = 'switched off';
    world.notifications.routing.security = ['push', 'chat', 'telegram'];
    mkdirSync(world.deps.history, { recursive: true });
    await rejection(acceptNotification(world.deps, { message: 'x', event: 'security' }));
    expect(waitingNames(world.deps)).to.deep.equal([]);
    rmdirSync(world.deps.history);
    expect((await send({ event: 'security' })).length).to.equal(32);
    expect(waitingNames(world.deps)).to.have.length(3);
  });

  it('refuses an outbox with a link in it', async () => {
    checkOutbox(world.deps);
    await send({});
    checkOutbox(world.deps);
    symlinkSync(world.deps.locks, join(world.deps.outbox, 'dead'));
    expect(thrown(() => checkOutbox(world.deps))).to.include({ kind: 'config' });
  });

  it('is not delayed by a channel that hangs or throws', async () => {
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

  long('yields to the event loop while thousands are delivered', async () => {
    // With this clock each step fills its time slice.
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

  it('retries a failed channel after the delay, also after a restart', async () => {
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

  long('retries a banner for 15 minutes, however many attempts were forced', async () => {
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

  long('gives up after a day, and sends it again on request', async () => {
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
    expect(world.result(id, 'push')).to.include({ result: 'waiting', attempts: 0, reason: null });
    await deliver();
    expect(world.result(id, 'push')).to.include({ result: 'delivered', attempts: 1 });
    expect(outboxStatus(world.deps)).to.deep.equal({ waiting: 0, dead: 0 });
    expect(thrown(() => retry(world.deps, id))).to.include({ kind: 'conflict' });
    expect(thrown(() => retry(world.deps, '20261120T090000000Z-0123456789ab'))).to.include({
      kind: 'not_found',
    });
    expect(thrown(() => retry(world.deps, '../../etc/passwd'))).to.include({ kind: 'usage' });
  }).timeout(60_000);

  long('retries on request, also in a process that is delivering', async () => {
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

  it('does not retry a rejected message', async () => {
    world.channels.push.answers = [{ outcome: 'failed', reason: 'Gone.', hint: 'Make a new one.' }];
    const id = await send({ event: 'backgroundAgent' });
    await deliver();
    world.nowMs += HOUR;
    await deliver();
    expect(texts('push')).to.have.length(1);
    expect(world.result(id, 'push')).to.include({ result: 'failed', reason: 'Gone. Make a new one.' });
  });

  it('tries a server that is down with one message', async () => {
    world.channels.push.answers = [{ ...DOWN, afterMs: 60_000 } as Outcome];
    for (let n = 0; n < 5; n += 1) await send({ event: 'backgroundAgent', message: `m${n}` });
    const dispatcher = startDispatcher(world.deps);
    try {
      await until('it was asked', () => !isBusy(dispatcher, 0));
      world.nowMs += 59_999;
      scan(dispatcher);
      expect([texts('push'), isBusy(dispatcher, 0)]).to.deep.equal([['m0'], false]);
      const word = world.entries()[0]?.channels[0];
      expect(word).to.include({ result: 'waiting', attempts: 0, reason: 'It is down. Wait.', nextAt: '2026-11-20T09:01:00.000Z' }); // prettier-ignore
      expect(whyUndelivered(world.entries()[0]!)).to.equal('push: It is down. Wait.');
      world.nowMs += 1;
      scan(dispatcher);
      await until('all are out', () => !isBusy(dispatcher, 0));
      expect(texts('push')).to.deep.equal(['m0', 'm0', 'm1', 'm2', 'm3', 'm4']);
    } finally {
      await closeDispatcher(dispatcher, 0);
    }
  });

  long('gives every delivery that a pause delays its reason, and logs none of them', async () => {
    world.channels.push.answers = [DOWN];
    for (let n = 0; n < 300; n += 1) await send({ event: 'backgroundAgent', message: `m${n}` });
    await deliver();
    const results = world.entries().flatMap(({ channels }) => channels);
    expect(results).to.have.length(300);
    for (const result of results)
      expect(result).to.include({ reason: 'It is down. Wait.', nextAt: '2026-11-20T09:00:05.000Z' });
    expect(existsSync(world.deps.history)).to.equal(false);
    expect(outboxStatus(world.deps)).to.deep.equal({ waiting: 300, dead: 0 });
  }).timeout(60_000);

  describe('after the clock moved back', () => {
    it('delivers at once what was accepted before', async () => {
      const far = await send({ event: 'backgroundAgent', message: 'days' });
      world.nowMs -= 24 * HOUR;
      await send({ event: 'backgroundAgent', message: 'a day' });
      world.nowMs -= 72 * HOUR;
      await deliver();
      expect(texts('push').sort()).to.deep.equal(['a day', 'days']);
      expect(world.result(far, 'push')).to.include({ result: 'delivered' });
    });

    it('retries at once, and counts the age from then on', async () => {
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

    it('does not expire a message because the clock was set ahead', async () => {
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
      expect(world.result(late, 'push'), 'old by the boot clock').to.include({
        result: 'expired',
      });
    });

    it('ends a pause', async () => {
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

    it('keeps quiet hours by the new clock', async () => {
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

  long('retries at once when the settings change', async () => {
    world.channels.push.answers = [{ ...DOWN, afterMs: HOUR } as Outcome];
    world.quietHours = '08:30-10:00';
    const held = await send({ event: 'backgroundAgent', message: 'held' });
    const id = await send({ event: 'security' });
    let isChanged = false;
    const settingsChanged = (): Promise<boolean> => {
      const was = isChanged;
      isChanged = false;
      return Promise.resolve(was);
    };
    delivering = keepDelivering({ ...world.deps, settingsChanged });
    await until('it failed', () => world.result(id, 'push')?.attempts === 1);
    const behind = await send({ event: 'security', message: 'behind it' });
    await until(
      'that waits, too',
      () => world.result(behind, 'push')?.reason === 'It is down. Wait.',
      20_000,
    );
    world.quietHours = undefined;
    isChanged = true;
    await until('all have arrived', () => texts('push').length === 4, 20_000);
    expect(texts('push').toSorted()).to.deep.equal(['Hello', 'Hello', 'behind it', 'held']);
    expect(world.result(held, 'push')).to.include({ result: 'delivered' });
    expect(world.nowMs).to.equal(NINE);
  }).timeout(60_000);

  it('waits for a running attempt when its time is up', async () => {
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

  it('shows once what could not be spoken', async () => {
    world.channels.voice.answers = [{ outcome: 'show', reason: 'no speech engine is set up' }];
    const id = await send({});
    await deliver();
    expect(texts('desktop')).to.deep.equal(['Hello']);
    expect(world.result(id, 'voice')).to.include({ result: 'shown', reason: 'no speech engine is set up' });
    expect(world.result(id, 'desktop')).to.include({ result: 'delivered' });
  });

  it('does not show twice what is also routed to the desktop', async () => {
    world.notifications.routing.taskComplete = ['desktop'];
    world.channels.voice.answers = [{ outcome: 'show', reason: 'broken' }];
    await send({});
    await deliver();
    await deliver();
    expect(texts('desktop')).to.deep.equal(['Hello']);
  });

  it('mutes for a time or until unmuted, and shows banners meanwhile', async () => {
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
    expect(muteState(world.deps), 'a damaged file mutes').to.deep.equal({ muted: true, until: null });
  });

  it('collects pushes into one digest at the end of the quiet hours', async () => {
    world.quietHours = '08:30-10:00';
    const first = await send({ event: 'backgroundAgent', message: 'one' });
    await send({ event: 'error', message: 'two', title: 'Oh' });
    await send({ event: 'security', message: 'at once' });
    await deliver();
    expect(texts('push')).to.deep.equal(['at once']);
    expect(texts('voice')).to.deep.equal(['at once']);
    expect(world.result(first, 'push')).to.include({ result: 'waiting', nextAt: '2026-11-20T10:00:00.000Z', reason: 'quiet hours' }); // prettier-ignore
    expect(whyUndelivered(world.entries().find(({ id }) => id === first)!)).to.equal(undefined);
    world.nowMs += HOUR;
    await deliver();
    const digest = world.channels.push.got[1];
    expect(digest).to.include({ count: 2, title: '2 notifications', message: '• one\n• Oh: two', priority: 4, event: 'error' }); // prettier-ignore
    expect(world.channels.push.got).to.have.length(2);
    expect(world.result(first, 'push')?.result).to.equal('delivered');
  });

  it('sends held pushes when the quiet hours are removed or end earlier, and holds them while they are extended', async () => {
    world.quietHours = '08:30-10:00';
    const id = await send({ event: 'backgroundAgent', message: 'one' });
    world.quietHours = '08:30-11:00';
    world.nowMs += HOUR;
    await deliver();
    expect(world.result(id, 'push')).to.include({ result: 'waiting', reason: 'quiet hours' });
    for (const hours of ['08:30-09:45', undefined]) {
      world.quietHours = '08:30-11:00';
      await send({ event: 'backgroundAgent', message: 'two' });
      world.quietHours = hours;
      await deliver();
      expect(outboxStatus(world.deps)).to.deep.equal({ waiting: 0, dead: 0 });
    }
    expect(world.channels.push.got.map(({ count }) => count)).to.deep.equal([1, 1, 1]);
  });

  it('sends a single held push as it is', async () => {
    world.quietHours = '08:30-10:00';
    await send({ event: 'backgroundAgent', message: 'one' });
    world.nowMs += HOUR;
    await deliver();
    expect(world.channels.push.got[0]).to.include({ count: 1, message: 'one' });
  });

  it('joins many banners into one', async () => {
    for (let n = 0; n < 8; n += 1) await send({ source: 'subagent', message: `agent ${n}` });
    await deliver();
    expect(world.channels.desktop.got.map(({ count }) => count)).to.deep.equal([8]);
    expect(world.channels.desktop.got[0]?.message).to.include('• agent 7');
    expect(world.entries().every(({ channels }) => channels.some(({ channel, result }) => channel === 'desktop' && result === 'delivered'))).to.equal(true); // prettier-ignore
  });

  describe('dedupe keys', () => {
    const key = { dedupe: 'build', event: 'backgroundAgent' };

    it('send a text once', async () => {
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
      expect(texts('push'), 'sent again after 12 hours').to.have.length(2);
    });

    it('replace a message that is still waiting', async () => {
      const old = await send({ ...key, message: '10 %' });
      await send({ ...key, message: '20 %' });
      await send({ event: 'backgroundAgent', message: 'other' });
      await deliver();
      expect(texts('push')).to.deep.equal(['20 %', 'other']);
      expect(world.result(old, 'push')?.result).to.equal('superseded');
    });

    it('replace the banner of a failed voice, and nothing on other channels', async () => {
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

    it('withdraw only deliveries with the same key and channel', async () => {
      await send({ ...key, message: '10 %' });
      await send({ ...key, dedupe: 'other', message: '15 %' });
      await send({ ...key, event: 'error', message: '20 %' });
      expect(waitingNames(world.deps).filter((name) => name.includes('.push.'))).to.have.length(2);
    });

    it('are passed to the channel', async () => {
      await send({ ...key, message: '10 %' });
      await deliver();
      await send({ ...key, message: '20 %' });
      await deliver();
      expect(world.channels.push.got.map(({ dedupe }) => dedupe)).to.deep.equal(['build', 'build']);
    });

    it('send a text again that expired', async () => {
      world.channels.push.answers = [{ outcome: 'failed', reason: 'No.', hint: 'Do.' }];
      await send(key);
      await deliver();
      await send(key);
      await deliver();
      expect(texts('push')).to.have.length(2);
    });

    long('send one of fifty at once', async () => {
      await Promise.all(Array.from({ length: 50 }, () => send(key)));
      await deliver();
      expect(texts('push')).to.deep.equal(['Hello']);
    }).timeout(60_000);
  });

  it('returns a word for a phase that was not written', async () => {
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
    it('deliver one at a time', async () => {
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

    long('let a daemon wait for another process, then deliver what others added', async () => {
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

    it('leave deliveries of another machine alone', async () => {
      const other = { ...world.deps, machineId: 'ffffffffffff' };
      await acceptNotification(other, { message: 'theirs' });
      await send({ message: 'ours' });
      await deliver();
      expect(texts('voice')).to.deep.equal(['ours']);
      expect(waitingNames(world.deps)).to.have.length(1);
    });
  });

  describe('after a kill', () => {
    it('sends an interrupted delivery once more, and says so', async () => {
      const id = await send({ event: 'backgroundAgent' });
      claim(outboxOf(world.deps), `${id}.push.json`);
      await deliver();
      expect(texts('push')).to.deep.equal(['Hello']);
      expect(world.result(id, 'push')).to.include({ result: 'delivered', maybeTwice: true });
    });

    it('gives up as unknown after a second interruption, and sends it again on request', async () => {
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

    it('counts an attempt forced by a retry as interrupted', async () => {
      world.channels.push.answers = [AGAIN, () => new Promise(() => undefined)];
      const id = await send({ event: 'backgroundAgent' });
      await deliver();
      retry(world.deps, id);
      delivering = keepDelivering(world.deps);
      await until('it is being sent', () => texts('push').length === 2, 20_000);
      await delivering.close(0);
      await deliver();
      expect(world.result(id, 'push')).to.include({ result: 'delivered', maybeTwice: true });
    }).timeout(60_000);

    it('only logs a delivery that has its result', async () => {
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

    it('shows a delivery by the line of its end alone', async () => {
      const id = await send({ event: 'backgroundAgent', title: 'Build', source: 'subagent' });
      await deliver();
      const [entry] = world.entries();
      expect(entry).to.deep.include({ id, event: 'backgroundAgent', priority: 3, source: 'subagent' });
      expect(entry).to.include({ text: 'Hello', title: 'Build', at: '2026-11-20T09:00:00.000Z' });
      expect(entry?.channels.map(({ channel, result }) => [channel, result])).to.deep.equal([
        ['push', 'delivered'],
      ]);
    });

    it('shows once what was moving from the voice to the desktop', async () => {
      const id = await send({});
      const name = `${id}.voice.json`;
      claim(outboxOf(world.deps), name);
      const path = join(world.deps.outbox, 'claimed', name);
      writeFileSync(path, readFileSync(path, 'utf8').replace('"channel":"voice"', '"channel":"desktop"'));
      await deliver();
      expect([texts('voice'), texts('desktop')]).to.deep.equal([[], ['Hello']]);
    });
  });

  describe('while the disk is full', () => {
    const claimedFolder = (): string => join(world.deps.outbox, 'claimed');
    const away = (): string => join(world.deps.locks, 'away');
    /** Where the folder was there is a file: nothing can be written into it, as on a full disk. */
    const breakIt = (folder: string): void => {
      mkdirSync(world.deps.locks, { recursive: true });
      renameSync(folder, away());
      writeFileSync(folder, '');
    };
    const startLog = (): void => {
      mkdirSync(dirname(world.deps.history), { recursive: true });
      writeFileSync(world.deps.history, '');
    };
    const mend = (folder: string): void => {
      rmSync(folder);
      renameSync(away(), folder);
    };

    for (const [outcome, result, got] of [
      [{ outcome: 'delivered' }, { result: 'delivered', attempts: 1, maybeTwice: false }, 1],
      [AGAIN, { result: 'delivered', attempts: 2, maybeTwice: false }, 2],
    ] as [Outcome, object, number][]) {
      it(`remembers the outcome of an attempt: ${outcome.outcome}`, async () => {
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

    it('requeues what was not sent, and closes what expired', async () => {
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
      startLog();
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

    it('writes the log line later', async () => {
      startLog();
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

  it('buries unreadable deliveries and goes on', async () => {
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

  it('takes what waits for a channel that is switched off, also what is held or retried', async () => {
    world.channels.push.answers = [AGAIN];
    const retried = await send({ event: 'backgroundAgent' });
    await deliver();
    world.quietHours = '08:30-10:00';
    const held = await send({ event: 'backgroundAgent' });
    world.channels.push.offReason = 'switched off';
    await deliver();
    for (const id of [retried, held]) {
      const expected = { result: 'skipped', reason: 'switched off', nextAt: null };
      expect(world.result(id, 'push')).to.include(expected);
    }
    expect(outboxStatus(world.deps)).to.deep.equal({ waiting: 0, dead: 0 });
  });

  it('shows what could not be spoken on a terminal, if there is no desktop and it needs you', async () => {
    world.channels.desktop.offReason = 'no desktop here';
    world.notifications.routing.attention = [];
    world.channels.voice.answers = [
      { outcome: 'show', reason: 'broken' },
      { outcome: 'show', reason: 'broken' },
    ];
    const id = await send({ event: 'attention' });
    const other = await send({});
    await deliver();
    expect(world.channels.terminal.got.map(({ message }) => message)).to.deep.equal(['Hello']);
    expect(world.result(id, 'voice')).to.include({ result: 'shown', reason: 'broken' });
    expect(world.result(other, 'voice')).to.include({ result: 'skipped', reason: 'broken' });
    expect(outboxStatus(world.deps)).to.deep.equal({ waiting: 0, dead: 0 });
  });

  it('shows a text whose voice was switched off since', async () => {
    const id = await send({ event: 'taskComplete' });
    world.channels.voice.offReason = 'switched off';
    await deliver();
    expect(texts('voice')).to.deep.equal([]);
    expect(world.result(id, 'voice')).to.include({ result: 'shown', reason: 'switched off' });
    expect(texts('desktop')).to.have.length(1);
  });

  long('closes in time while a channel hangs, and the next process goes on', async () => {
    world.channels.push.answers = [() => new Promise(() => undefined)];
    const id = await send({ event: 'backgroundAgent' });
    delivering = keepDelivering(world.deps);
    await until('it is under way', () => texts('push').length === 1);
    await delivering.close(50);
    await deliver();
    expect(world.result(id, 'push')).to.include({ result: 'delivered', maybeTwice: true });
  });
});
