import { abandoned, bury, finish, record, release } from '../platform/files/spool';
import { clockSetBy, parseIso, toIso, type Clock } from '../platform/time/clock';
import type { Channel, Outcome } from './channels/channel';
import { logResult, type HistoryDeps } from './history';
import { isOver, waitOf } from './lane';
import { nameOf, type Delivery, type Result, outboxOf, type OutboxDeps } from './outbox';

export interface SettleDeps extends OutboxDeps, HistoryDeps {
  channels: readonly Channel[];
  /** Returns a number from 0 to 1. */
  random: () => number;
}

/**
 * Stores the outcome of an attempt; returns the delivery if it is still pending. The result goes into the
 * claimed file first, so a process that finds it after a crash only writes the log line and removes the file.
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
  // If the clock was set back after the delivery was accepted, the delivery's age is counted from now.
  const at = Date.parse(tried.at) > nowMs ? waitingSince : tried.at;
  const lastMs = lastAttempt(deps, { ...tried, at });
  const retryMs = nextAttempt(nowMs, tried.attempts, deps.random(), outcome.afterMs);
  // Attempts forced by changed settings extend the delay, but not beyond the time of the last attempt.
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

/** Moves the file with a single rename, so a crash can't show the message twice. */
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

/** Recovers deliveries that killed processes had claimed. */
export function recover(deps: SettleDeps): void {
  for (const { name, entry } of abandoned(outboxOf(deps), deps.machineId, deps.clock.now())) {
    if (entry === undefined) bury(outboxOf(deps), 'claimed', name, { atMs: deps.clock.now() });
    else if (entry.machine === deps.machineId) recoverDelivery(deps, name, entry);
  }
}

/**
 * Closes a claimed delivery that has a result, and requeues one that was not being sent. A delivery that was being sent may have arrived: it is
 * retried once, and fails after a second interruption, so nothing arrives three times.
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
  'interrupted twice while sending; it may have arrived. `steward notify retry ID` sends it again';

/** Returns the outcome if the channel has been switched off. */
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

/** Corrects the acceptance time if the clock has been changed by more than an hour since. */
export function withTrueAge(delivery: Delivery, clock: Clock): Delivery {
  const atMs = Date.parse(delivery.at);
  const now = { wallMs: clock.now(), boot: clock.boot?.() };
  const setBy = clockSetBy({ wallMs: atMs, boot: delivery.boot }, now) ?? 0;
  return Math.abs(setBy) < HOUR_MS ? delivery : { ...delivery, at: toIso(atMs + setBy) };
}

/**
 * Returns when the last attempt is: a day, or the channel's `keepMs`, after the delivery was accepted or due.
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
 * Returns when to retry: after 5 s, 15 s, 45 s, … up to 30 min, with a random 20% so that retries don't
 * coincide, but not before the server allows it. @param attempts including the failed one @param random 0 to
 * 1
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
