import { abandoned, bury, finish, record, release } from '../platform/files/spool';
import { toIso } from '../platform/time/clock';
import type { Channel, Outcome } from './channels/channel';
import { logEnd, type HistoryDeps } from './history';
import { isOver, lastAttempt, nextAttempt, waitOf } from './lane';
import { nameOf, outboxOf, type Delivery, type OutboxDeps, type Result } from './outbox';
import { NEEDS_YOU } from './routing';

export interface SettleDeps extends OutboxDeps, HistoryDeps {
  channels: readonly Channel[];
  random: () => number;
}

type Again = Extract<Outcome, { outcome: 'again' }>;

/**
 * Stores the outcome of an attempt; returns the delivery if it is still pending. Stores a final result before
 * logging it, so that a crash can't lose it. Can be repeated if the disk was full.
 */
export function settle(deps: SettleDeps, delivery: Delivery, outcome: Outcome): Delivery | undefined {
  const tried = { ...delivery, attempts: delivery.attempts + 1 };
  switch (outcome.outcome) {
    case 'delivered':
      return end(deps, tried, 'delivered', tried.waited);
    case 'failed':
      return end(deps, tried, 'failed', reasonOf(outcome));
    case 'skipped':
      return end(deps, tried, 'skipped', outcome.reason);
    case 'show':
      return showInstead(deps, delivery, outcome.reason);
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
  logEnd(deps, ended);
  if (['delivered', 'shown', 'superseded', 'skipped'].includes(ended.result ?? ''))
    finish(outboxOf(deps), name);
  else bury(outboxOf(deps), 'claimed', name, { atMs: deps.clock.now() });
}

function postpone(deps: SettleDeps, tried: Delivery, outcome: Again): Delivery | undefined {
  const nowMs = deps.clock.now();
  // If the clock has been set back since the delivery was accepted, treat the delivery as accepted now.
  const at = Date.parse(tried.at) > nowMs ? toIso(nowMs) : tried.at;
  const lastMs = lastAttempt(deps.channels, { ...tried, at });
  const retryMs = nextAttempt(nowMs, tried.attempts, deps.random(), outcome.afterMs);
  // Make a last attempt at the deadline, unless the server requested a longer delay.
  const nextMs = outcome.afterMs === undefined && nowMs < lastMs ? Math.min(retryMs, lastMs) : retryMs;
  return waitUntil(deps, { ...tried, at, reason: reasonOf(outcome) }, nextMs);
}

/** Returns a claimed delivery to the queue until `nextMs`, unless that is past its deadline. */
export function waitUntil(deps: SettleDeps, delivery: Delivery, nextMs: number): Delivery | undefined {
  if (nextMs > lastAttempt(deps.channels, delivery)) return end(deps, delivery, 'expired', delivery.reason);
  const times = { nextAt: toIso(nextMs), waitingSince: toIso(deps.clock.now()), forced: undefined };
  return putBack(deps, nameOf(delivery), { ...delivery, ...times });
}

function putBack(deps: SettleDeps, name: string, next: Delivery): Delivery {
  record(outboxOf(deps), name, next);
  release(outboxOf(deps), name, nameOf(next));
  return next;
}

/**
 * Moves a voice delivery to the desktop, or without one to your terminals. Uses a single rename, so that a crash
 * can't cause a duplicate.
 */
function showInstead(deps: SettleDeps, delivery: Delivery, reason: string): Delivery | undefined {
  if (delivery.alsoShown === true) return end(deps, delivery, 'shown', reason);
  const ids = delivery.priority >= NEEDS_YOU ? ['desktop', 'terminal'] : ['desktop'];
  const channel = deps.channels.find(({ id, off }) => ids.includes(id) && off() === undefined)?.id;
  if (channel === undefined) return end(deps, delivery, 'skipped', reason);
  const name = nameOf(delivery);
  const at = toIso(deps.clock.now());
  const boot = deps.clock.boot?.() ?? delivery.boot;
  const moved: Delivery = { ...delivery, channel, boot, at, nextAt: at, attempts: 0 };
  record(outboxOf(deps), name, moved);
  logEnd(deps, { ...delivery, result: 'shown', reason });
  release(outboxOf(deps), name, nameOf(moved));
  return moved;
}

function reasonOf({ reason, hint }: { reason: string; hint: string }): string {
  return `${reason} ${hint}`;
}

const TWICE =
  'sending was interrupted twice; the message may have arrived. Resend it with `steward notify retry ID`';

/**
 * Recovers the deliveries claimed by processes that no longer exist: closes those that have a result, and
 * requeues the others. A delivery that was interrupted while being sent may have arrived, so it is retried
 * only once.
 */
export function recover(deps: SettleDeps): void {
  const outbox = outboxOf(deps);
  const nowMs = deps.clock.now();
  for (const { name, entry } of abandoned(outbox, deps.machineId, nowMs)) {
    if (entry === undefined) bury(outbox, 'claimed', name, { atMs: nowMs });
    else if (entry.machine !== deps.machineId) continue;
    else if (entry.result !== undefined) close(deps, name, entry);
    else if (nameOf(entry) !== name || !isOver(waitOf(entry), nowMs)) release(outbox, name, nameOf(entry));
    else if (entry.interrupted > 0) end(deps, { ...entry, interrupted: 2 }, 'unknown', TWICE);
    else putBack(deps, name, { ...entry, interrupted: 1 });
  }
}

/** Returns the outcome for a disabled channel; undefined if the channel is enabled. */
export function offOutcome(channel: Channel): Outcome | undefined {
  const off = channel.off();
  if (off === undefined) return undefined;
  return channel.id === 'voice' ? { outcome: 'show', reason: off.reason } : { outcome: 'skipped', ...off };
}
