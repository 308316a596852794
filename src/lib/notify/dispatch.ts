import { toIso } from '../platform/time/clock';
import { breather } from '../platform/time/loop-turn';
import { attempt, prepared, type Channel, type Outcome } from './channels/channel';
import { type Delivery, channelOf, nameOf } from './delivery';
import type { ChannelId } from './events';
import { logResult } from './history';
import { type Lane, createLane, parcelOf } from './lane';
import {
  buryUnreadable,
  claim,
  forsakenClaims,
  isForsaken,
  look,
  readClaimed,
  readWaiting,
  record,
  release,
  sweep,
} from './outbox';
import { type SettleDeps, end, isOver, offOutcome, recover, recoverOne, settle, withTrueAge } from './settle';

export interface DispatchDeps extends SettleDeps {
  channels: readonly Channel[];
  /** Told of what nobody foresaw (a full disk, a folder that has gone): the work goes on. */
  report: (error: unknown) => void;
}

export interface Dispatcher {
  /** Takes up deliveries that were just accepted. */
  add: (deliveries: readonly Delivery[]) => void;
  /** Looks into the outbox for what others have put there. */
  scan: () => void;
  /** The settings have changed: what failed, and what waited for a channel that was down, is tried now. */
  resume: () => void;
  /** Does it know the file of the outbox: waiting for its time, or another machine's? */
  has: (name: string) => boolean;
  /** Is anything under way, or due within so many ms? */
  isBusy: (withinMs: number) => boolean;
  /** Begins nothing more, and waits so long for what is under way. */
  close: (graceMs: number) => Promise<void>;
}

const LONGEST_SLEEP_MS = 60_000;
const SWEEP_EVERY_MS = 60_000;
/** After a fault of the machine's own. */
const FAULT_PAUSE_MS = 2_000;
/** What answers at once, thousands of times, still leaves the loop to who asks something of this process. */
const SLICE_MS = 1;
/** Of those that a channel keeps waiting, so many are told of each time: thousands would push all else out of the log. */
const MOST_NOTES = 200;

/**
 * Delivers what is in the outbox. Each channel goes its own way, one delivery after the other: a dead one keeps
 * none of the others from theirs. Only one dispatcher of a machine may be at it (deliver.ts holds the lock).
 */
export function startDispatcher(deps: DispatchDeps): Dispatcher {
  const lanes = new Map<ChannelId, Lane>(deps.channels.map(({ id }) => [id, createLane()]));
  const running = new Map<ChannelId, Promise<void>>();
  /** What other machines have put into a folder that is shared, what has no channel here, and what is no file. */
  const foreign = new Set<string>();
  /** Why a channel was last paused. */
  const down = new Map<ChannelId, string>();
  const breathe = breather(deps.clock, SLICE_MS);
  const unsettled = createUnsettled(deps);
  let sweptMs = -Infinity;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const enter = (deliveries: readonly Delivery[]): void => {
    for (const delivery of deliveries) {
      const lane = delivery.machine === deps.machineId ? lanes.get(delivery.channel) : undefined;
      if (lane === undefined) foreign.add(nameOf(delivery));
      else lane.add(delivery);
      const until = lane?.pausedUntil(deps.clock.now());
      if (until !== undefined && delivery.attempts === 0) notePause(delivery, until);
    }
  };

  /** Why it has not even been tried: its channel is down for the others, too. */
  const notePause = (delivery: Delivery, untilMs: number): void => {
    const until = toIso(Math.max(untilMs, Date.parse(delivery.nextAt)));
    logResult(deps, { ...delivery, nextAt: until }, 'waiting', down.get(delivery.channel));
  };

  const add = (deliveries: readonly Delivery[]): void => {
    enter(deliveries);
    pump();
  };

  const scan = (): void => {
    const nowMs = deps.clock.monotonic();
    const sweeps = nowMs - sweptMs >= SWEEP_EVERY_MS;
    if (sweeps) {
      sweep(deps);
      sweptMs = nowMs;
    }
    settleLeft();
    const { unknown, retries } = look(deps, has);
    const found = unknown.map((name) => readWaiting(deps, name));
    unknown.forEach((name, index) => {
      if (found[index] === undefined && !buryUnreadable(deps, name)) foreign.add(name);
    });
    enter(found.filter((delivery) => delivery !== undefined));
    if (sweeps) endForsaken();
    for (const lane of lanes.values()) retries.forEach((id) => lane.hasten(id));
    // A retry makes a delivery of another machine this one's: it is read again at the next scan.
    for (const name of foreign) if (retries.some((id) => name.startsWith(id))) foreign.delete(name);
    pump();
  };

  /** What nobody else has delivered in its time ends here, so that a person learns of it. */
  const endForsaken = (): void => {
    for (const name of foreign) {
      if (!isForsaken(deps, name)) continue;
      const delivery = readWaiting(deps, name);
      if (delivery !== undefined && claim(deps, name))
        end(deps, delivery, 'expired', forsaken(deps, delivery));
      foreign.delete(name);
    }
    for (const delivery of forsakenClaims(deps)) end(deps, delivery, 'expired', forsaken(deps, delivery));
  };

  const settleLeft = (): void => {
    try {
      unsettled.settleLeft(({ channel }) => running.has(channel));
    } catch (error) {
      deps.report(error);
    }
  };

  const has = (name: string): boolean =>
    lanes.get(channelOf(name) as ChannelId)?.has(name) === true || foreign.has(name);

  const pump = (): void => {
    if (isClosed) return;
    for (const channel of deps.channels) {
      const lane = lanes.get(channel.id);
      if (lane === undefined || running.has(channel.id)) continue;
      if (!lane.isReady(deps.clock.now())) continue;
      const work = drain(channel, lane).finally(() => {
        running.delete(channel.id);
        pump();
      });
      running.set(channel.id, work);
    }
    wakeLater();
  };

  const drain = async (channel: Channel, lane: Lane): Promise<void> => {
    for (; !isClosed; await breathe()) {
      const batch = lane.take(deps.clock.now());
      if (batch.length === 0) return;
      let next: Delivery[] = [];
      try {
        next = await deliver(channel, lane, batch);
      } catch (error) {
        deps.report(error);
        const nowMs = deps.clock.now();
        lane.pause(nowMs + FAULT_PAUSE_MS, nowMs);
        return;
      } finally {
        for (const delivery of batch) lane.forget(delivery);
      }
      add(next);
    }
  };

  /** One attempt; returns what goes on from there. */
  const deliver = async (channel: Channel, lane: Lane, batch: Delivery[]): Promise<Delivery[]> => {
    const off = offOutcome(channel);
    const early = off ?? (await prepared(channel));
    // What somebody has withdrawn since is nobody's any more.
    const live: Delivery[] = [];
    for (const waited of batch) {
      await breathe();
      const delivery = withTrueAge(waited, deps.clock);
      if (!claim(deps, nameOf(delivery))) continue;
      unsettled.claimed(delivery);
      if (ended(delivery)) unsettled.settled(delivery);
      else live.push(delivery);
    }
    const [first, ...others] = live;
    if (first === undefined) return [];
    let sent = first;
    const onPart = (sentParts: number): void => {
      sent = { ...sent, sentParts };
      record(deps, nameOf(sent), sent);
    };
    const outcome = early ?? (await attempt(channel, parcelOf([first, ...others]), onPart));
    const next: Delivery[] = [];
    for (const delivery of [sent, ...others]) unsettled.sent(delivery, outcome);
    for (const delivery of [sent, ...others]) {
      const goesOn = settle(deps, delivery, outcome);
      unsettled.settled(delivery);
      if (goesOn !== undefined) next.push(goesOn);
      await breathe();
    }
    const untilMs = Math.max(0, ...next.map(({ nextAt }) => Date.parse(nextAt)));
    if (outcome.outcome === 'again' && outcome.all === true && untilMs > 0) {
      down.set(channel.id, outcome.reason);
      const stopped = lane.pause(untilMs, deps.clock.now()).filter(({ attempts }) => attempts === 0);
      for (const delivery of stopped.slice(-MOST_NOTES)) {
        notePause(delivery, untilMs);
        await breathe();
      }
    }
    return next;
  };

  /** Ends what has waited for too long; true when it did. */
  const ended = (delivery: Delivery): boolean => {
    // What was to be spoken is shown, however late it is.
    if (delivery.channel === 'voice' || !isOver(delivery, deps.clock.now())) return false;
    end(deps, delivery, 'expired', 'it could not be delivered in time');
    return true;
  };

  const wakeLater = (): void => {
    clearTimeout(timer);
    const idle = [...lanes].filter(([id]) => !running.has(id));
    const nowMs = deps.clock.now();
    const next = Math.min(Infinity, ...idle.map(([, lane]) => lane.nextDue(nowMs)));
    if (isClosed || next === Infinity) return;
    const inMs = Math.min(Math.max(next - nowMs, 0), LONGEST_SLEEP_MS);
    timer = setTimeout(pump, Math.max(inMs, 1));
    timer.unref();
  };

  recover(deps);
  scan();
  return {
    add,
    scan,
    resume() {
      for (const lane of lanes.values()) lane.resume();
      pump();
    },
    has,
    isBusy(withinMs) {
      const nowMs = deps.clock.now();
      return running.size > 0 || [...lanes.values()].some((lane) => lane.nextDue(nowMs) <= nowMs + withinMs);
    },
    async close(graceMs) {
      isClosed = true;
      clearTimeout(timer);
      let grace: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => (grace = setTimeout(resolve, graceMs)));
      await Promise.race([Promise.all(running.values()), late]);
      clearTimeout(grace);
    },
  };
}

function forsaken({ machineId }: DispatchDeps, { machine, channel }: Delivery): string {
  return machine === machineId
    ? `no channel ${channel} is here`
    : `accepted by another machine (${machine}), which has not delivered it within a day`;
}

/**
 * What this process has claimed and not yet written down the end of. Where a fault of the machine's own (a full disk)
 * comes in between, it knows better than anybody who finds the claimed file what came of it.
 */
export interface Unsettled {
  claimed: (delivery: Delivery) => void;
  /** What came of the attempt: from now on it is not made a second time. */
  sent: (delivery: Delivery, outcome: Outcome) => void;
  settled: (delivery: Delivery) => void;
  /** Writes down what is left of those that nobody is at. What cannot be written is left for the next time, and throws. */
  settleLeft: (isBusy: (delivery: Delivery) => boolean) => void;
}

export function createUnsettled(deps: SettleDeps): Unsettled {
  const left = new Map<string, { delivery: Delivery; outcome?: Outcome }>();
  return {
    claimed: (delivery) => void left.set(nameOf(delivery), { delivery }),
    sent: (delivery, outcome) => void left.set(nameOf(delivery), { delivery, outcome }),
    settled: (delivery) => void left.delete(nameOf(delivery)),
    settleLeft(isBusy) {
      for (const [name, { delivery, outcome }] of left) {
        if (isBusy(delivery)) continue;
        const recorded = readClaimed(deps, name);
        // Without an outcome it was not sent. What has gone from there has gone on, but for its line in the log.
        if (recorded !== undefined && outcome !== undefined) settle(deps, delivery, outcome);
        else if (recorded?.result !== undefined) recoverOne(deps, name, recorded);
        else if (recorded !== undefined) release(deps, name, delivery);
        left.delete(name);
      }
    },
  };
}
