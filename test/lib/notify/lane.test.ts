import { expect } from 'chai';
import fc from 'fast-check';

import * as lanes from '../../../src/lib/notify/lane';
import { type Delivery } from '../../../src/lib/notify/outbox';
import { MINUTE, NINE } from '../../helpers/notify';

const HOUR = 60 * MINUTE;

describe('notify: a lane', () => {
  const iso = (ms: number): string => new Date(ms).toISOString();
  const delivery = (n: number, times: Partial<Delivery> = {}): Delivery => ({
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
  });
  const waits = (n: number, sinceMs: number, nextMs: number): Delivery =>
    delivery(n, { waitingSince: iso(sinceMs), nextAt: iso(nextMs), attempts: 1 });

  it('parses the times of a delivery once', () => {
    const lane = laneOf();
    let reads = 0;
    for (let n = 0; n < 2000; n += 1) {
      const one = waits(n, NINE, NINE + MINUTE + ((n * 7919) % 2003));
      const { nextAt } = one;
      Object.defineProperty(one, 'nextAt', { get: () => ((reads += 1), nextAt) });
      lane.add(one);
    }
    const before = reads;
    expect(before).to.be.lessThan(2000 * 5);
    for (let n = 0; n < 200; n += 1) {
      lane.add(delivery(5000 + n));
      expect(lane.isReady(NINE + n)).to.equal(true);
      expect(lane.nextDue(NINE + n)).to.equal(0);
      expect(lane.take(NINE + n)).to.have.length(1);
      expect(lane.nextDue(NINE + n)).to.equal(NINE + MINUTE);
    }
    expect(reads - before).to.equal(0);
    let taken = 0;
    for (let ms = NINE + MINUTE; ms < NINE + MINUTE + 2003; ms += 1) taken += lane.take(ms).length;
    expect([taken, reads - before]).to.deep.equal([2000, 0]);
  });

  it('returns what is due in the order of acceptance, like a model that checks all of them each time', () => {
    const ms = fc.integer({ min: -40, max: 40 }).map((n) => n * (HOUR / 2));
    const step = fc.oneof(
      fc.record({ kind: fc.constant('at once' as const), n: fc.nat(30) }),
      fc.record({ kind: fc.constant('waits' as const), n: fc.nat(30), since: ms, next: ms }),
      fc.record({ kind: fc.constant('held' as const), n: fc.nat(30), next: ms }),
      fc.record({ kind: fc.constant('clock' as const), by: ms }),
      fc.record({ kind: fc.constant('take' as const) }),
      fc.record({ kind: fc.constant('pause' as const), by: ms }),
      fc.record({ kind: fc.constant('hasten' as const), n: fc.nat(30) }),
      fc.record({ kind: fc.constant('resume' as const) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const lane = laneOf();
        const model = naive();
        let nowMs = NINE;
        for (const one of steps) {
          if (one.kind === 'clock') nowMs += one.by;
          const added = deliveryOf(one, nowMs);
          if (added !== undefined && !model.has(added)) for (const each of [lane, model]) each.add(added);
          for (const each of [lane, model]) {
            if (one.kind === 'pause') each.pause(nowMs + one.by, nowMs);
            if (one.kind === 'hasten') each.hasten(delivery(one.n).id);
            if (one.kind === 'resume') each.resume();
          }
          expect(lane.isReady(nowMs)).to.equal(model.isReady(nowMs));
          expect(lane.nextDue(nowMs) <= nowMs).to.equal(model.nextDue(nowMs) <= nowMs);
          if (model.nextDue(nowMs) > nowMs) expect(lane.nextDue(nowMs)).to.equal(model.nextDue(nowMs));
          if (one.kind === 'take') {
            const [mine, theirs] = [lane.take(nowMs), model.take(nowMs)];
            // Of those held for the same time several go out together, the first being the one that is next.
            expect(mine[0]?.id).to.equal(theirs[0]?.id);
            model.drop(mine);
          }
        }
      }),
      { numRuns: 100 },
    );
  });

  type Step = { kind: string; n?: number; since?: number; next?: number };
  function deliveryOf({ kind, n = 0, since = 0, next = 0 }: Step, nowMs: number): Delivery | undefined {
    const until = iso(nowMs + next);
    if (kind === 'at once') return delivery(n, { at: iso(nowMs) });
    if (kind === 'waits') return waits(n, nowMs + since, nowMs + next);
    return kind === 'held' ? delivery(n, { heldUntil: until, nextAt: until }) : undefined;
  }

  function laneOf() {
    const lane = lanes.createLane();
    return {
      add: (one: Delivery) => lanes.addTo(lane, one),
      isReady: (nowMs: number) => lanes.isReady(lane, nowMs),
      take: (nowMs: number) => lanes.takeFrom(lane, nowMs),
      pause: (untilMs: number, nowMs: number) => lanes.pause(lane, untilMs, nowMs),
      hasten: (id: string) => lanes.hasten(lane, id),
      resume: () => lanes.resume(lane),
      nextDue: (nowMs: number) => lanes.nextDue(lane, nowMs),
    };
  }

  /** The same, simpler: checks everything each time. */
  function naive() {
    let ready: Delivery[] = [];
    let delayed: Delivery[] = [];
    const NO_WAIT = { nextAt: iso(0), at: iso(0) };
    let paused = NO_WAIT;
    const due = (isMeant: (one: Delivery) => boolean): void => {
      ready = [...ready, ...delayed.filter(isMeant)].sort((a, b) => (a.id < b.id ? -1 : 1));
      delayed = delayed.filter((one) => !isMeant(one));
    };
    const isDue = (one: Pick<Delivery, 'at' | 'nextAt'>, nowMs: number): boolean =>
      lanes.isOver(lanes.waitOf(one), nowMs);
    const isPaused = (nowMs: number): boolean => !isDue(paused, nowMs);
    const model = {
      add(one: Delivery): void {
        delayed.push(one);
        due((each) => each === one && each.nextAt === each.at);
      },
      has: ({ id }: Delivery) => [...ready, ...delayed].some((one) => one.id === id),
      drop(taken: readonly Delivery[]): void {
        ready = ready.filter(({ id }) => !taken.some((one) => one.id === id));
      },
      isReady(nowMs: number): boolean {
        due((one) => isDue(one, nowMs));
        return !isPaused(nowMs) && ready.length > 0;
      },
      take: (nowMs: number): Delivery[] => (model.isReady(nowMs) ? ready.slice(0, 1) : []),
      pause(untilMs: number, nowMs: number): Delivery[] {
        paused = { at: iso(nowMs), nextAt: iso(untilMs) };
        return ready;
      },
      hasten(id: string): void {
        if (delayed.some((one) => one.id === id)) paused = NO_WAIT;
        due((one) => one.id === id);
      },
      resume(): void {
        paused = NO_WAIT;
        due((one) => one.nextAt !== one.heldUntil);
      },
      nextDue(nowMs: number): number {
        due((one) => isDue(one, nowMs));
        const next =
          ready.length > 0 ? 0 : Math.min(Infinity, ...delayed.map(({ nextAt }) => Date.parse(nextAt)));
        return next === Infinity || !isPaused(nowMs) ? next : Math.max(next, Date.parse(paused.nextAt));
      },
    };
    return model;
  }
});
