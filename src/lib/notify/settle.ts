import { clockSetBy } from '../platform/time/boot-time';
import { type Clock, parseIso, toIso } from '../platform/time/clock';
import type { Channel, Outcome } from './channels/channel';
import { type Delivery, type Result, nameOf } from './delivery';
import type { ChannelId } from './events';
import { type HistoryDeps, logResult } from './history';
import { type OutboxDeps, abandoned, bury, finish, record, release } from './outbox';

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

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const FIRST_MS = 5_000;
const LONGEST_MS = 30 * MINUTE_MS;

/** How long a delivery is worth trying, by channel: 24 h at most; a banner of an hour ago is no news. */
const KEEP_MS: Readonly<Record<ChannelId, number>> = {
  push: 24 * HOUR_MS,
  chat: 24 * HOUR_MS,
  sms: 24 * HOUR_MS,
  desktop: 15 * MINUTE_MS,
  voice: 15 * MINUTE_MS,
};

/**
 * When to try again, wall-clock ms: after 5 s, 15 s, 45 s, … at most half an hour, each spread by a fifth so that
 * many do not come back at once, and never before the time that the server asked for.
 *
 * @param attempts how many were made, the failed one included
 * @param random 0 to 1
 */
export function nextAttempt(
  nowMs: number,
  attempts: number,
  random: number,
  askedMs: number | undefined,
): number {
  const backOff = Math.min(LONGEST_MS, FIRST_MS * 3 ** Math.max(0, attempts - 1));
  const spread = backOff * (0.8 + 0.4 * random);
  const asked = askedMs === undefined ? 0 : Math.min(Math.max(askedMs, 0), 24 * HOUR_MS);
  return Math.round(nowMs + Math.max(spread, asked));
}

/** Until when a delivery is worth trying, wall-clock ms; then it is given up. */
export function lastAttempt(channel: ChannelId, acceptedMs: number, heldUntil = 0): number {
  return Math.max(acceptedMs, Math.min(heldUntil, acceptedMs + 24 * HOUR_MS)) + KEEP_MS[channel];
}

/** A clock is corrected by less than this every day, and nothing comes of it. */
const CORRECTION_MS = 1_000;
/** Longer than any that is ever set. */
const LONGEST_WAIT_MS = 25 * HOUR_MS;

/**
 * Is the time over that was to be waited? A wait that was set in the future was set by a clock that was put back
 * since, and one that is longer than any that is ever set as well: they count as over (decisions.md 9).
 *
 * @param sinceMs when the wait was set, where that is known
 */
export function isDue(nextMs: number, nowMs: number, sinceMs = nowMs): boolean {
  return nextMs <= nowMs || nextMs - nowMs > LONGEST_WAIT_MS || sinceMs > nowMs + CORRECTION_MS;
}

type Times = Pick<Delivery, 'nextAt' | 'heldUntil' | 'waitingSince' | 'at'>;

/**
 * While the clock is within these, wall-clock ms, a delivery waits: from `fromMs` on, before `untilMs`. By a clock that
 * shows less its wait counts as over, too. The end of the quiet hours is a time of the day, whichever clock has set it.
 */
export function waitOf({ nextAt, heldUntil, waitingSince, at }: Times): { fromMs: number; untilMs: number } {
  const untilMs = Date.parse(nextAt);
  const longestMs = untilMs - LONGEST_WAIT_MS;
  if (nextAt === heldUntil) return { fromMs: longestMs, untilMs };
  return { fromMs: Math.max(longestMs, Date.parse(waitingSince ?? at) - CORRECTION_MS), untilMs };
}

/** Is it time for a delivery? */
export function isTimeFor(times: Times, nowMs: number): boolean {
  const { fromMs, untilMs } = waitOf(times);
  return nowMs >= untilMs || nowMs < fromMs;
}

/** Seconds of a Retry-After header, or its date, as ms from now; undefined when there is none to read. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d{1,7}(?:\.\d+)?$/.test(text)) return Number(text) * 1000;
  const date = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}
