import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import type { Outcome } from '../../../src/lib/notify/channels/channel';
import type { ChannelResult } from '../../../src/lib/notify/history';
import {
  deadDeliveries,
  nameOf,
  outboxOf,
  outboxStatus,
  readWaiting,
  type Delivery,
} from '../../../src/lib/notify/outbox';
import { offOutcome, recover, settle, waitUntil } from '../../../src/lib/notify/settle';
import { claim, namesIn, put } from '../../../src/lib/platform/files/spool';
import type { BootTime } from '../../../src/lib/platform/time/clock';
import { delivery, MINUTE, NINE, notifyWorld, type NotifyWorld } from '../../helpers/notify';

const HOUR = 60 * MINUTE;
const OTHER = 'ffffffffffff';
const iso = (ms: number): string => new Date(ms).toISOString();

describe('an attempt to deliver', () => {
  let world: NotifyWorld;
  beforeEach(() => {
    world = notifyWorld();
  });
  afterEach(() => world.remove());

  const claimed = (more: Partial<Delivery> = {}): Delivery => {
    const one = delivery(1, more);
    put(outboxOf(world.deps), one);
    claim(outboxOf(world.deps), nameOf(one));
    return one;
  };
  const attempted = (outcome: Outcome, more: Partial<Delivery> = {}): Delivery | undefined =>
    settle(world.deps, claimed(more), outcome);
  const logged = (channel: Delivery['channel'] = 'push'): ChannelResult | undefined =>
    world.result(delivery(1).id, channel);
  const status = () => ({
    ...outboxStatus(world.deps),
    claimed: namesIn(outboxOf(world.deps), 'claimed').length,
  });
  const NOTHING = { waiting: 0, dead: 0, claimed: 0 };

  describe('ends', () => {
    const rows: [what: string, Outcome, Partial<Delivery>, Partial<ChannelResult>, dead: number][] = [
      ['as delivered', { outcome: 'delivered' }, {}, { result: 'delivered', reason: null }, 0],
      [
        'as delivered after a break that it waited for',
        { outcome: 'delivered' },
        { waited: 'waited 5 min', attempts: 2 },
        { result: 'delivered', reason: 'waited 5 min', attempts: 3 },
        0,
      ],
      [
        'as failed, and keeps the delivery',
        { outcome: 'failed', reason: 'Rejected.', hint: 'Check the topic.' },
        {},
        { result: 'failed', reason: 'Rejected. Check the topic.' },
        1,
      ],
      [
        'as skipped',
        { outcome: 'skipped', reason: 'off', hint: 'Set it up.' },
        {},
        { result: 'skipped', reason: 'off' },
        0,
      ],
    ];
    for (const [what, outcome, more, result, dead] of rows)
      it(what, () => {
        expect(attempted(outcome, more)).to.equal(undefined);
        expect(logged()).to.include({ attempts: 1, ...result });
        expect(status()).to.deep.equal({ ...NOTHING, dead });
        expect(deadDeliveries(world.deps).map((one) => one.result)).to.deep.equal(
          dead === 1 ? ['failed'] : [],
        );
      });
  });

  describe('moves what cannot be spoken', () => {
    const spoken = { channel: 'voice', priority: 4, attempts: 2, at: iso(NINE - MINUTE) } as const;
    const show: Outcome = { outcome: 'show', reason: 'no voice' };

    it('to the desktop, as accepted now', () => {
      const moved = attempted(show, spoken);
      const expected = delivery(1, { ...spoken, channel: 'desktop', attempts: 0, at: iso(NINE) });
      expect(moved).to.deep.equal({ ...expected, boot: undefined });
      expect(readWaiting(world.deps, nameOf(expected))).to.deep.equal(expected);
      expect(logged('voice')).to.include({ result: 'shown', reason: 'no voice', attempts: 2 });
      expect(status()).to.deep.equal({ ...NOTHING, waiting: 1 });
    });

    it('with the time since boot, which may be unknown', () => {
      const [boot, now] = [5, 9].map((upMs) => ({ id: 'b', upMs })) as [BootTime, BootTime];
      expect(attempted(show, { ...spoken, boot, priority: 3 })?.boot).to.deep.equal(boot);
      Object.assign(world.deps.clock, { boot: () => now });
      expect(attempted(show, { ...spoken, boot })?.boot).to.deep.equal(now);
    });

    it('nowhere if it is shown anyway', () => {
      expect(attempted(show, { ...spoken, alsoShown: true })).to.equal(undefined);
      expect(logged('voice')).to.include({ result: 'shown', reason: 'no voice' });
      expect(status()).to.deep.equal(NOTHING);
    });

    for (const [what, priority, isTerminalOff, channel] of [
      ['to the terminals without a desktop, if it needs you', 4, false, 'terminal'],
      ['nowhere without a desktop, if it does not need you', 3, false, undefined],
      ['nowhere if nothing can show it', 5, true, undefined],
    ] as const)
      it(what, () => {
        world.channels.desktop.offReason = 'no desktop here';
        if (isTerminalOff) world.channels.terminal.offReason = 'no terminal';
        expect(attempted(show, { ...spoken, priority })?.channel).to.equal(channel);
        const result = channel === undefined ? 'skipped' : 'shown';
        expect(logged('voice')).to.include({ result, reason: 'no voice' });
      });
  });

  describe('is made again', () => {
    const again = (afterMs?: number): Outcome => ({
      ...{ outcome: 'again', reason: 'Offline.', hint: 'Connect.' },
      ...(afterMs === undefined ? {} : { afterMs }),
    });
    const LAST = NINE + 24 * HOUR;

    it('after a delay, with its reason', () => {
      const next = attempted(again(), { forced: true, attempts: 1 });
      const expected = delivery(1, {
        ...{ attempts: 2, reason: 'Offline. Connect.', nextAt: iso(NINE + 15_000), waitingSince: iso(NINE) },
      });
      expect(next).to.deep.equal({ ...expected, forced: undefined });
      expect(readWaiting(world.deps, nameOf(expected))).to.deep.equal(expected);
      expect(status()).to.deep.equal({ ...NOTHING, waiting: 1 });
    });

    for (const [what, nowMs, afterMs, nextMs] of [
      ['when the server allows it', NINE, HOUR, NINE + HOUR],
      ['for the last time at its deadline', LAST - 1000, undefined, LAST],
      ['at its deadline if the server allows that', LAST - 60_000, 60_000, LAST],
      ['not after its deadline, which the server asks for', LAST - 60_000, 60_001, undefined],
      ['not once its deadline is over', LAST, undefined, undefined],
    ] as const)
      it(what, () => {
        world.nowMs = nowMs;
        const next = attempted(again(afterMs));
        expect(next?.nextAt).to.equal(nextMs === undefined ? undefined : iso(nextMs));
        const result = nextMs === undefined ? 'expired' : 'waiting';
        expect(logged()).to.include({ result, reason: 'Offline. Connect.' });
        expect(status()).to.deep.equal({ ...NOTHING, [nextMs === undefined ? 'dead' : 'waiting']: 1 });
      });

    it('as accepted now if the clock was set back', () => {
      expect(attempted(again(), { at: iso(NINE + 1) })?.at).to.equal(iso(NINE));
      expect(attempted(again(), { at: iso(NINE - 1) })?.at).to.equal(iso(NINE - 1));
    });

    it('not after the end of a wait that is past its deadline', () => {
      expect(waitUntil(world.deps, claimed({ reason: 'paused' }), LAST)?.nextAt).to.equal(iso(LAST));
      expect(waitUntil(world.deps, claimed({ reason: 'paused' }), LAST + 1)).to.equal(undefined);
      expect(logged()).to.include({ result: 'expired', reason: 'paused' });
    });
  });

  describe('that was interrupted', () => {
    const back = (): Delivery | undefined => readWaiting(world.deps, nameOf(delivery(1)));

    it('is made once more', () => {
      claimed();
      recover(world.deps);
      expect(back()).to.deep.equal(delivery(1, { interrupted: 1 }));
      expect(status()).to.deep.equal({ ...NOTHING, waiting: 1 });
    });

    it('twice may have arrived, which cannot be known', () => {
      claimed({ interrupted: 1 });
      recover(world.deps);
      expect(logged()).to.deep.include({
        result: 'unknown',
        reason:
          'sending was interrupted twice; the message may have arrived. Resend it with `steward notify retry ID`',
      });
      expect(deadDeliveries(world.deps)).to.have.length(1);
      expect(deadDeliveries(world.deps)[0]).to.include({ interrupted: 2, result: 'unknown' });
    });

    for (const result of [
      'delivered',
      'shown',
      'superseded',
      'skipped',
      'failed',
      'expired',
      'unknown',
    ] as const)
      it(`after its result (${result}) is logged, and not made again`, () => {
        claimed({ result });
        recover(world.deps);
        expect(logged()?.result).to.equal(result);
        const isKept = ['failed', 'expired', 'unknown'].includes(result);
        expect(status()).to.deep.equal({ ...NOTHING, dead: isKept ? 1 : 0 });
      });

    it('before it began waits on', () => {
      const waiting = { nextAt: iso(NINE + HOUR), waitingSince: iso(NINE) };
      claimed(waiting);
      recover(world.deps);
      expect(back()).to.deep.equal(delivery(1, waiting));
    });

    it('while it moved to the desktop is moved', () => {
      const moved = delivery(1, { channel: 'desktop' });
      mkdirSync(join(world.deps.outbox, 'claimed'), { recursive: true });
      const from = join(world.deps.outbox, 'claimed', nameOf({ ...moved, channel: 'voice' }));
      writeFileSync(from, JSON.stringify({ version: 1, ...moved }));
      recover(world.deps);
      expect(readWaiting(world.deps, nameOf(moved))).to.deep.equal(moved);
      expect(status()).to.deep.equal({ ...NOTHING, waiting: 1 });
    });

    it('is left alone if it is of another machine, and buried if it is damaged', () => {
      claimed({ machine: OTHER });
      writeFileSync(join(world.deps.outbox, 'claimed', nameOf(delivery(2))), '{');
      world.nowMs = NINE + 48 * HOUR;
      recover(world.deps);
      expect(status()).to.deep.equal({ waiting: 1, dead: 1, claimed: 1 });
    });
  });

  it('is not made on a channel that is off', () => {
    const { push, voice, desktop } = world.channels;
    push.offReason = voice.offReason = 'switched off';
    expect(offOutcome(desktop)).to.equal(undefined);
    expect(offOutcome(push)).to.deep.equal({
      outcome: 'skipped',
      reason: 'switched off',
      hint: 'Set it up.',
    });
    expect(offOutcome(voice)).to.deep.equal({ outcome: 'show', reason: 'switched off' });
  });
});
