import { abandoned, bury, finish, record, release } from '../platform/files/spool';
import { clockSetBy, parseIso, toIso, type Clock } from '../platform/time/clock';
import type { Channel, Outcome } from './channels/channel';
import { logResult, type HistoryDeps } from './history';
import { isOver, waitOf } from './lane';
import { nameOf, type Delivery, type Result, outboxOf, type OutboxDeps } from './outbox';

export interface SettleDeps extends OutboxDeps, HistoryDeps {
  channels: readonly Channel[];
  random: () => number;
}

/**
 * Stores the outcome of an attempt; returns the delivery if it is still pending. Stores a final result before
 * logging it, so that a crash can't lose it.
 */
export function settle(deps: SettleDeps, delivery: Delivery, outcome: Outcome): Delivery | undefined {
  const tried = { ...delivery, attempts: delivery.attempts + 1 };
  switch (outcome.outcome) {
    case 'delivered':
      return end(deps, tried, 'delivered');
    case 'failed':
      return end(deps, tried, 'failed', reasonOf(outcome));
    case 'show':
      return moveToDesktop(deps, delivery, outcome.reason);
    case 'again':
      return postpone(deps, tried, outcome);
  }
}

export function end(deps: SettleDeps, delivery: Delivery, result: Result, reason?: string): undefined {
  const ended: Delivery = { ...delivery, result, reason };
  record(outboxOf(deps), nameOf(delivery), ended);
  close(deps, nameOf(delivery), ended);
}

function close(deps: SettleDeps, name: string, ended: Delivery): void {
  const { result = 'unknown', reason } = ended;
  logResult(deps, ended, result, reason);
  if (['delivered', 'shown', 'superseded'].includes(result)) finish(outboxOf(deps), name);
  else bury(outboxOf(deps), 'claimed', name, { atMs: deps.clock.now() });
}

type Again = Extract<Outcome, { outcome: 'again' }>;

function postpone(deps: SettleDeps, tried: Delivery, outcome: Again): Delivery | undefined {
  const nowMs = deps.clock.now();
  const waitingSince = toIso(nowMs);
  // If the clock has been set back since the delivery was accepted, treat the delivery as accepted now.
  const at = Date.parse(tried.at) > nowMs ? waitingSince : tried.at;
  const lastMs = lastAttempt(deps, { ...tried, at });
  const retryMs = nextAttempt(nowMs, tried.attempts, deps.random(), outcome.afterMs);
  // Make a last attempt at the deadline, unless the server requested a longer delay.
  const nextMs = outcome.afterMs === undefined && nowMs < lastMs ? Math.min(retryMs, lastMs) : retryMs;
  if (nextMs > lastMs) return end(deps, tried, 'expired', reasonOf(outcome));
  const next: Delivery = { ...tried, at, nextAt: toIso(nextMs), waitingSince };
  putBack(deps, nameOf(tried), next);
  logResult(deps, next, 'waiting', reasonOf(outcome));
  return next;
}

function putBack(deps: SettleDeps, name: string, next: Delivery): void {
  record(outboxOf(deps), name, next);
  release(outboxOf(deps), name, nameOf(next));
}

/** Moves a voice delivery to the desktop with a single rename, so that a crash can't cause a duplicate. */
function moveToDesktop(deps: SettleDeps, delivery: Delivery, reason: string): Delivery | undefined {
  if (delivery.alsoShown === true) return end(deps, delivery, 'shown', reason);
  const name = nameOf(delivery);
  const at = toIso(deps.clock.now());
  const boot = deps.clock.boot?.() ?? delivery.boot;
  const moved: Delivery = { ...delivery, channel: 'desktop', boot, at, nextAt: at, attempts: 0 };
  record(outboxOf(deps), name, moved);
  logResult(deps, delivery, 'shown', reason);
  release(outboxOf(deps), name, nameOf(moved));
  return moved;
}

function reasonOf({ reason, hint }: { reason: string; hint: string }): string {
  return `${reason} ${hint}`;
}

/** Recovers the deliveries claimed by processes that no longer exist. */
export function recover(deps: SettleDeps): void {
  for (const { name, entry } of abandoned(outboxOf(deps), deps.machineId, deps.clock.now())) {
    if (entry === undefined) bury(outboxOf(deps), 'claimed', name, { atMs: deps.clock.now() });
    else if (entry.machine === deps.machineId) recoverDelivery(deps, name, entry);
  }
}

/**
 * Closes a claimed delivery that has a result, and requeues one that was not being sent. A delivery that was
 * interrupted while being sent may have arrived, so it is retried only once.
 */
export function recoverDelivery(deps: SettleDeps, name: string, delivery: Delivery): void {
  if (delivery.result !== undefined) return close(deps, name, delivery);
  if (nameOf(delivery) !== name || !isOver(waitOf(delivery), deps.clock.now()))
    return release(outboxOf(deps), name, nameOf(delivery));
  const next = { ...delivery, interrupted: delivery.interrupted + 1 };
  if (next.interrupted > 1) end(deps, next, 'unknown', TWICE);
  else putBack(deps, name, next);
}

const TWICE =
  'sending was interrupted twice; the message may have arrived. Resend it with `steward notify retry ID`';

/** Returns the outcome for a disabled channel; undefined if the channel is enabled. */
export function offOutcome(channel: Channel): Outcome | undefined {
  const off = channel.off();
  if (off === undefined) return undefined;
  if (channel.id === 'voice') return { outcome: 'show', reason: off.reason };
  return { outcome: 'failed', reason: `The channel is off: ${off.reason}.`, hint: off.hint };
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
  { channels }: Pick<SettleDeps, 'channels'>,
  { channel, at, heldUntil }: Pick<Delivery, 'channel' | 'at' | 'heldUntil'>,
): number {
  const { keepMs = DAY_MS } = channels.find(({ id }) => id === channel) ?? {};
  const acceptedMs = Date.parse(at);
  const heldMs = (heldUntil === undefined ? undefined : parseIso(heldUntil)) ?? 0;
  return Math.max(acceptedMs, Math.min(heldMs, acceptedMs + DAY_MS)) + keepMs;
}

/**
 * Returns the time of the next attempt, in epoch ms. Uses exponential backoff from 5 s to 30 min with 20%
 * jitter, but never retries earlier than the server allows. `attempts` includes the failed attempt.
 */
export function nextAttempt(
  nowMs: number,
  attempts: number,
  random: number,
  serverMs: number | undefined,
): number {
  const backOff = Math.min(LONGEST_MS, FIRST_MS * 3 ** Math.max(0, attempts - 1));
  const spread = backOff * (0.8 + 0.4 * random);
  return Math.round(nowMs + Math.max(spread, Math.min(serverMs ?? 0, DAY_MS)));
}
