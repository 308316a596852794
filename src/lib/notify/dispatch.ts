import { join } from 'node:path';

import { exists } from '../platform/files/folder';
import { abandoned, claim, folderOf, isOrphaned, record, release, sweep } from '../platform/files/spool';
import { stampOf } from '../platform/files/stat';
import { toIso } from '../platform/time/clock';
import { minutes } from '../platform/time/day-words';
import { within, yielder } from '../platform/time/wait';
import type { Break } from './break';
import { attempt, prepared, type Channel } from './channels/channel';
import type { ChannelId } from './events';
import {
  NO_WAIT,
  isOver,
  lastAttempt,
  nextBatch,
  nextDue,
  parcelOf,
  waitOf,
  withTrueAge,
  type QueuedDelivery,
  type Wait,
} from './lane';
import {
  buryUnreadable,
  nameOf,
  outboxOf,
  parseName,
  readWaiting,
  waitingNames,
  type Delivery,
} from './outbox';
import { quietEnd, type RoutingSettings } from './routing';
import { end, offOutcome, recover, settle, waitUntil, type SettleDeps } from './settle';

export interface DispatchDeps extends SettleDeps {
  /** Returns the last break that was noticed. */
  lastBreak?: () => Break | undefined;
  settings: () => Pick<RoutingSettings, 'quietHours' | 'zone'>;
  /** Reports an unexpected error, such as a full disk. Delivery continues. */
  report: (error: unknown) => void;
}

interface Pause {
  wait: Wait;
  reason: string | undefined;
}

const SWEEP_MS = 60_000;
/** How long to process deliveries before yielding to the event loop, in ms. */
const SLICE_MS = 1;
/** How often the outbox is scanned, in ms. */
export const SCAN_MS = 1_000;

/**
 * The state of a dispatcher. It has one lane per channel, so that a broken channel doesn't delay the others.
 */
function dispatcherOf(deps: DispatchDeps) {
  return {
    deps,
    /** The waiting files by name, oldest first, as last read. */
    queue: new Map<string, QueuedDelivery & { mark?: string | undefined }>(),
    running: new Map<ChannelId, Promise<void>>(),
    /** Channels that stop until the next scan, because of an unexpected error. */
    faulty: new Set<ChannelId>(),
    /** The failed attempts whose servers are down: until then, their channels send nothing. */
    pauses: new Map<ChannelId, Pause>(),
    /** For each claimed delivery, the function that puts away its file. */
    unsettled: new Map<string, () => unknown>(),
    breathe: yielder(deps.clock, SLICE_MS),
    sweptMs: -Infinity,
    isClosed: false,
  };
}

export type Dispatcher = ReturnType<typeof dispatcherOf>;

/** Delivers the outbox. deliver.ts allows only one dispatcher per machine. */
export function startDispatcher(deps: DispatchDeps): Dispatcher {
  const at = dispatcherOf(deps);
  recover(deps);
  scan(at);
  return at;
}

/** Adds deliveries that have just been accepted. */
export function add(at: Dispatcher, deliveries: readonly Delivery[]): void {
  for (const delivery of deliveries) {
    const mark = markOf(at, nameOf(delivery));
    at.queue.set(nameOf(delivery), { delivery, wait: waitOf(delivery), mark });
  }
  pump(at);
}

function markOf({ deps }: Dispatcher, name: string): string | undefined {
  return stampOf(join(deps.outbox, name))?.mark;
}

/** Retries all failed and paused deliveries. Called when the settings have changed. */
export function resumeAll(at: Dispatcher): void {
  at.pauses.clear();
  for (const queued of at.queue.values()) queued.wait = NO_WAIT;
  pump(at);
}

/** Returns whether an attempt is in progress or a delivery becomes due within `withinMs`. */
export function isBusy(at: Dispatcher, withinMs: number): boolean {
  const nowMs = at.deps.clock.now();
  const isDue = (channel: Channel): boolean =>
    nextDue(laneOf(at, channel), nowMs) + (at.faulty.has(channel.id) ? SCAN_MS : 0) <= nowMs + withinMs;
  return at.running.size > 0 || at.deps.channels.some(isDue);
}

/** Stops new attempts, and waits up to `graceMs` for attempts in progress. */
export async function closeDispatcher(at: Dispatcher, graceMs: number): Promise<void> {
  at.isClosed = true;
  await within(graceMs, Promise.all(at.running.values()), undefined);
}

/** Reads the deliveries that other processes have added to the outbox or changed. */
export function scan(at: Dispatcher): void {
  const { deps, queue: before } = at;
  const nowMs = deps.clock.monotonic();
  const sweeps = nowMs - at.sweptMs >= SWEEP_MS;
  if (sweeps) {
    sweep(outboxOf(deps), deps.clock.now());
    at.sweptMs = nowMs;
  }
  settleRest(at);
  at.faulty.clear();
  at.queue = new Map();
  for (const name of waitingNames(deps)) {
    const mark = markOf(at, name);
    const known = before.get(name);
    const isSame = known !== undefined && known.mark === mark;
    const delivery = isSame ? known.delivery : readWaiting(deps, name);
    if (delivery === undefined) buryUnreadable(deps, name);
    else at.queue.set(name, isSame ? known : { delivery, wait: waitOf(delivery), mark });
  }
  if (sweeps) expireForeign(at);
  pump(at);
}

/** Returns the break that ends a delivery's wait; undefined if it came before the delivery. */
function breakFor({ lastBreak }: DispatchDeps, { at }: Delivery): Break | undefined {
  const last = lastBreak?.();
  return last !== undefined && last.atMs >= Date.parse(at) ? last : undefined;
}

/**
 * Returns the channel's deliveries. All are due if the channel is off; held ones wait for the end of the quiet
 * hours as they are set now, or for a break.
 */
function laneOf({ deps, queue }: Dispatcher, { id, off, isHeld }: Channel): QueuedDelivery[] {
  const lane = [...queue.values()].filter(
    ({ delivery }) => delivery.channel === id && delivery.machine === deps.machineId,
  );
  // Each scan asks every channel; whether voice is off depends on the installed programs.
  if (lane.length === 0) return lane;
  const quietMs = quietEnd(deps.settings(), deps.clock.now());
  const isOff = off() !== undefined;
  const isQuiet = isHeld === true && quietMs !== undefined;
  const quiet: Wait = isQuiet ? { fromMs: -Infinity, untilMs: quietMs } : NO_WAIT;
  return lane.map((queued) => {
    const { delivery } = queued;
    if (isOff) return { ...queued, wait: NO_WAIT };
    if (delivery.nextAt !== delivery.heldUntil) return queued;
    const waits = !isQuiet && delivery.atBreak === true && breakFor(deps, delivery) === undefined;
    return { ...queued, wait: waits ? waitOf(delivery) : quiet };
  });
}

/** Expires day-old deliveries that this machine can't send, so that they are listed as failed. */
function expireForeign({ deps, queue }: Dispatcher): void {
  const { channels, clock, machineId } = deps;
  const outbox = outboxOf(deps);
  const expire = (delivery: Delivery): void => {
    const { machine, channel } = delivery;
    const reason =
      machine === machineId
        ? `this machine has no ${channel} channel`
        : `accepted by another machine (${machine}), which did not deliver it within a day`;
    end(deps, delivery, 'expired', reason);
  };
  for (const [name, { delivery }] of queue) {
    if (delivery.machine === machineId && channels.some(({ id }) => id === delivery.channel)) continue;
    if (isOrphaned(outbox, name, clock.now()) && claim(outbox, name)) expire(delivery);
  }
  for (const { entry } of abandoned(outbox, machineId, clock.now())) {
    if (entry !== undefined && entry.machine !== machineId) expire(entry);
  }
}

/** Retries the storage of outcomes that could not be written, for example because the disk was full. */
function settleRest({ deps, running, unsettled }: Dispatcher): void {
  try {
    for (const [name, putAway] of unsettled) {
      if (running.has(parseName(name)?.channel ?? 'voice')) continue;
      if (exists(join(folderOf({ path: deps.outbox }, 'claimed'), name))) putAway();
      unsettled.delete(name);
    }
  } catch (error) {
    deps.report(error);
  }
}

/** Starts each idle lane that has a delivery due. */
function pump(at: Dispatcher): void {
  for (const channel of at.deps.channels) {
    if (at.isClosed || at.running.has(channel.id) || batchOf(at, channel).length === 0) continue;
    const work = drain(at, channel).finally(() => {
      at.running.delete(channel.id);
      pump(at);
    });
    at.running.set(channel.id, work);
  }
}

function batchOf(at: Dispatcher, channel: Channel): Delivery[] {
  if (at.faulty.has(channel.id)) return [];
  return nextBatch(laneOf(at, channel), channel.joinsFrom ?? Infinity, at.deps.clock.now());
}

async function drain(at: Dispatcher, channel: Channel): Promise<void> {
  for (; !at.isClosed; await at.breathe()) {
    const batch = batchOf(at, channel);
    if (batch.length === 0) return;
    try {
      await deliver(at, channel, batch);
    } catch (error) {
      at.deps.report(error);
      at.faulty.add(channel.id);
      return;
    }
  }
}

/** Makes one attempt to send a batch. */
async function deliver(at: Dispatcher, channel: Channel, batch: readonly Delivery[]): Promise<void> {
  const { deps, queue, unsettled } = at;
  for (const delivery of batch) queue.delete(nameOf(delivery));
  const early = offOutcome(channel) ?? (await prepared(channel));
  const claimed = claimDue(at, batch);
  const pause = pauseOf(at, channel.id, claimed);
  if (pause !== undefined && early === undefined) return putOff(at, claimed, pause);
  const [first, ...others] = claimed;
  if (first === undefined) return;
  let sent = first;
  const onPart = (sentParts: number): void => {
    sent = { ...sent, sentParts };
    record(outboxOf(deps), nameOf(sent), sent);
  };
  const outcome = early ?? (await attempt(channel, parcelOf([first, ...others]), onPart));
  const tried = [sent, ...others];
  // Keep the outcome in memory until it is stored, so that the batch isn't sent again.
  for (const delivery of tried) unsettled.set(nameOf(delivery), () => settle(deps, delivery, outcome));
  for (const delivery of tried) {
    const next = settle(deps, delivery, outcome);
    unsettled.delete(nameOf(delivery));
    if (next === undefined) continue;
    if (outcome.outcome === 'again' && outcome.all === true) {
      at.pauses.set(channel.id, { wait: waitOf(next), reason: next.reason });
    }
    add(at, [next]);
  }
}

/** Returns the channel's pause, unless it is over or the user asked for an attempt now. */
function pauseOf(at: Dispatcher, id: ChannelId, batch: readonly Delivery[]): Pause | undefined {
  const pause = at.pauses.get(id);
  const isEnded = pause === undefined || isOver(pause.wait, at.deps.clock.now());
  if (!isEnded && !batch.some(({ forced }) => forced === true)) return pause;
  at.pauses.delete(id);
  return undefined;
}

/** Returns claimed deliveries to the queue until the pause ends, with its reason. */
function putOff(at: Dispatcher, claimed: readonly Delivery[], { wait, reason }: Pause): void {
  for (const delivery of claimed) {
    const next = waitUntil(at.deps, { ...delivery, reason }, wait.untilMs);
    at.unsettled.delete(nameOf(delivery));
    if (next !== undefined) add(at, [next]);
  }
}

/** Adds how long a delivery has waited for a break, and what ended the wait. */
function withWaited(deps: DispatchDeps, delivery: Delivery): Delivery {
  const { at, atBreak, nextAt, heldUntil } = delivery;
  if (atBreak === undefined || nextAt !== heldUntil) return delivery;
  const took = minutes((deps.clock.now() - Date.parse(at)) / 60_000);
  const { why = 'no break came' } = breakFor(deps, delivery) ?? {};
  return { ...delivery, waited: `held for ${took}, ${why}` };
}

/** Claims the deliveries that still exist, and expires deliveries past their deadline. */
function claimDue({ deps, unsettled }: Dispatcher, batch: readonly Delivery[]): Delivery[] {
  const nowMs = deps.clock.now();
  const outbox = outboxOf(deps);
  return batch.flatMap((waiting) => {
    const name = nameOf(waiting);
    const delivery = withWaited(deps, withTrueAge(waiting, deps.clock));
    if (!claim(outbox, name)) return [];
    // Voice deliveries don't expire here, because the voice channel passes old messages to the desktop.
    if (delivery.channel !== 'voice' && nowMs > lastAttempt(deps.channels, delivery)) {
      const expire = (): undefined =>
        end(deps, delivery, 'expired', delivery.reason ?? 'not delivered in time');
      unsettled.set(name, expire);
      expire();
      unsettled.delete(name);
      return [];
    }
    unsettled.set(name, () => release(outbox, name));
    if (isOver(waitOf(delivery), nowMs)) return [delivery];
    // Record that the wait is over, so that a crash during the attempt counts as an interruption.
    const forced = { ...delivery, nextAt: toIso(nowMs), waitingSince: toIso(nowMs) };
    record(outbox, name, forced);
    return [forced];
  });
}
