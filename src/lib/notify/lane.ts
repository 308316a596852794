import { clockSetBy, parseIso, toIso, type Clock } from '../platform/time/clock';
import type { Channel, Parcel } from './channels/channel';
import type { Delivery } from './outbox';
import { digestText } from './text';

/** A wait that ends at `untilMs`, or earlier if the clock is set back to before `fromMs`. */
export interface Wait {
  fromMs: number;
  untilMs: number;
}

/** A pending delivery of this machine, and its wait, which a change of the settings can end. */
export interface QueuedDelivery {
  delivery: Delivery;
  wait: Wait;
}

export const NO_WAIT: Wait = { fromMs: -Infinity, untilMs: -Infinity };
/** Tolerance for normal clock corrections. */
const CORRECTION_MS = 1_000;
/** Longer than any wait that steward sets. A longer wait means that the clock was wrong. */
const LONGEST_WAIT_MS = 25 * 3_600_000;
const MAX_BATCH = 200;

export function isOver({ fromMs, untilMs }: Wait, nowMs: number): boolean {
  return nowMs >= untilMs || nowMs < fromMs;
}

/** Returns a delivery's wait. Setting the clock back ends a retry delay, but not quiet hours. */
export function waitOf(
  delivery: Pick<Delivery, 'nextAt' | 'heldUntil' | 'atBreak' | 'waitingSince' | 'at'>,
): Wait {
  const { nextAt, heldUntil, atBreak, waitingSince, at } = delivery;
  const untilMs = Date.parse(nextAt);
  if (nextAt === at) return NO_WAIT;
  if (nextAt === heldUntil && atBreak === undefined) return { fromMs: untilMs - LONGEST_WAIT_MS, untilMs };
  const sinceMs = Date.parse(waitingSince ?? at);
  return { fromMs: Math.max(untilMs - LONGEST_WAIT_MS, sinceMs - CORRECTION_MS), untilMs };
}

/** Returns the time at which the lane's next delivery is due; Infinity if nothing is pending. */
export function nextDue(lane: readonly QueuedDelivery[], nowMs: number): number {
  return Math.min(Infinity, ...lane.map(({ wait }) => (isOver(wait, nowMs) ? nowMs : wait.untilMs)));
}

/**
 * Returns the next deliveries of a lane, which are sent as one message: the oldest that is due, and those to
 * combine with it (pushes held until the same quiet hours end, or all on a channel that combines them).
 */
export function nextBatch(lane: readonly QueuedDelivery[], joinsFrom: number, nowMs: number): Delivery[] {
  const due = lane.filter(({ wait }) => isOver(wait, nowMs)).map(({ delivery }) => delivery);
  const [first] = due;
  if (first === undefined) return [];
  const joins = joinsFrom < Infinity;
  const isDigest = joins || (first.heldUntil !== undefined && first.atBreak === undefined);
  if (first.sentParts > 0 || !isDigest) return [first];
  const alike = due
    .filter(({ sentParts, heldUntil }) => sentParts === 0 && (joins || heldUntil === first.heldUntil))
    .slice(0, MAX_BATCH);
  return alike.length >= (joins ? joinsFrom : 2) ? alike : [first];
}

/** Builds the parcel for a channel: one delivery, or a digest of several. */
export function parcelOf(deliveries: readonly [Delivery, ...Delivery[]]): Parcel {
  const [first] = deliveries;
  const count = deliveries.length;
  const acceptedMs = Date.parse(first.at);
  if (count === 1) return { ...first, acceptedMs, count };
  const { event, priority } = deliveries.reduce((a, b) => (b.priority > a.priority ? b : a));
  const lines = deliveries.map(({ title, message }) =>
    title === undefined ? message : `${title}: ${message}`,
  );
  return {
    id: first.id,
    acceptedMs,
    count,
    event,
    priority,
    title: `${count} notifications`,
    message: digestText(lines),
    tags: [],
    silent: deliveries.every(({ silent }) => silent),
    sentParts: 0,
  };
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const FIRST_MS = 5_000;
const LONGEST_MS = HOUR_MS / 2;

/** Corrects the acceptance time if the clock has since been changed by more than an hour. */
export function withTrueAge(delivery: Delivery, clock: Clock): Delivery {
  const atMs = Date.parse(delivery.at);
  const now = { wallMs: clock.now(), boot: clock.boot?.() };
  const setBy = clockSetBy({ wallMs: atMs, boot: delivery.boot }, now) ?? 0;
  return Math.abs(setBy) < HOUR_MS ? delivery : { ...delivery, at: toIso(atMs + setBy) };
}

/**
 * Returns a delivery's deadline: a day (or the channel's `keepMs`) after the delivery was accepted or became
 * due.
 */
export function lastAttempt(
  channels: readonly Pick<Channel, 'id' | 'keepMs'>[],
  { channel, at, heldUntil }: Pick<Delivery, 'channel' | 'at' | 'heldUntil'>,
): number {
  const { keepMs = DAY_MS } = channels.find(({ id }) => id === channel) ?? {};
  const acceptedMs = Date.parse(at);
  const heldMs = parseIso(heldUntil ?? '') ?? 0;
  return Math.max(acceptedMs, Math.min(heldMs, acceptedMs + DAY_MS)) + keepMs;
}

/**
 * Returns the time of the next attempt, in epoch ms. Uses exponential backoff from 5 s to 30 min with 20%
 * jitter, but never retries earlier than the server allows. `attempts` includes the failed attempt.
 */
export function nextAttempt(nowMs: number, attempts: number, random: number, serverMs: number | undefined) {
  const backOff = Math.min(LONGEST_MS, FIRST_MS * 3 ** Math.max(0, attempts - 1));
  const spread = backOff * (0.8 + 0.4 * random);
  return Math.round(nowMs + Math.max(spread, Math.min(serverMs ?? 0, DAY_MS)));
}
