import { expect } from 'chai';
import fc from 'fast-check';

import {
  isOver,
  lastAttempt,
  nextAttempt,
  nextBatch,
  nextDue,
  parcelOf,
  waitOf,
  withTrueAge,
  type QueuedDelivery,
} from '../../../src/lib/notify/lane';
import { type Delivery } from '../../../src/lib/notify/outbox';
import { delivery, fakeChannel, MINUTE, NINE } from '../../helpers/notify';

const HOUR = 60 * MINUTE;

describe('notify: a lane', () => {
  const iso = (ms: number): string => new Date(ms).toISOString();
  const queued = (n: number, more: Partial<Delivery> = {}): QueuedDelivery => {
    const made = delivery(n, more);
    return { delivery: made, wait: waitOf(made) };
  };
  const idsOf = (lane: readonly QueuedDelivery[], nowMs: number, joinsFrom = Infinity): string[] =>
    nextBatch(lane, joinsFrom, nowMs).map(({ id }) => id);
  const waits = (n: number, untilMs: number, more: Partial<Delivery> = {}): QueuedDelivery =>
    queued(n, { attempts: 1, waitingSince: iso(NINE), nextAt: iso(untilMs), ...more });

  it('sends the oldest delivery that is due, and no other with it', () => {
    const lane = [waits(0, NINE + MINUTE), queued(1), queued(2)];
    expect(idsOf(lane, NINE)).to.deep.equal([lane[1]?.delivery.id]);
    expect(nextDue(lane, NINE)).to.equal(NINE);
    expect(idsOf(lane, NINE + MINUTE)).to.deep.equal([lane[0]?.delivery.id]);
  });

  it('joins what is held until the same time, and many on a channel that joins', () => {
    const held = { heldUntil: iso(NINE + HOUR), nextAt: iso(NINE + HOUR) };
    const lane = [queued(0, held), queued(1, held), queued(2, { sentParts: 1 }), queued(3)];
    expect(idsOf(lane, NINE)).to.deep.equal([lane[2]?.delivery.id]);
    expect(idsOf(lane, NINE + HOUR)).to.have.length(2);
    const many = Array.from({ length: 300 }, (_, n) => queued(n));
    expect(idsOf(many, NINE, 4)).to.have.length(200);
    expect(idsOf(many.slice(0, 3), NINE, 4)).to.have.length(1);
  });

  describe('waits', () => {
    const begun = { at: iso(NINE), nextAt: iso(NINE + HOUR) };
    const held = { ...begun, heldUntil: begun.nextAt };
    const DAYS = 25 * HOUR;
    const rows: [what: string, Parameters<typeof waitOf>[0], from: number, until: number][] = [
      ['from when it was accepted', begun, NINE - 1000, NINE + HOUR],
      ['from the attempt that failed', { ...begun, waitingSince: iso(NINE + 5) }, NINE - 995, NINE + HOUR],
      ['through the quiet hours, whichever clock set them', held, NINE + HOUR - DAYS, NINE + HOUR],
      ['for a break by the clock that set it', { ...held, atBreak: true }, NINE - 1000, NINE + HOUR],
      ['for a retry after the quiet hours', { ...held, heldUntil: iso(NINE - 1) }, NINE - 1000, NINE + HOUR],
      ['25 hours at most', { ...begun, nextAt: iso(NINE + DAYS + 1) }, NINE + 1, NINE + DAYS + 1],
    ];
    for (const [what, times, from, until] of rows)
      it(what, () => {
        const over = [from - 1, from, until - 1, until].map((nowMs) => isOver(waitOf(times), nowMs));
        expect(over).to.deep.equal([true, false, false, true]);
      });

    it('for nothing if it is due as accepted, by any clock', () => {
      const wait = waitOf({ at: iso(NINE), nextAt: iso(NINE), heldUntil: iso(NINE) });
      expect([0, NINE - DAYS, NINE].map((nowMs) => isOver(wait, nowMs))).to.deep.equal([true, true, true]);
    });
  });

  it('is due at its first end of a wait, or now', () => {
    const lane = [waits(0, NINE + 2 * HOUR), waits(1, NINE + HOUR)];
    expect(nextDue(lane, NINE)).to.equal(NINE + HOUR);
    expect(nextDue(lane, NINE + 90 * MINUTE)).to.equal(NINE + 90 * MINUTE);
    expect(nextDue([], NINE)).to.equal(Infinity);
    expect(nextBatch([], 4, NINE)).to.deep.equal([]);
  });

  describe('sends together', () => {
    const early = { heldUntil: iso(NINE + HOUR) };
    const late = { heldUntil: iso(NINE + 2 * HOUR) };
    const atBreak = { ...early, atBreak: true } as const;
    const rows: [what: string, joinsFrom: number, Partial<Delivery>[], together: number[]][] = [
      ['what quiet hours held', Infinity, [early, late, early, {}], [0, 2]],
      ['nothing with what was not held', Infinity, [{}, early, early], [0]],
      ['nothing with what waited for a break', Infinity, [atBreak, atBreak], [0]],
      ['nothing with a message in the middle', Infinity, [{ ...early, sentParts: 1 }, early, early], [0]],
      ['no message in the middle with others', Infinity, [early, { ...early, sentParts: 1 }, early], [0, 2]],
      ['not one alone', Infinity, [early, late], [0]],
      ['all on a channel that joins', 3, [early, {}, late, { sentParts: 1 }], [0, 1, 2]],
      ['no fewer than it joins', 3, [early, early], [0]],
    ];
    for (const [what, joinsFrom, times, together] of rows)
      it(what, () => {
        const lane = times.map((each, n) => queued(n, each));
        const ids = together.map((n) => lane[n]?.delivery.id);
        expect(idsOf(lane, NINE + 3 * HOUR, joinsFrom)).to.deep.equal(ids);
      });
  });

  describe('makes a parcel', () => {
    it('of one delivery as it is', () => {
      const one = delivery(1, { title: 'Build', tags: ['tada'], silent: true, sentParts: 2 });
      expect(parcelOf([one])).to.deep.equal({ ...one, acceptedMs: NINE, count: 1 });
    });

    it('of several with the highest priority, a line each', () => {
      const several = [
        delivery(1, { priority: 2, event: 'taskComplete', title: 'Build', silent: true, tags: ['tada'] }),
        delivery(2, { priority: 4, event: 'error', message: 'y' }),
        delivery(3, { priority: 4, event: 'attention', message: 'z', silent: true }),
      ] as const;
      expect(parcelOf(several)).to.deep.equal({
        ...{ id: several[0].id, acceptedMs: NINE, count: 3, event: 'error', priority: 4 },
        ...{
          title: '3 notifications',
          message: '• Build: x\n• y\n• z',
          tags: [],
          silent: false,
          sentParts: 0,
        },
      });
      expect(parcelOf([several[0], several[2]]).silent).to.equal(true);
    });
  });

  describe('knows how old a delivery is', () => {
    const boot = { id: 'b', upMs: 0 };
    const rows: [what: string, setBy: number, Partial<Delivery>, movedBy: number][] = [
      ['after a correction', HOUR - 1, { boot }, 0],
      ['after a correction backwards', 1 - HOUR, { boot }, 0],
      ['after a clock was set ahead', HOUR, { boot }, HOUR],
      ['after a clock was set back', -HOUR, { boot }, -HOUR],
      ['by the clock alone after another boot', 5 * HOUR, { boot: { ...boot, id: 'c' } }, 0],
      ['by the clock alone without a boot', 5 * HOUR, {}, 0],
    ];
    for (const [what, setBy, more, movedBy] of rows)
      it(what, () => {
        const clock = {
          now: () => NINE + MINUTE + setBy,
          monotonic: () => 0,
          boot: () => ({ id: 'b', upMs: MINUTE }),
        };
        const one = delivery(1, more);
        expect(withTrueAge(one, clock)).to.deep.equal({ ...one, at: iso(NINE + movedBy) });
      });

    it('on a system that does not know when it booted', () => {
      const clock = { now: () => NINE + 5 * HOUR, monotonic: () => 0 };
      expect(withTrueAge(delivery(1, { boot }), clock).at).to.equal(iso(NINE));
    });
  });

  describe('gives up', () => {
    const channels = [{ ...fakeChannel('voice'), keepMs: HOUR }, fakeChannel('push')];
    const rows: [what: string, Partial<Delivery>, hours: number][] = [
      ['after a day', {}, 24],
      ['after the time of its channel', { channel: 'voice' }, 1],
      ['after a day on a channel that is gone', { channel: 'sms' }, 24],
      ['that long after it was held', { channel: 'voice', heldUntil: iso(NINE + 3 * HOUR) }, 4],
      ['not sooner for a hold in the past', { channel: 'voice', heldUntil: iso(NINE - HOUR) }, 1],
      ['a day later for a hold that is too long', { channel: 'voice', heldUntil: iso(NINE + 99 * HOUR) }, 25],
      ['as if not held, if the end of the hold is no time', { channel: 'voice', heldUntil: 'soon' }, 1],
    ];
    for (const [what, more, hours] of rows)
      it(what, () => {
        expect(lastAttempt(channels, delivery(1, more))).to.equal(NINE + hours * HOUR);
      });
  });

  it('spreads retries evenly around their delay', () => {
    const waitMs = (attempts: number, random: number, serverMs?: number): number =>
      nextAttempt(NINE, attempts, random, serverMs) - NINE;
    expect([0, 0.5, 1].map((random) => waitMs(2, random))).to.deep.equal([12_000, 15_000, 18_000]);
    expect(waitMs(0, 0.5)).to.equal(5000);
    expect([60_000, 7 * 24 * HOUR].map((serverMs) => waitMs(1, 0.5, serverMs))).to.deep.equal([
      60_000,
      24 * HOUR,
    ]);
    expect(Number.isInteger(waitMs(1, 1 / 3))).to.equal(true);
  });

  it('names the time at which something can be sent', () => {
    const ms = fc.integer({ min: -40, max: 40 }).map((n) => NINE + n * (HOUR / 2));
    const one = fc.record({ since: ms, next: ms, held: fc.boolean() });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 20 }), ms, (all, nowMs) => {
        const lane = all.map(({ since, next, held }, n) =>
          waits(n, next, { waitingSince: iso(since), ...(held ? { heldUntil: iso(next) } : {}) }),
        );
        const dueMs = nextDue(lane, nowMs);
        const batch = nextBatch(lane, Infinity, nowMs);
        expect(batch.length > 0).to.equal(dueMs <= nowMs);
        for (const delivery of batch) expect(isOver(waitOf(delivery), nowMs)).to.equal(true);
        if (lane.length === 0) expect(dueMs).to.equal(Infinity);
      }),
      { numRuns: 300 },
    );
  });
});
