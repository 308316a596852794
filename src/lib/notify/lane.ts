import { nameOf, type Delivery } from './delivery';
import { together } from './parcel';
import { isDue, isTimeFor } from './retry';

/** What waits for one channel, in memory: the ready ones in the order of their acceptance. */
export interface Lane {
  add: (delivery: Delivery) => void;
  /** It is no business of this lane any more; until then it is known, also while it is on its way. */
  forget: (delivery: Delivery) => void;
  has: (name: string) => boolean;
  isReady: (nowMs: number) => boolean;
  /** Takes what goes out next, several where they go out as one; none when nothing is due. */
  take: (nowMs: number) => Delivery[];
  /** Nothing goes out before that; returns what was ready. */
  pause: (untilMs: number, nowMs: number) => Delivery[];
  /** Until when nothing goes out; undefined: it is not paused. */
  pausedUntil: (nowMs: number) => number | undefined;
  /** What waits of a notification is due now. */
  hasten: (id: string) => void;
  /** All that failed is due now: what kept it may have been mended. */
  resume: () => void;
  /** When there may be something to do, wall-clock ms; Infinity: never. */
  nextDue: (nowMs: number) => number;
}

export function createLane(): Lane {
  const known = new Set<string>();
  /** In the order of their ids but for what was retried. */
  let ready: Delivery[] = [];
  let head = 0;
  let delayed: Delivery[] = [];
  let paused = { sinceMs: 0, untilMs: 0 };

  const promote = (nowMs: number): void => {
    const due: Delivery[] = [];
    const rest: Delivery[] = [];
    for (const delivery of delayed) {
      (isTimeFor(delivery, nowMs) ? due : rest).push(delivery);
    }
    if (due.length === 0) return;
    delayed = rest;
    ready = [...ready.slice(head), ...due].sort((a, b) => (a.id < b.id ? -1 : 1));
    head = 0;
  };
  const isPaused = (nowMs: number): boolean => !isDue(paused.untilMs, nowMs, paused.sinceMs);
  const nowDue = (delivery: Delivery): Delivery => ({ ...delivery, nextAt: delivery.at });

  return {
    add(delivery) {
      const name = nameOf(delivery);
      if (known.has(name)) return;
      known.add(name);
      const last = ready[ready.length - 1];
      const isNext = delivery.nextAt === delivery.at && (last === undefined || last.id < delivery.id);
      (isNext ? ready : delayed).push(delivery);
    },
    forget: (delivery) => known.delete(nameOf(delivery)),
    has: (name) => known.has(name),
    isReady(nowMs) {
      promote(nowMs);
      return !isPaused(nowMs) && ready.length > head;
    },
    take(nowMs) {
      promote(nowMs);
      if (isPaused(nowMs)) return [];
      const first = ready[head];
      if (first === undefined) return [];
      const batch = isAlone(first) ? [first] : together(ready.slice(head));
      if (batch.length === 1) head += 1;
      else {
        const taken = new Set(batch);
        ready = ready.slice(head).filter((delivery) => !taken.has(delivery));
        head = 0;
      }
      if (head > 1000) {
        ready = ready.slice(head);
        head = 0;
      }
      return batch;
    },
    pause(untilMs, nowMs) {
      paused = { sinceMs: nowMs, untilMs };
      return ready.slice(head);
    },
    pausedUntil: (nowMs) => (isPaused(nowMs) ? paused.untilMs : undefined),
    hasten(id) {
      if (!delayed.some((delivery) => delivery.id === id)) return;
      delayed = delayed.map((delivery) => (delivery.id === id ? nowDue(delivery) : delivery));
      paused = { sinceMs: 0, untilMs: 0 };
    },
    resume() {
      delayed = delayed.map((delivery) =>
        delivery.nextAt === delivery.heldUntil ? delivery : nowDue(delivery),
      );
      paused = { sinceMs: 0, untilMs: 0 };
    },
    nextDue(nowMs) {
      const times = delayed.map((delivery) => (isTimeFor(delivery, nowMs) ? 0 : Date.parse(delivery.nextAt)));
      const earliest = ready.length > head ? 0 : Math.min(Infinity, ...times);
      if (earliest === Infinity) return Infinity;
      return isPaused(nowMs) ? Math.max(earliest, paused.untilMs) : earliest;
    },
  };
}

/** The common case, decided without looking at the others that wait. */
function isAlone(first: Delivery): boolean {
  return first.channel !== 'desktop' && first.heldUntil === undefined;
}
