import { abandoned, bury, finish, record, release } from '../platform/files/spool';
import { clockSetBy, parseIso, toIso, type Clock } from '../platform/time/clock';
import type { Channel, Outcome } from './channels/channel';
import { nameOf, type Delivery, type Result, outboxOf, type OutboxDeps } from './outbox';
import { logResult, type HistoryDeps } from './history';

export interface SettleDeps extends OutboxDeps, HistoryDeps {
  channels: readonly Channel[];
  /** 0 to 1. */
  random: () => number;
}

/** A delivery that goes on: it waits again, under the channel that it has now. */
export type GoesOn = Delivery | undefined;

/**
 * Writes down what came of an attempt. The result is recorded in the claimed file first, and from then on nobody sends
 * it again; then the log gets its line, then the file goes. Whoever finds the file after a kill does what is left.
 */
export function settle(deps: SettleDeps, delivery: Delivery, outcome: Outcome): GoesOn {
  const tried = { ...delivery, attempts: delivery.attempts + 1 };
  switch (outcome.outcome) {
    case 'delivered':
      return end(deps, tried, 'delivered', undefined);
    case 'failed':
      return end(deps, tried, 'failed', told(outcome));
    case 'show':
      return moveToDesktop(deps, delivery, outcome.reason);
    case 'again':
      return postpone(deps, tried, outcome);
  }
}

export function end(
  deps: SettleDeps,
  delivery: Delivery,
  result: Result,
  reason: string | undefined,
): undefined {
  const name = nameOf(delivery);
  const ended: Delivery = { ...delivery, result, reason };
  record(outboxOf(deps), name, ended);
  close(deps, name, ended);
}

/** The last step of a delivery that has its result. */
function close(deps: SettleDeps, name: string, ended: Delivery): void {
  const { result = 'unknown', reason } = ended;
  logResult(deps, ended, result, reason);
  if (['delivered', 'shown', 'superseded'].includes(result)) finish(outboxOf(deps), name);
  else bury(outboxOf(deps), 'claimed', name, { atMs: deps.clock.now() });
}

function postpone(
  deps: SettleDeps,
  tried: Delivery,
  outcome: Extract<Outcome, { outcome: 'again' }>,
): GoesOn {
  const nowMs = deps.clock.now();
  const waitingSince = toIso(nowMs);
  // One that was accepted by a clock that moved back since has its age from now on.
  const at = Date.parse(tried.at) > nowMs ? waitingSince : tried.at;
  const lastMs = lastAttemptOf(deps, { ...tried, at });
  const laterMs = nextAttempt(nowMs, tried.attempts, deps.random(), outcome.afterMs);
  // Changed settings make attempts that no time has passed between: the waits grow, and its time is not over yet.
  const nextMs = outcome.afterMs === undefined && nowMs < lastMs ? Math.min(laterMs, lastMs) : laterMs;
  if (nextMs > lastMs) return end(deps, tried, 'expired', told(outcome));
  const next: Delivery = { ...tried, at, nextAt: toIso(nextMs), waitingSince };
  putBack(deps, nameOf(tried), next);
  logResult(deps, next, 'waiting', told(outcome));
  return next;
}

function putBack(deps: SettleDeps, name: string, next: Delivery): void {
  record(outboxOf(deps), name, next);
  release(outboxOf(deps), name, nameOf(next));
}

/** The delivery itself moves on, in one rename, so that it is shown once, whoever is killed where. */
function moveToDesktop(deps: SettleDeps, delivery: Delivery, reason: string): GoesOn {
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

function told(outcome: { reason: string; hint: string }): string {
  return `${outcome.reason} ${outcome.hint}`;
}

/**
 * What a process that was killed has left: a delivery with its result is closed; one that was being moved goes
 * on; one that was in the midst of an attempt may have arrived. That is tried once more, and said to be so; the
 * second time it is given up, so that nothing arrives three times.
 */
export function recover(deps: SettleDeps): void {
  for (const { name, entry } of abandoned(outboxOf(deps), deps.machineId, deps.clock.now())) {
    if (entry === undefined) bury(outboxOf(deps), 'claimed', name, { atMs: deps.clock.now() });
    else if (entry.machine === deps.machineId) recoverOne(deps, name, entry);
  }
}

/** The same for one that is claimed. */
export function recoverOne(deps: SettleDeps, name: string, delivery: Delivery): void {
  if (delivery.result !== undefined) close(deps, name, delivery);
  else if (nameOf(delivery) !== name || !isTimeFor(delivery, deps.clock.now()))
    release(outboxOf(deps), name, nameOf(delivery));
  else {
    const next = { ...delivery, interrupted: delivery.interrupted + 1 };
    if (next.interrupted > 1) end(deps, next, 'unknown', TWICE);
    else putBack(deps, name, next);
  }
}

const TWICE =
  'it was interrupted twice while it was being sent, and may have arrived; `steward notify retry ID` sends it again';

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
const DAY_MS = 24 * HOUR_MS;
const FIRST_MS = 5_000;
const LONGEST_MS = 30 * MINUTE_MS;

/** A delivery as old as it is: a clock that was set by more than an hour since has made it no older and no younger. */
export function withTrueAge(delivery: Delivery, clock: Clock): Delivery {
  const atMs = Date.parse(delivery.at);
  const now = { wallMs: clock.now(), boot: clock.boot?.() };
  const setBy = clockSetBy({ wallMs: atMs, boot: delivery.boot }, now) ?? 0;
  return Math.abs(setBy) < HOUR_MS ? delivery : { ...delivery, at: toIso(atMs + setBy) };
}

export function isOver(deps: SettleDeps, delivery: Delivery): boolean {
  return deps.clock.now() > lastAttemptOf(deps, delivery);
}

function lastAttemptOf({ channels }: SettleDeps, { channel, at, heldUntil }: Delivery): number {
  const keepMs = channels.find(({ id }) => id === channel)?.keepMs;
  return lastAttempt(keepMs, Date.parse(at), heldUntil === undefined ? undefined : parseIso(heldUntil));
}

/** Until when a delivery is worth trying, wall-clock ms; then it is given up. */
export function lastAttempt(keepMs: number | undefined, acceptedMs: number, heldUntil = 0): number {
  return Math.max(acceptedMs, Math.min(heldUntil, acceptedMs + DAY_MS)) + (keepMs ?? DAY_MS);
}

/**
 * When to retry, wall-clock ms: after 5 s, 15 s, 45 s, … at most half an hour, each spread by a fifth so that many do
 * not come back at once, and never before the time that the server asked for.
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
  return Math.round(nowMs + Math.max(spread, Math.min(askedMs ?? 0, DAY_MS)));
}

/** A clock is corrected by less than this every day, and nothing comes of it. */
const CORRECTION_MS = 1_000;
/** Longer than any wait that is ever set. */
const LONGEST_WAIT_MS = 25 * HOUR_MS;

/**
 * Is a wait over? A wait that was set in the future was set by a clock that moved back since, and one that is longer
 * than any that is ever set as well: they count as over.
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
  const text = header?.trim() ?? '';
  if (/^\d{1,7}(?:\.\d+)?$/.test(text)) return Number(text) * 1000;
  const date = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}
