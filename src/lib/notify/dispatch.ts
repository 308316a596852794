import { abandoned, claim, isOrphaned, readEntry, record, release, sweep } from '../platform/files/spool';
import { toIso } from '../platform/time/clock';
import { yielder, within } from '../platform/time/wait';
import { attempt, prepared, type Channel, type Outcome } from './channels/channel';
import type { ChannelId } from './events';
import { logResult } from './history';
import {
  addTo,
  createLane,
  hasten,
  isOver,
  isReady,
  nextDue,
  parcelOf,
  pause,
  pausedUntil,
  resume,
  takeFrom,
  waitOf,
  type Lane,
} from './lane';
import { nameOf, type Delivery, buryUnreadable, outboxOf, readWaiting, scanOutbox } from './outbox';
import {
  end,
  lastAttempt,
  offOutcome,
  recover,
  recoverDelivery,
  settle,
  withTrueAge,
  type SettleDeps,
} from './settle';

export interface DispatchDeps extends SettleDeps {
  /** Reports an unexpected error, such as a full disk. Delivery continues. */
  report: (error: unknown) => void;
}

/**
 * Delivers the outbox with one lane per channel, so that a broken channel doesn't delay the others.
 * deliver.ts allows only one dispatcher per machine.
 */
export interface Dispatcher {
  deps: DispatchDeps;
  lanes: ReadonlyMap<ChannelId, Lane>;
  running: Map<ChannelId, Promise<void>>;
  /** Names of outbox entries that a scan can skip. */
  known: Set<string>;
  /** Names of deliveries that were accepted by another machine, or whose channel this machine doesn't have. */
  foreign: Set<string>;
  pauseReasons: Map<ChannelId, string>;
  /** Maps names to claimed deliveries whose outcome hasn't been written to disk yet. */
  unsettled: Map<string, { delivery: Delivery; outcome?: Outcome }>;
  breathe: () => Promise<void>;
  sweptMs: number;
  timer: NodeJS.Timeout | undefined;
  isClosed: boolean;
}

const LONGEST_SLEEP_MS = 60_000;
const SWEEP_MS = 60_000;
const FAULT_PAUSE_MS = 2_000;
/** How long to process deliveries before yielding to the event loop, in ms. */
const SLICE_MS = 1;
/** Maximum number of log lines when a channel pauses, so that other entries aren't pushed out of the log. */
const MAX_PAUSE_LINES = 200;

export function startDispatcher(deps: DispatchDeps): Dispatcher {
  const at: Dispatcher = {
    deps,
    lanes: new Map(deps.channels.map(({ id, joinsFrom }) => [id, createLane(joinsFrom)])),
    running: new Map(),
    known: new Set(),
    foreign: new Set(),
    pauseReasons: new Map(),
    unsettled: new Map(),
    breathe: yielder(deps.clock, SLICE_MS),
    sweptMs: -Infinity,
    timer: undefined,
    isClosed: false,
  };
  recover(deps);
  scan(at);
  return at;
}

/** Adds deliveries that have just been accepted. */
export function add(at: Dispatcher, deliveries: readonly Delivery[]): void {
  const { clock, machineId } = at.deps;
  for (const delivery of deliveries) {
    const name = nameOf(delivery);
    if (at.known.has(name)) continue;
    at.known.add(name);
    const lane = delivery.machine === machineId ? at.lanes.get(delivery.channel) : undefined;
    if (lane === undefined) {
      at.foreign.add(name);
      continue;
    }
    addTo(lane, delivery);
    const untilMs = pausedUntil(lane, clock.now());
    if (untilMs !== undefined && delivery.attempts === 0) logPause(at, delivery, untilMs);
  }
  pump(at);
}

/** Retries all failed and paused deliveries. Called when the settings have changed. */
export function resumeAll(at: Dispatcher): void {
  for (const lane of at.lanes.values()) resume(lane);
  pump(at);
}

/** Returns whether an attempt is in progress or a delivery becomes due within `withinMs`. */
export function isBusy({ deps, lanes, running }: Dispatcher, withinMs: number): boolean {
  const nowMs = deps.clock.now();
  return running.size > 0 || [...lanes.values()].some((lane) => nextDue(lane, nowMs) <= nowMs + withinMs);
}

/** Stops new attempts, and waits up to `graceMs` for attempts in progress. */
export async function closeDispatcher(at: Dispatcher, graceMs: number): Promise<void> {
  at.isClosed = true;
  clearTimeout(at.timer);
  await within(graceMs, Promise.all(at.running.values()), undefined);
}

function logPause({ deps, pauseReasons }: Dispatcher, delivery: Delivery, untilMs: number): void {
  const nextAt = toIso(Math.max(untilMs, Date.parse(delivery.nextAt)));
  logResult(deps, { ...delivery, nextAt }, 'waiting', pauseReasons.get(delivery.channel));
}

/** Picks up deliveries that other processes have added to the outbox. */
export function scan(at: Dispatcher): void {
  const { deps, known, foreign, lanes } = at;
  const nowMs = deps.clock.monotonic();
  const sweeps = nowMs - at.sweptMs >= SWEEP_MS;
  if (sweeps) {
    sweep(outboxOf(deps), deps.clock.now());
    at.sweptMs = nowMs;
  }
  settleRest(at);
  const { unknown, retries } = scanOutbox(deps, (name) => known.has(name));
  const found = unknown.map((name) => ({ name, delivery: readWaiting(deps, name) }));
  for (const { name, delivery } of found) {
    if (delivery !== undefined) continue;
    buryUnreadable(deps, name);
    known.add(name);
  }
  add(
    at,
    found.flatMap(({ delivery }) => delivery ?? []),
  );
  if (sweeps) expireForeign(at);
  for (const id of retries) {
    for (const lane of lanes.values()) hasten(lane, id);
    // A retry may have moved another machine's delivery to this machine, so read the file again.
    for (const name of foreign) if (name.startsWith(id)) forget(at, name);
  }
  pump(at);
}

function forget({ known, foreign }: Dispatcher, name: string): void {
  known.delete(name);
  foreign.delete(name);
}

/** Expires day-old deliveries that this machine can't send, so that they are listed as failed. */
function expireForeign(at: Dispatcher): void {
  const { deps, foreign } = at;
  const outbox = outboxOf(deps);
  const nowMs = deps.clock.now();
  const expire = (delivery: Delivery): void => {
    const { machine, channel } = delivery;
    const reason =
      machine === deps.machineId
        ? `this machine has no ${channel} channel`
        : `accepted by another machine (${machine}), which did not deliver it within a day`;
    end(deps, delivery, 'expired', reason);
  };
  for (const name of foreign) {
    if (!isOrphaned(outbox, name, nowMs)) continue;
    const delivery = readWaiting(deps, name);
    if (delivery !== undefined && claim(outbox, name)) expire(delivery);
    forget(at, name);
  }
  for (const { entry } of abandoned(outbox, deps.machineId, nowMs)) {
    if (entry !== undefined && entry.machine !== deps.machineId) expire(entry);
  }
}

/** Retries the storage of outcomes that could not be written, for example because the disk was full. */
function settleRest({ deps, running, unsettled }: Dispatcher): void {
  try {
    for (const [name, { delivery, outcome }] of unsettled) {
      if (running.has(delivery.channel)) continue;
      const recorded = readEntry(outboxOf(deps), 'claimed', name);
      if (recorded !== undefined && outcome !== undefined) settle(deps, delivery, outcome);
      else if (recorded?.result !== undefined) recoverDelivery(deps, name, recorded);
      else if (recorded !== undefined) release(outboxOf(deps), name, nameOf(delivery));
      unsettled.delete(name);
    }
  } catch (error) {
    deps.report(error);
  }
}

/** Starts each idle lane that has a delivery due, and sets a timer for the next due time. */
function pump(at: Dispatcher): void {
  const { deps, lanes, running } = at;
  if (at.isClosed) return;
  for (const channel of deps.channels) {
    const lane = lanes.get(channel.id);
    if (lane === undefined || running.has(channel.id) || !isReady(lane, deps.clock.now())) continue;
    const work = drain(at, channel, lane).finally(() => {
      running.delete(channel.id);
      pump(at);
    });
    running.set(channel.id, work);
  }
  clearTimeout(at.timer);
  const nowMs = deps.clock.now();
  const idle = [...lanes].filter(([id]) => !running.has(id));
  const next = Math.min(Infinity, ...idle.map(([, lane]) => nextDue(lane, nowMs)));
  if (next === Infinity) return;
  at.timer = setTimeout(() => pump(at), Math.max(1, Math.min(next - nowMs, LONGEST_SLEEP_MS)));
  at.timer.unref();
}

async function drain(at: Dispatcher, channel: Channel, lane: Lane): Promise<void> {
  const { clock, report } = at.deps;
  for (; !at.isClosed; await at.breathe()) {
    const batch = takeFrom(lane, clock.now());
    if (batch.length === 0) return;
    let next: Delivery[] = [];
    try {
      next = await deliver(at, channel, lane, batch);
    } catch (error) {
      report(error);
      pause(lane, clock.now() + FAULT_PAUSE_MS, clock.now());
      return;
    } finally {
      for (const delivery of batch) at.known.delete(nameOf(delivery));
    }
    add(at, next);
  }
}

/** Makes one attempt to send a batch; returns the deliveries that are still pending. */
async function deliver(at: Dispatcher, channel: Channel, lane: Lane, batch: Delivery[]): Promise<Delivery[]> {
  const { deps, unsettled } = at;
  const early = offOutcome(channel) ?? (await prepared(channel));
  const [first, ...others] = claimDue(at, batch);
  if (first === undefined) return [];
  let sent = first;
  const onPart = (sentParts: number): void => {
    sent = { ...sent, sentParts };
    record(outboxOf(deps), nameOf(sent), sent);
  };
  const outcome = early ?? (await attempt(channel, parcelOf([first, ...others], channel), onPart));
  // Keep the outcome in memory until it is stored, so that the batch isn't sent again.
  for (const delivery of [sent, ...others]) unsettled.set(nameOf(delivery), { delivery, outcome });
  const next = [sent, ...others].flatMap((delivery) => {
    const following = settle(deps, delivery, outcome);
    unsettled.delete(nameOf(delivery));
    return following ?? [];
  });
  if (outcome.outcome === 'again' && outcome.all === true && next.length > 0) {
    at.pauseReasons.set(channel.id, outcome.reason);
    const untilMs = Math.max(...next.map(({ nextAt }) => Date.parse(nextAt)));
    const stopped = pause(lane, untilMs, deps.clock.now()).filter(({ attempts }) => attempts === 0);
    for (const delivery of stopped.slice(-MAX_PAUSE_LINES)) logPause(at, delivery, untilMs);
  }
  return next;
}

/** Claims the deliveries that still exist, and expires deliveries past their deadline. */
function claimDue({ deps, unsettled }: Dispatcher, batch: readonly Delivery[]): Delivery[] {
  const nowMs = deps.clock.now();
  return batch.flatMap((waiting) => {
    const name = nameOf(waiting);
    let delivery = withTrueAge(waiting, deps.clock);
    if (!claim(outboxOf(deps), name)) return [];
    unsettled.set(name, { delivery });
    // Voice deliveries don't expire here, because the voice channel passes old messages to the desktop.
    if (delivery.channel !== 'voice' && nowMs > lastAttempt(deps, delivery)) {
      end(deps, delivery, 'expired', 'not delivered in time');
      unsettled.delete(name);
      return [];
    }
    if (!isOver(waitOf(delivery), nowMs)) {
      // Record that the wait is over, so that a crash during the attempt counts as an interruption.
      delivery = { ...delivery, nextAt: toIso(nowMs), waitingSince: toIso(nowMs) };
      record(outboxOf(deps), name, delivery);
    }
    return [delivery];
  });
}
