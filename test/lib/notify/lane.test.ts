import { expect } from 'chai';
import fc from 'fast-check';

import { isOver, nextBatch, nextDue, waitOf, type QueuedDelivery } from '../../../src/lib/notify/lane';
import { type Delivery } from '../../../src/lib/notify/outbox';
import { MINUTE, NINE } from '../../helpers/notify';

const HOUR = 60 * MINUTE;

describe('notify: a lane', () => {
  const iso = (ms: number): string => new Date(ms).toISOString();
  const queued = (n: number, times: Partial<Delivery> = {}): QueuedDelivery => {
    const delivery: Delivery = {
      id: `20261120T090000000Z-${n.toString(16).padStart(12, '0')}`,
      channel: 'push',
      machine: '0123456789ab',
      at: iso(NINE),
      event: 'taskComplete',
      priority: 3,
      message: 'x',
      tags: [],
      silent: false,
      nextAt: times.at ?? iso(NINE),
      attempts: 0,
      interrupted: 0,
      sentParts: 0,
      ...times,
    };
    return { delivery, wait: waitOf(delivery) };
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
