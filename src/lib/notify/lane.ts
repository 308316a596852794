import type { Channel, Parcel } from './channels/channel';
import { EVENTS } from './events';
import type { Delivery } from './outbox';
import { digestText } from './text';

/** A wait that ends at `untilMs`, or earlier if the clock is set back to before `fromMs`. */
export interface Wait {
  fromMs: number;
  untilMs: number;
}

const NO_WAIT: Wait = { fromMs: -Infinity, untilMs: -Infinity };
/** Tolerance for normal clock corrections. */
const CORRECTION_MS = 1_000;
/** Longer than any wait that steward sets. A longer wait means that the clock was wrong. */
const LONGEST_WAIT_MS = 25 * 3_600_000;

/** One channel's pending deliveries, in memory. */
export interface Lane {
  /** Due deliveries, in order of acceptance. */
  ready: Delivery[];
  delayed: { delivery: Delivery; wait: Wait }[];
  /** Until this wait ends, nothing in `delayed` is due. */
  quiet: Wait;
  paused: Wait;
  /** If at least this number of deliveries is due, they are combined into one. */
  joinsFrom: number;
}

const MAX_BATCH = 200;

export function createLane(joinsFrom = Infinity): Lane {
  return {
    ready: [],
    delayed: [],
    quiet: { fromMs: -Infinity, untilMs: Infinity },
    paused: NO_WAIT,
    joinsFrom,
  };
}

export function isOver({ fromMs, untilMs }: Wait, nowMs: number): boolean {
  return nowMs >= untilMs || nowMs < fromMs;
}

/** Returns a delivery's wait. Setting the clock back ends a retry delay, but not quiet hours. */
export function waitOf({
  nextAt,
  heldUntil,
  waitingSince,
  at,
}: Pick<Delivery, 'nextAt' | 'heldUntil' | 'waitingSince' | 'at'>): Wait {
  const untilMs = Date.parse(nextAt);
  return nextAt === heldUntil
    ? { fromMs: untilMs - LONGEST_WAIT_MS, untilMs }
    : waitSince(Date.parse(waitingSince ?? at), untilMs);
}

function waitSince(sinceMs: number, untilMs: number): Wait {
  return { fromMs: Math.max(untilMs - LONGEST_WAIT_MS, sinceMs - CORRECTION_MS), untilMs };
}

export function addTo(lane: Lane, delivery: Delivery): void {
  if (delivery.nextAt === delivery.at) return makeReady(lane, [delivery]);
  const wait = waitOf(delivery);
  lane.delayed.push({ delivery, wait });
  lane.quiet = both(lane.quiet, wait);
}

function both(a: Wait, b: Wait): Wait {
  return { fromMs: Math.max(a.fromMs, b.fromMs), untilMs: Math.min(a.untilMs, b.untilMs) };
}

function makeReady({ ready }: Lane, deliveries: readonly Delivery[]): void {
  const isSorted = deliveries.length === 1 && (ready.at(-1)?.id ?? '') <= (deliveries[0]?.id ?? '');
  ready.push(...deliveries);
  if (!isSorted) ready.sort((a, b) => (a.id < b.id ? -1 : 1));
}

function release(lane: Lane, matches: (delayed: Lane['delayed'][number]) => boolean): boolean {
  const released = lane.delayed.filter(matches);
  lane.delayed = lane.delayed.filter((delayed) => !matches(delayed));
  lane.quiet = lane.delayed.reduce((quiet, { wait }) => both(quiet, wait), {
    fromMs: -Infinity,
    untilMs: Infinity,
  });
  makeReady(
    lane,
    released.map(({ delivery }) => delivery),
  );
  return released.length > 0;
}

function promote(lane: Lane, nowMs: number): void {
  if (isOver(lane.quiet, nowMs)) release(lane, ({ wait }) => isOver(wait, nowMs));
}

/** Returns the time at which the pause ends, or undefined if the lane isn't paused. */
export function pausedUntil({ paused }: Lane, nowMs: number): number | undefined {
  return isOver(paused, nowMs) ? undefined : paused.untilMs;
}

export function isReady(lane: Lane, nowMs: number): boolean {
  promote(lane, nowMs);
  return pausedUntil(lane, nowMs) === undefined && lane.ready.length > 0;
}

/** Removes and returns the next deliveries, which are sent as one message. */
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

/**
 * Returns `first` and the deliveries to combine with it: pushes held until the same quiet hours end, or all
 * due deliveries on a channel that combines them.
 */
function batchOf({ ready, joinsFrom }: Lane, first: Delivery): Delivery[] {
  const joins = joinsFrom < Infinity;
  if (first.sentParts > 0 || (!joins && first.heldUntil === undefined)) return [first];
  const alike = ready
    .filter(({ sentParts, heldUntil }) => sentParts === 0 && (joins || heldUntil === first.heldUntil))
    .slice(0, MAX_BATCH);
  return alike.length >= (joins ? joinsFrom : 2) ? alike : [first];
}

/** Pauses the lane; returns its due deliveries. */
export function pause(lane: Lane, untilMs: number, nowMs: number): readonly Delivery[] {
  lane.paused = waitSince(nowMs, untilMs);
  return lane.ready;
}

/** Makes a notification's deliveries due immediately. */
export function hasten(lane: Lane, id: string): void {
  if (release(lane, ({ delivery }) => delivery.id === id)) lane.paused = NO_WAIT;
}

/** Ends the pause, and makes failed deliveries due immediately. */
export function resume(lane: Lane): void {
  release(lane, ({ delivery }) => delivery.nextAt !== delivery.heldUntil);
  lane.paused = NO_WAIT;
}

/** Returns the time at which the next delivery is due; Infinity if nothing is pending. */
export function nextDue(lane: Lane, nowMs: number): number {
  promote(lane, nowMs);
  const earliest = lane.ready.length > 0 ? 0 : lane.quiet.untilMs;
  return earliest === Infinity ? Infinity : Math.max(earliest, pausedUntil(lane, nowMs) ?? 0);
}

/** Returns the delivery without its text if the session is restricted and the channel sends text elsewhere. */
function forChannel(delivery: Delivery, { isLocal }: Pick<Channel, 'isLocal'>): Delivery {
  if (delivery.restricted !== true || isLocal?.() === true) return delivery;
  const { generic } = EVENTS[delivery.event];
  return { ...delivery, message: generic, title: undefined, url: undefined, tags: [] };
}

/** Builds the parcel for the channel: one delivery, or a digest of several. */
export function parcelOf(
  [one, ...others]: readonly [Delivery, ...Delivery[]],
  channel: Pick<Channel, 'isLocal'>,
): Parcel {
  const first = forChannel(one, channel);
  const deliveries = [first, ...others.map((other) => forChannel(other, channel))];
  const count = deliveries.length;
  const acceptedMs = Date.parse(first.at);
  if (count === 1) return { ...first, acceptedMs, count };
  const { event, priority } = deliveries.reduce((a, b) => (b.priority > a.priority ? b : a));
  const lines = deliveries.map(({ title, message }) =>
    title === undefined ? message : `${title}: ${message}`,
  );
  return {
    ...{ id: first.id, acceptedMs, count, event, priority },
    title: `${count} notifications`,
    message: digestText(lines),
    tags: [],
    silent: deliveries.every(({ silent }) => silent),
    sentParts: 0,
  };
}
