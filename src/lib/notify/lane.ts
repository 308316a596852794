import type { Parcel } from './channels/channel';
import { nameOf, type Delivery } from './outbox';
import { isDue, waitOf } from './settle';
import { digestText } from './text';

/** What waits for one channel, in memory. */
export interface Lane {
  /** The names of all that is waiting or on its way. */
  known: Set<string>;
  /** What is due, in the order of acceptance. */
  ready: Delivery[];
  /** What waits for its time, the earliest first. */
  delayed: { delivery: Delivery; fromMs: number; untilMs: number }[];
  /** A clock that shows less moved back since one of them was set to wait. */
  latestFromMs: number;
  paused: { sinceMs: number; untilMs: number };
  /** So many that are due become one. */
  joinsFrom: number;
}

const MOST_AT_ONCE = 200;

export function createLane(joinsFrom = Infinity): Lane {
  return {
    known: new Set(),
    ready: [],
    delayed: [],
    latestFromMs: -Infinity,
    paused: { sinceMs: 0, untilMs: 0 },
    joinsFrom,
  };
}

export function addTo(lane: Lane, delivery: Delivery): void {
  const name = nameOf(delivery);
  if (lane.known.has(name)) return;
  lane.known.add(name);
  if (delivery.nextAt === delivery.at) makeReady(lane, delivery);
  else delay(lane, delivery);
}

function makeReady(lane: Lane, delivery: Delivery): void {
  insert(lane.ready, delivery, (other) => other.id < delivery.id);
}

function delay(lane: Lane, delivery: Delivery): void {
  const one = { delivery, ...waitOf(delivery) };
  insert(lane.delayed, one, (other) => other.untilMs <= one.untilMs);
  lane.latestFromMs = Math.max(lane.latestFromMs, one.fromMs);
}

function insert<T>(sorted: T[], item: T, isBefore: (other: T) => boolean): void {
  let low = 0;
  for (let high = sorted.length; low < high;) {
    const middle = (low + high) >> 1;
    if (isBefore(sorted[middle] as T)) low = middle + 1;
    else high = middle;
  }
  sorted.splice(low, 0, item);
}

/** Makes those that it holds for due; returns whether there were any. */
function hastenAll(lane: Lane, isMeant: (delayed: Lane['delayed'][number]) => boolean): boolean {
  const meant = lane.delayed.filter(isMeant);
  lane.delayed = lane.delayed.filter((one) => !isMeant(one));
  lane.latestFromMs = lane.delayed.reduce((latest, { fromMs }) => Math.max(latest, fromMs), -Infinity);
  for (const { delivery } of meant) makeReady(lane, delivery);
  return meant.length > 0;
}

function promote(lane: Lane, nowMs: number): void {
  if (nowMs < lane.latestFromMs) hastenAll(lane, ({ fromMs }) => nowMs < fromMs);
  const waits = lane.delayed.findIndex(({ untilMs }) => untilMs > nowMs);
  for (const { delivery } of lane.delayed.splice(0, waits === -1 ? Infinity : waits))
    makeReady(lane, delivery);
}

/** Until when nothing goes out; undefined: the lane is not paused. */
export function pausedUntil({ paused }: Lane, nowMs: number): number | undefined {
  return isDue(paused.untilMs, nowMs, paused.sinceMs) ? undefined : paused.untilMs;
}

export function isReady(lane: Lane, nowMs: number): boolean {
  promote(lane, nowMs);
  return pausedUntil(lane, nowMs) === undefined && lane.ready.length > 0;
}

/** Takes what goes out next, several where they go out as one; nothing where nothing is due. */
export function takeFrom(lane: Lane, nowMs: number): Delivery[] {
  const [first] = isReady(lane, nowMs) ? lane.ready : [];
  if (first === undefined) return [];
  const batch = batchOf(lane, first);
  if (batch.length === 1) lane.ready.shift();
  else {
    const taken = new Set(batch);
    lane.ready = lane.ready.filter((delivery) => !taken.has(delivery));
  }
  return batch;
}

/** What waited for the end of the quiet hours goes out as one digest, and so does what the channel joins. */
function batchOf({ ready, joinsFrom }: Lane, first: Delivery): Delivery[] {
  const isJoined = joinsFrom < Infinity;
  if (first.sentParts > 0 || (!isJoined && first.heldUntil === undefined)) return [first];
  const alike = ready
    .filter(({ sentParts, heldUntil }) => sentParts === 0 && (isJoined || heldUntil === first.heldUntil))
    .slice(0, MOST_AT_ONCE);
  return alike.length >= (isJoined ? joinsFrom : 2) ? alike : [first];
}

/** Lets nothing out before that; returns what was due. */
export function pause(lane: Lane, untilMs: number, nowMs: number): readonly Delivery[] {
  lane.paused = { sinceMs: nowMs, untilMs };
  return lane.ready;
}

/** What waits of a notification is due now. */
export function hasten(lane: Lane, id: string): void {
  if (hastenAll(lane, ({ delivery }) => delivery.id === id)) lane.paused = { sinceMs: 0, untilMs: 0 };
}

/** All that failed is due now: what kept it may have been fixed. */
export function resume(lane: Lane): void {
  hastenAll(lane, ({ delivery }) => delivery.nextAt !== delivery.heldUntil);
  lane.paused = { sinceMs: 0, untilMs: 0 };
}

/** When there may be something to do, wall-clock ms; Infinity: never. */
export function nextDue(lane: Lane, nowMs: number): number {
  promote(lane, nowMs);
  const earliest = lane.ready.length > 0 ? 0 : (lane.delayed[0]?.untilMs ?? Infinity);
  return earliest === Infinity ? Infinity : Math.max(earliest, pausedUntil(lane, nowMs) ?? 0);
}

/** What the channel is given: the delivery, or a digest of several. */
export function parcelOf(deliveries: readonly [Delivery, ...Delivery[]]): Parcel {
  const [first] = deliveries;
  const parcel = { ...first, acceptedMs: Date.parse(first.at), count: deliveries.length };
  if (deliveries.length === 1) return parcel;
  const { id, acceptedMs, count } = parcel;
  const { event, priority } = deliveries.reduce((best, one) => (one.priority > best.priority ? one : best));
  return {
    ...{ id, acceptedMs, count, event, priority },
    title: `${count} notifications`,
    message: digestText(
      deliveries.map(({ title, message }) => (title === undefined ? message : `${title}: ${message}`)),
    ),
    tags: [],
    silent: deliveries.every(({ silent }) => silent),
    sentParts: 0,
  };
}
