import { createHeap } from '../platform/files/heap';
import type { Parcel } from './channels/channel';
import { type Delivery, nameOf } from './delivery';
import { isDue, waitOf } from './settle';
import { digestText } from './text';

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

/** A delivery that waits for its time, and when that is (retry.ts). */
interface Delayed {
  delivery: Delivery;
  fromMs: number;
  untilMs: number;
}

/**
 * Asked at every notification that is accepted, so ten thousand that wait cost no more than ten: only the next one is
 * looked at, and all of them only when the clock was put back.
 */
export function createLane(): Lane {
  const known = new Set<string>();
  /** In the order of their ids, from `head` on. */
  let ready: Delivery[] = [];
  let head = 0;
  const delayed = createHeap<Delayed>((a, b) => a.untilMs < b.untilMs);
  /** A clock that shows less was put back since one of them was set to wait. */
  let latestFromMs = -Infinity;
  let paused = { sinceMs: 0, untilMs: 0 };

  const wait = (delivery: Delivery): void => {
    const { fromMs, untilMs } = waitOf(delivery);
    delayed.add({ delivery, fromMs, untilMs });
    latestFromMs = Math.max(latestFromMs, fromMs);
  };

  const enqueue = (delivery: Delivery): void => {
    let low = head;
    for (let high = ready.length; low < high;) {
      const middle = (low + high) >> 1;
      if ((ready[middle] as Delivery).id < delivery.id) low = middle + 1;
      else high = middle;
    }
    ready.splice(low, 0, delivery);
  };

  /** Those that it holds for are due. */
  const hastenAll = (isMeant: (delayed: Delayed) => boolean): void => {
    latestFromMs = -Infinity;
    for (const one of delayed.takeAll()) (isMeant(one) ? enqueue : wait)(one.delivery);
  };

  const promote = (nowMs: number): void => {
    if (nowMs < latestFromMs) hastenAll(({ fromMs }) => nowMs < fromMs);
    for (let next = delayed.first(); next !== undefined && next.untilMs <= nowMs; next = delayed.first()) {
      delayed.take();
      enqueue(next.delivery);
    }
  };
  const isPaused = (nowMs: number): boolean => !isDue(paused.untilMs, nowMs, paused.sinceMs);

  return {
    add(delivery) {
      const name = nameOf(delivery);
      if (known.has(name)) return;
      known.add(name);
      (delivery.nextAt === delivery.at ? enqueue : wait)(delivery);
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
      let isMeant = false;
      hastenAll(({ delivery }) => {
        if (delivery.id !== id) return false;
        isMeant = true;
        return true;
      });
      if (isMeant) paused = { sinceMs: 0, untilMs: 0 };
    },
    resume() {
      hastenAll(({ delivery }) => delivery.nextAt !== delivery.heldUntil);
      paused = { sinceMs: 0, untilMs: 0 };
    },
    nextDue(nowMs) {
      promote(nowMs);
      const earliest = ready.length > head ? 0 : (delayed.first()?.untilMs ?? Infinity);
      if (earliest === Infinity) return Infinity;
      return isPaused(nowMs) ? Math.max(earliest, paused.untilMs) : earliest;
    },
  };
}

/** The common case, decided without looking at the others that wait. */
function isAlone(first: Delivery): boolean {
  return first.channel !== 'desktop' && first.heldUntil === undefined;
}

/** How many banners may come at once before they become one. */
const MANY = 4;
const MOST_AT_ONCE = 200;

/**
 * Which of the deliveries that are due for a channel go out together, from the first on: pushes that waited for
 * the end of the quiet hours are one digest, and so are many banners at once. Else the first goes alone.
 */
export function together(due: readonly Delivery[]): Delivery[] {
  const [first] = due;
  if (first === undefined) return [];
  const alike = due
    .filter((delivery) => delivery.sentParts === 0 && isDigested(delivery, first))
    .slice(0, MOST_AT_ONCE);
  const isMany = alike.length >= (first.channel === 'desktop' ? MANY : 2);
  return isMany && first.sentParts === 0 ? alike : [first];
}

function isDigested(delivery: Delivery, first: Delivery): boolean {
  if (delivery.channel === 'desktop') return true;
  return delivery.heldUntil !== undefined && delivery.heldUntil === first.heldUntil;
}

/** What the channel is given: the delivery, or a digest of several. */
export function parcelOf(deliveries: readonly [Delivery, ...Delivery[]]): Parcel {
  const [first] = deliveries;
  if (deliveries.length > 1) return digestOf(deliveries);
  const { id, event, priority, message, title, voiceId, url, dedupe, tags, silent, sentParts } = first;
  return {
    id,
    acceptedMs: Date.parse(first.at),
    event,
    priority,
    message,
    ...(title === undefined ? {} : { title }),
    ...(voiceId === undefined ? {} : { voiceId }),
    ...(url === undefined ? {} : { url }),
    ...(dedupe === undefined ? {} : { dedupe }),
    tags,
    silent,
    count: 1,
    sentParts,
  };
}

function digestOf(deliveries: readonly [Delivery, ...Delivery[]]): Parcel {
  const [first] = deliveries;
  const highest = deliveries.reduce((best, one) => (one.priority > best.priority ? one : best));
  const lines = deliveries.map(({ title, message }) =>
    title === undefined ? message : `${title}: ${message}`,
  );
  return {
    id: first.id,
    acceptedMs: Date.parse(first.at),
    event: highest.event,
    priority: highest.priority,
    title: `${deliveries.length} notifications`,
    message: digestText(lines),
    tags: [],
    silent: deliveries.every(({ silent }) => silent),
    count: deliveries.length,
    sentParts: 0,
  };
}
