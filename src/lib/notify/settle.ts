import { clockSetBy } from '../platform/time/boot-time';
import { parseIso, toIso, type Clock } from '../platform/time/clock';
import type { Channel, Outcome } from './channels/channel';
import type { Delivery, Result } from './delivery';
import { nameOf } from './delivery';
import { logResult, type HistoryDeps } from './history';
import { abandoned, bury, finish, record, release, type OutboxDeps } from './outbox';
import { isTimeFor, lastAttempt, nextAttempt } from './retry';

export interface SettleDeps extends OutboxDeps, HistoryDeps {
  /** 0 to 1. */
  random: () => number;
}

/** A delivery that goes on: it waits again, under the channel that it has now. */
export type GoesOn = Delivery | undefined;

/**
 * Writes down what came of an attempt. The claimed file is the truth: its result is recorded in it first, and
 * from then on nobody sends it again; then the log gets its line, then the file goes. Whoever finds the file
 * after a kill does what is left.
 */
export function settle(deps: SettleDeps, delivery: Delivery, outcome: Outcome): GoesOn {
  switch (outcome.outcome) {
    case 'delivered':
      return end(deps, { ...delivery, attempts: delivery.attempts + 1 }, 'delivered', undefined);
    case 'failed':
      return end(deps, { ...delivery, attempts: delivery.attempts + 1 }, 'failed', told(outcome));
    case 'show':
      return moveToDesktop(deps, delivery, outcome.reason);
    case 'again':
      return postpone(deps, delivery, outcome);
  }
}

export function end(
  deps: SettleDeps,
  delivery: Delivery,
  result: Result,
  reason: string | undefined,
): undefined {
  const name = nameOf(delivery);
  const ended: Delivery = { ...delivery, result, ...(reason === undefined ? {} : { reason }) };
  record(deps, name, ended);
  close(deps, name, ended);
  return undefined;
}

/** The last step of a delivery that has its result. */
function close(deps: SettleDeps, name: string, ended: Delivery): void {
  logResult(deps, ended, ended.result ?? 'unknown', ended.reason);
  if (ended.result === 'delivered' || ended.result === 'shown' || ended.result === 'superseded') {
    finish(deps, name);
  } else bury(deps, name);
}

function postpone(
  deps: SettleDeps,
  delivery: Delivery,
  outcome: Extract<Outcome, { outcome: 'again' }>,
): GoesOn {
  const attempts = delivery.attempts + 1;
  const nowMs = deps.clock.now();
  const laterMs = nextAttempt(nowMs, attempts, deps.random(), outcome.afterMs);
  const reason = told(outcome);
  const waitingSince = toIso(nowMs);
  // One that was accepted by a clock that was put back since has its age from now on.
  const at = Date.parse(delivery.at) > nowMs ? waitingSince : delivery.at;
  // Changed settings make attempts that no time has passed between: the waits grow, and its time is not over yet.
  const lastMs = lastAttemptOf({ ...delivery, at });
  const nextMs = outcome.afterMs === undefined && nowMs < lastMs ? Math.min(laterMs, lastMs) : laterMs;
  if (nextMs > lastMs) {
    return end(deps, { ...delivery, attempts }, 'expired', reason);
  }
  const next: Delivery = { ...delivery, at, attempts, nextAt: toIso(nextMs), waitingSince };
  const name = nameOf(delivery);
  record(deps, name, next);
  release(deps, name, next);
  logResult(deps, next, 'waiting', reason);
  return next;
}

/** The delivery itself moves on, in one rename, so that it is shown once, whoever is killed where. */
function moveToDesktop(deps: SettleDeps, delivery: Delivery, reason: string): GoesOn {
  if (delivery.alsoShown === true) return end(deps, delivery, 'shown', reason);
  const name = nameOf(delivery);
  const nowIso = toIso(deps.clock.now());
  const boot = deps.clock.boot?.();
  const moved: Delivery = {
    ...delivery,
    ...(boot === undefined ? {} : { boot }),
    channel: 'desktop',
    at: nowIso,
    nextAt: nowIso,
    attempts: 0,
  };
  record(deps, name, moved);
  logResult(deps, delivery, 'shown', reason);
  release(deps, name, moved);
  return moved;
}

/** A delivery as old as it is: a clock that was set by more than an hour since has made it no older and no younger. */
export function withTrueAge(delivery: Delivery, clock: Clock): Delivery {
  const now = { wallMs: clock.now(), boot: clock.boot?.() };
  const atMs = Date.parse(delivery.at);
  const setBy = clockSetBy({ wallMs: atMs, boot: delivery.boot }, now);
  return setBy === undefined || Math.abs(setBy) < HOUR_MS
    ? delivery
    : { ...delivery, at: toIso(atMs + setBy) };
}

const HOUR_MS = 3_600_000;

export function isOver(delivery: Delivery, nowMs: number): boolean {
  return nowMs > lastAttemptOf(delivery);
}

function lastAttemptOf({ channel, at, heldUntil }: Delivery): number {
  return lastAttempt(channel, Date.parse(at), heldUntil === undefined ? undefined : parseIso(heldUntil));
}

/**
 * What a process that was killed has left: a delivery with its result is closed; one that was being moved goes
 * on; one that was in the midst of an attempt may have arrived. That is tried once more, and said to be so; the
 * second time it is given up, so that nothing arrives three times.
 */
export function recover(deps: SettleDeps): void {
  for (const { name, delivery } of abandoned(deps)) recoverOne(deps, name, delivery);
}

/** The same for one that is claimed; undefined: its file holds none. */
export function recoverOne(deps: SettleDeps, name: string, delivery: Delivery | undefined): void {
  if (delivery === undefined) bury(deps, name);
  else if (delivery.result !== undefined) close(deps, name, delivery);
  else if (nameOf(delivery) !== name || !isTimeFor(delivery, deps.clock.now())) {
    release(deps, name, delivery);
  } else again(deps, name, delivery);
}

function again(deps: SettleDeps, name: string, delivery: Delivery): void {
  const interrupted = delivery.interrupted + 1;
  const next: Delivery = { ...delivery, interrupted };
  if (interrupted > 1) {
    end(deps, next, 'unknown', TWICE);
    return;
  }
  record(deps, name, next);
  release(deps, name, next);
}

const TWICE =
  'it was interrupted twice while it was being sent, and may have arrived; `steward notify retry ID` sends it again';

function told(outcome: { reason: string; hint: string }): string {
  return `${outcome.reason} ${outcome.hint}`;
}

/** Why a delivery cannot be tried: its channel was switched off since. */
export function offOutcome(channel: Channel): Outcome | undefined {
  const off = channel.off();
  if (off === undefined) return undefined;
  // What cannot be spoken is shown.
  if (channel.id === 'voice') return { outcome: 'show', reason: off.reason };
  return { outcome: 'failed', reason: `It is off: ${off.reason}.`, hint: off.hint };
}
