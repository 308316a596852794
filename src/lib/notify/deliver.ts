import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { StewardError } from '../errors';
import { withLock } from '../platform/files/lock';
import type { Delivery } from './delivery';
import { startDispatcher, type DispatchDeps, type Dispatcher } from './dispatch';
import { waiting } from './outbox';

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

/** One process of a machine delivers at a time; another one is `locked`. */
function alone<T>(deps: DeliverDeps, waitMs: number, work: () => Promise<T>): Promise<T> {
  const lock = { clock: deps.clock, machineId: deps.machineId, waitMs };
  return withLock(join(deps.locks, 'notify-deliver.lock'), lock, work);
}

export interface DeliverOptions {
  /** What is due within so many ms is waited for. */
  patienceMs: number;
  /** It ends after this, whatever still waits. */
  longestMs: number;
}

/**
 * Delivers what waits, and what is put there meanwhile, until nothing is due soon; for where no daemon runs. Where
 * somebody delivers already it does nothing: false. Whoever puts something into the outbox and then finds the
 * lock taken can leave it: after giving the lock back, the holder looks once more.
 */
export async function deliverWaiting(deps: DeliverDeps, options: DeliverOptions): Promise<boolean> {
  const endMs = deps.clock.monotonic() + options.longestMs;
  for (let worked = false; ; worked = true) {
    let dispatcher: Dispatcher;
    try {
      dispatcher = await alone(deps, 0, () => deliverUntilQuiet(deps, options.patienceMs, endMs));
    } catch (error) {
      if (error instanceof StewardError && error.kind === 'locked') return worked;
      throw error;
    }
    const isSeen = waiting(deps).every((name) => dispatcher.has(name));
    if (isSeen || deps.clock.monotonic() >= endMs) return true;
  }
}

async function deliverUntilQuiet(deps: DeliverDeps, patienceMs: number, endMs: number): Promise<Dispatcher> {
  const dispatcher = startDispatcher(deps);
  for (;;) {
    // What others put there meanwhile does not wait for what is to be tried again.
    for (let look = 1; dispatcher.isBusy(patienceMs) && deps.clock.monotonic() < endMs; look += 1) {
      await delay(POLL_MS);
      if (look % LOOKS_A_SCAN === 0) await lookAround(deps, dispatcher);
    }
    dispatcher.scan();
    if (!dispatcher.isBusy(patienceMs) || deps.clock.monotonic() >= endMs) break;
  }
  // Something is under way only when the time was up: left behind, it would count as interrupted and go out again.
  await dispatcher.close(ATTEMPT_MS);
  return dispatcher;
}

/** What keeps a channel from its deliveries is often a setting: once that is mended, nobody waits any more. */
async function lookAround({ settingsChanged }: DeliverDeps, dispatcher: Dispatcher): Promise<void> {
  if ((await settingsChanged?.()) === true) dispatcher.resume();
  dispatcher.scan();
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

  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      try {
        await alone(deps, 0, async () => {
          dispatcher = startDispatcher(deps);
          try {
            let pauseMs = SCAN_MS;
            while (!stop.signal.aborted) {
              await pause(pauseMs);
              if (stop.signal.aborted) break;
              const beganMs = deps.clock.monotonic();
              await lookAround(deps, dispatcher);
              const tookMs = deps.clock.monotonic() - beganMs;
              pauseMs = Math.min(Math.max(SCAN_MS, tookMs * PAUSE_PER_SCAN), LONGEST_PAUSE_MS);
            }
          } finally {
            await dispatcher.close(graceMs);
            dispatcher = undefined;
          }
        });
      } catch (error) {
        if (!(error instanceof StewardError && error.kind === 'locked')) deps.report(error);
        await pause(BUSY_RETRY_MS);
      }
    }
  };
  const done = run();
  return {
    wake: (deliveries) => dispatcher?.add(deliveries),
    async close(ms) {
      graceMs = ms;
      stop.abort();
      await done;
    },
  };
}
