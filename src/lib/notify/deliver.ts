import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { StewardError } from '../errors';
import { withLock } from '../platform/files/lock';
import { type Delivery, waiting } from './outbox';
import {
  add,
  closeDispatcher,
  isBusy,
  knows,
  resumeAll,
  scan,
  startDispatcher,
  type DispatchDeps,
  type Dispatcher,
} from './dispatch';

export interface DeliverDeps extends DispatchDeps {
  /** Machine-local folder of the locks. */
  locks: string;
  /** Looks at the settings; have they changed since? Without it they are those of the start. */
  settingsChanged?: () => Promise<boolean>;
}

const POLL_MS = 20;
const LOOKS_A_SCAN = 10;
const SCAN_MS = 1_000;
/** Looking through a large outbox takes its time, in which nothing is accepted: a two-hundredth of all, at most. */
const PAUSE_PER_SCAN = 200;
const LONGEST_PAUSE_MS = 10_000;
const BUSY_RETRY_MS = 1_000;
/** What any channel takes for an attempt. */
const ATTEMPT_MS = 30_000;

/** One process of a machine delivers at a time. Undefined: another one does. */
async function alone<T>(deps: DeliverDeps, work: () => Promise<T>): Promise<T | undefined> {
  const lock = { clock: deps.clock, machineId: deps.machineId, waitMs: 0 };
  try {
    return await withLock(join(deps.locks, 'notify-deliver.lock'), lock, work);
  } catch (error) {
    if (error instanceof StewardError && error.kind === 'locked') return undefined;
    throw error;
  }
}

export interface DeliverOptions {
  /** What is due within so many ms is waited for. */
  patienceMs: number;
  /** It ends after this, whatever still waits. */
  longestMs: number;
}

/**
 * Delivers what waits, and what is put there meanwhile, until nothing is due soon; for where no daemon runs. Where
 * another process delivers already it does nothing: false. Whoever puts something into the outbox and then finds the
 * lock taken can leave it: after giving the lock back, the holder looks once more.
 */
export async function deliverWaiting(deps: DeliverDeps, options: DeliverOptions): Promise<boolean> {
  const endMs = deps.clock.monotonic() + options.longestMs;
  for (let worked = false; ; worked = true) {
    const dispatcher = await alone(deps, () => deliverUntilQuiet(deps, options.patienceMs, endMs));
    if (dispatcher === undefined) return worked;
    const isSeen = waiting(deps).every((name) => knows(dispatcher, name));
    if (isSeen || deps.clock.monotonic() >= endMs) return true;
  }
}

async function deliverUntilQuiet(deps: DeliverDeps, patienceMs: number, endMs: number): Promise<Dispatcher> {
  const dispatcher = startDispatcher(deps);
  const isDone = (): boolean => !isBusy(dispatcher, patienceMs) || deps.clock.monotonic() >= endMs;
  do {
    // What others put there meanwhile does not wait for what is to be retried.
    for (let look = 1; !isDone(); look += 1) {
      await delay(POLL_MS);
      if (look % LOOKS_A_SCAN === 0) await lookAround(deps, dispatcher);
    }
    scan(dispatcher);
  } while (!isDone());
  // Something is under way only when the time was up: left behind, it would count as interrupted and go out again.
  await closeDispatcher(dispatcher, ATTEMPT_MS);
  return dispatcher;
}

/** What keeps a channel from its deliveries is often a setting: once that is fixed, nothing waits any more. */
async function lookAround({ settingsChanged }: DeliverDeps, dispatcher: Dispatcher): Promise<void> {
  if ((await settingsChanged?.()) === true) resumeAll(dispatcher);
  scan(dispatcher);
}

/** What delivers for as long as a daemon lives. */
export interface Delivering {
  /** Takes up what was just accepted. */
  wake: (deliveries: readonly Delivery[]) => void;
  /** Begins nothing more, lets what is under way end for so long, and gives the lock back. */
  close: (graceMs: number) => Promise<void>;
}

/**
 * Delivers until it is closed: what this process accepts, at once, and what others put into the outbox, within
 * seconds. While another process has the lock it waits for that one to end.
 */
export function keepDelivering(deps: DeliverDeps): Delivering {
  const stop = new AbortController();
  let graceMs = 0;
  let dispatcher: Dispatcher | undefined;
  const pause = (ms: number): Promise<unknown> =>
    delay(ms, undefined, { signal: stop.signal }).catch((error: unknown) => {
      if (!stop.signal.aborted) throw error;
    });
  const deliver = async (): Promise<void> => {
    const current = (dispatcher = startDispatcher(deps));
    try {
      for (let pauseMs = SCAN_MS; ;) {
        await pause(pauseMs);
        if (stop.signal.aborted) return;
        const beganMs = deps.clock.monotonic();
        await lookAround(deps, current);
        const tookMs = deps.clock.monotonic() - beganMs;
        pauseMs = Math.min(Math.max(SCAN_MS, tookMs * PAUSE_PER_SCAN), LONGEST_PAUSE_MS);
      }
    } finally {
      await closeDispatcher(current, graceMs);
      dispatcher = undefined;
    }
  };
  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await alone(deps, deliver).catch(deps.report);
      await pause(BUSY_RETRY_MS);
    }
  };
  const done = run();
  return {
    wake: (deliveries) => dispatcher !== undefined && add(dispatcher, deliveries),
    async close(ms) {
      graceMs = ms;
      stop.abort();
      await done;
    },
  };
}
