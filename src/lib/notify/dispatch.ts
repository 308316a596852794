import { abandoned, claim, isOrphaned, readEntry, record, release, sweep } from '../platform/files/spool';
import { yielder } from '../platform/time/wait';
import { toIso } from '../platform/time/clock';
import { attempt, prepared, type Channel, type Outcome } from './channels/channel';
import { nameOf, type Delivery, buryUnreadable, look, outboxOf, readWaiting } from './outbox';
import type { ChannelId } from './events';
import { logResult } from './history';
import {
  addTo,
  createLane,
  hasten,
  isReady,
  nextDue,
  parcelOf,
  pause,
  pausedUntil,
  resume,
  takeFrom,
  type Lane,
} from './lane';
import { end, isOver, offOutcome, recover, recoverOne, settle, withTrueAge, type SettleDeps } from './settle';

export interface DispatchDeps extends SettleDeps {
  /** Told of unexpected errors (a full disk, a folder that has gone): the work goes on. */
  report: (error: unknown) => void;
}

/**
 * Delivers what is in the outbox. Each channel goes its own way, one delivery after the other: a dead one keeps none of
 * the others waiting. Only one dispatcher of a machine may run (deliver.ts holds the lock).
 */
export interface Dispatcher {
  deps: DispatchDeps;
  lanes: ReadonlyMap<string, Lane>;
  running: Map<ChannelId, Promise<void>>;
  /** What other machines have put into a shared folder, what has no channel here, and what is no file. */
  foreign: Set<string>;
  /** Why a channel was last paused. */
  down: Map<ChannelId, string>;
  /**
   * What is claimed, and has no end written down, with what came of the attempt. After a fault of the machine's own (a
   * full disk) this process knows better than one that finds the claimed file.
   */
  unsettled: Map<string, { delivery: Delivery; outcome?: Outcome }>;
  breathe: () => Promise<void>;
  sweptMs: number;
  timer: NodeJS.Timeout | undefined;
  isClosed: boolean;
}

const LONGEST_SLEEP_MS = 60_000;
const SWEEP_EVERY_MS = 60_000;
/** After a fault of the machine's own. */
const FAULT_PAUSE_MS = 2_000;
/** What answers at once, thousands of times, still leaves the loop to others. */
const SLICE_MS = 1;
/** Of those that a channel keeps waiting, so many are logged each time: thousands would push all else out of the log. */
const MOST_NOTES = 200;

export function startDispatcher(deps: DispatchDeps): Dispatcher {
  const at: Dispatcher = {
    deps,
    lanes: new Map(deps.channels.map(({ id, joinsFrom }) => [id, createLane(joinsFrom)])),
    running: new Map(),
    foreign: new Set(),
    down: new Map(),
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

/** Takes up deliveries that were just accepted. */
export function add(at: Dispatcher, deliveries: readonly Delivery[]): void {
  enter(at, deliveries);
  pump(at);
}

/** Does it know the file of the outbox: waiting for its time, or another machine's? */
export function knows({ lanes, foreign }: Dispatcher, name: string): boolean {
  return lanes.get(channelOf(name))?.known.has(name) === true || foreign.has(name);
}

function channelOf(name: string): string {
  return name.slice(name.indexOf('.') + 1, -'.json'.length);
}

/** The settings have changed: what failed, and what waited for a channel that was down, is tried now. */
export function resumeAll(at: Dispatcher): void {
  for (const lane of at.lanes.values()) resume(lane);
  pump(at);
}

/** Is anything under way, or due within so many ms? */
export function isBusy({ deps, lanes, running }: Dispatcher, withinMs: number): boolean {
  const nowMs = deps.clock.now();
  return running.size > 0 || [...lanes.values()].some((lane) => nextDue(lane, nowMs) <= nowMs + withinMs);
}

/** Begins nothing more, and waits so long for what is under way. */
export async function closeDispatcher(at: Dispatcher, graceMs: number): Promise<void> {
  at.isClosed = true;
  clearTimeout(at.timer);
  let grace: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (grace = setTimeout(resolve, graceMs)));
  await Promise.race([Promise.all(at.running.values()), late]);
  clearTimeout(grace);
}

function enter(at: Dispatcher, deliveries: readonly Delivery[]): void {
  const { clock, machineId } = at.deps;
  for (const delivery of deliveries) {
    const lane = delivery.machine === machineId ? at.lanes.get(delivery.channel) : undefined;
    if (lane === undefined) {
      at.foreign.add(nameOf(delivery));
      continue;
    }
    addTo(lane, delivery);
    const until = pausedUntil(lane, clock.now());
    if (until !== undefined && delivery.attempts === 0) notePause(at, delivery, until);
  }
}

/** Why it has not even been tried: its channel is down for the others, too. */
function notePause({ deps, down }: Dispatcher, delivery: Delivery, untilMs: number): void {
  const nextAt = toIso(Math.max(untilMs, Date.parse(delivery.nextAt)));
  logResult(deps, { ...delivery, nextAt }, 'waiting', down.get(delivery.channel));
}

/** Looks into the outbox for what others have put there. */
export function scan(at: Dispatcher): void {
  const { deps, foreign, lanes } = at;
  const nowMs = deps.clock.monotonic();
  const sweeps = nowMs - at.sweptMs >= SWEEP_EVERY_MS;
  if (sweeps) {
    sweep(outboxOf(deps), deps.clock.now());
    at.sweptMs = nowMs;
  }
  settleLeft(at);
  const { unknown, retries } = look(deps, (name) => knows(at, name));
  const found = unknown.map((name) => ({ name, delivery: readWaiting(deps, name) }));
  for (const { name, delivery } of found) {
    if (delivery === undefined && !buryUnreadable(deps, name)) foreign.add(name);
  }
  enter(
    at,
    found.flatMap(({ delivery }) => delivery ?? []),
  );
  if (sweeps) endForsaken(at);
  for (const id of retries) {
    for (const lane of lanes.values()) hasten(lane, id);
    // A retry makes a delivery of another machine this one's: it is read again at the next scan.
    for (const name of foreign) if (name.startsWith(id)) foreign.delete(name);
  }
  pump(at);
}

/** What nobody else has delivered in its time ends here, so that a person learns of it. */
function endForsaken({ deps, foreign }: Dispatcher): void {
  const outbox = outboxOf(deps);
  const nowMs = deps.clock.now();
  const expire = (delivery: Delivery): void => {
    const { machine, channel } = delivery;
    const why =
      machine === deps.machineId
        ? `no channel ${channel} is here`
        : `accepted by another machine (${machine}), which has not delivered it within a day`;
    end(deps, delivery, 'expired', why);
  };
  for (const name of foreign) {
    if (!isOrphaned(outbox, name, nowMs)) continue;
    const delivery = readWaiting(deps, name);
    if (delivery !== undefined && claim(outbox, name)) expire(delivery);
    foreign.delete(name);
  }
  for (const { entry } of abandoned(outbox, deps.machineId, nowMs)) {
    if (entry !== undefined && entry.machine !== deps.machineId) expire(entry);
  }
}

/** Writes down what is left of those that nobody is at. What cannot be written is left for the next time. */
function settleLeft({ deps, running, unsettled }: Dispatcher): void {
  try {
    for (const [name, { delivery, outcome }] of unsettled) {
      if (running.has(delivery.channel)) continue;
      const recorded = readEntry(outboxOf(deps), 'claimed', name);
      // Without an outcome it was not sent. What has gone from there has gone on, but for its line in the log.
      if (recorded !== undefined && outcome !== undefined) settle(deps, delivery, outcome);
      else if (recorded?.result !== undefined) recoverOne(deps, name, recorded);
      else if (recorded !== undefined) release(outboxOf(deps), name, nameOf(delivery));
      unsettled.delete(name);
    }
  } catch (error) {
    deps.report(error);
  }
}

/** Lets each lane that has something to do, and does nothing, begin. */
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
  wakeLater(at);
}

function wakeLater(at: Dispatcher): void {
  clearTimeout(at.timer);
  const nowMs = at.deps.clock.now();
  const idle = [...at.lanes].filter(([id]) => !at.running.has(id as ChannelId));
  const next = Math.min(Infinity, ...idle.map(([, lane]) => nextDue(lane, nowMs)));
  if (at.isClosed || next === Infinity) return;
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
      for (const delivery of batch) lane.known.delete(nameOf(delivery));
    }
    add(at, next);
  }
}

/** One attempt; returns what goes on from there. */
async function deliver(at: Dispatcher, channel: Channel, lane: Lane, batch: Delivery[]): Promise<Delivery[]> {
  const { deps, unsettled, breathe } = at;
  const early = offOutcome(channel) ?? (await prepared(channel));
  const [first, ...others] = await claimed(at, batch);
  if (first === undefined) return [];
  let sent = first;
  const onPart = (sentParts: number): void => {
    sent = { ...sent, sentParts };
    record(outboxOf(deps), nameOf(sent), sent);
  };
  const outcome = early ?? (await attempt(channel, parcelOf([first, ...others]), onPart));
  const next: Delivery[] = [];
  // From now on none of them is sent a second time.
  for (const delivery of [sent, ...others]) unsettled.set(nameOf(delivery), { delivery, outcome });
  for (const delivery of [sent, ...others]) {
    const goesOn = settle(deps, delivery, outcome);
    unsettled.delete(nameOf(delivery));
    if (goesOn !== undefined) next.push(goesOn);
    await breathe();
  }
  if (outcome.outcome === 'again' && outcome.all === true && next.length > 0) {
    at.down.set(channel.id, outcome.reason);
    await stopLane(at, lane, Math.max(...next.map(({ nextAt }) => Date.parse(nextAt))));
  }
  return next;
}

/** Claims what is still there: another process may have withdrawn some. What has waited for too long ends. */
async function claimed({ deps, unsettled, breathe }: Dispatcher, batch: Delivery[]): Promise<Delivery[]> {
  const live: Delivery[] = [];
  for (const waited of batch) {
    await breathe();
    const delivery = withTrueAge(waited, deps.clock);
    const name = nameOf(delivery);
    if (!claim(outboxOf(deps), name)) continue;
    unsettled.set(name, { delivery });
    // What was to be spoken is shown, however late it is.
    if (delivery.channel === 'voice' || !isOver(deps, delivery)) live.push(delivery);
    else {
      end(deps, delivery, 'expired', 'it could not be delivered in time');
      unsettled.delete(name);
    }
  }
  return live;
}

async function stopLane(at: Dispatcher, lane: Lane, untilMs: number): Promise<void> {
  const stopped = pause(lane, untilMs, at.deps.clock.now()).filter(({ attempts }) => attempts === 0);
  for (const delivery of stopped.slice(-MOST_NOTES)) {
    notePause(at, delivery, untilMs);
    await at.breathe();
  }
}
