import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { undefinedIf } from '../errors';
import { ifFree } from '../platform/files/lock';
import {
  SCAN_MS,
  add,
  closeDispatcher,
  isBusy,
  resumeAll,
  scan,
  startDispatcher,
  type DispatchDeps,
  type Dispatcher,
} from './dispatch';
import { readWaiting, waitingNames, type Delivery } from './outbox';

export interface DeliverDeps extends DispatchDeps {
  locks: string;
  /** Reloads the settings; returns whether they changed. */
  settingsChanged?: () => Promise<boolean>;
}

const POLL_MS = 20;
const POLLS_A_SCAN = 10;
/** Longer than the longest attempt on any channel. */
const ATTEMPT_MS = 30_000;

/** Runs `work`, or returns undefined if another process on this machine is already delivering. */
async function exclusively<T>(deps: DeliverDeps, work: () => Promise<T>): Promise<T | undefined> {
  const lock = { clock: deps.clock, machineId: deps.machineId, waitMs: 0 };
  return (await ifFree(join(deps.locks, 'notify-deliver.lock'), lock, work))?.value;
}

export interface DeliverOptions {
  /** Continues while a delivery becomes due within this time, in ms. */
  patienceMs: number;
  /** Stops after this time, even if deliveries are still pending. */
  longestMs: number;
}

/**
 * Delivers the outbox without a daemon, until nothing is due soon. Returns false if another process is
 * already delivering.
 */
export async function deliverWaiting(deps: DeliverDeps, options: DeliverOptions): Promise<boolean> {
  const endMs = deps.clock.monotonic() + options.longestMs;
  for (let worked = false; ; worked = true) {
    const dispatcher = await exclusively(deps, () => deliverUntilQuiet(deps, options.patienceMs, endMs));
    if (dispatcher === undefined) return worked;
    const isNew = (name: string): boolean =>
      !dispatcher.queue.has(name) && readWaiting(deps, name) !== undefined;
    if (!waitingNames(deps).some(isNew) || deps.clock.monotonic() >= endMs) return true;
  }
}

async function deliverUntilQuiet(deps: DeliverDeps, patienceMs: number, endMs: number): Promise<Dispatcher> {
  const dispatcher = startDispatcher(deps);
  const isDone = (): boolean => !isBusy(dispatcher, patienceMs) || deps.clock.monotonic() >= endMs;
  do {
    for (let poll = 1; !isDone(); poll += 1) {
      await delay(POLL_MS);
      if (poll % POLLS_A_SCAN === 0) await refresh(deps, dispatcher);
    }
    scan(dispatcher);
  } while (!isDone());
  // Let attempts in progress finish. Otherwise, they would count as interrupted and be repeated.
  await closeDispatcher(dispatcher, ATTEMPT_MS);
  return dispatcher;
}

async function refresh({ settingsChanged }: DeliverDeps, dispatcher: Dispatcher): Promise<void> {
  if ((await settingsChanged?.()) === true) resumeAll(dispatcher);
  scan(dispatcher);
}

export type Delivering = ReturnType<typeof keepDelivering>;

/**
 * Delivers messages from the outbox until closed. Checks every second for deliveries from other processes. Waits while
 * another process holds the delivery lock.
 */
export function keepDelivering(deps: DeliverDeps) {
  const stop = new AbortController();
  let graceMs = 0;
  let dispatcher: Dispatcher | undefined;
  const pause = (): Promise<unknown> =>
    delay(SCAN_MS, undefined, { signal: stop.signal }).catch(undefinedIf(() => stop.signal.aborted));
  const deliverAll = async (): Promise<void> => {
    const current = (dispatcher = startDispatcher(deps));
    try {
      for (;;) {
        await pause();
        if (stop.signal.aborted) return;
        await refresh(deps, current);
      }
    } finally {
      await closeDispatcher(current, graceMs);
      dispatcher = undefined;
    }
  };
  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await exclusively(deps, deliverAll).catch(deps.report);
      await pause();
    }
  };
  const done = run();
  return {
    /** Adds deliveries that have just been accepted. */
    wake: (deliveries: readonly Delivery[]) => dispatcher !== undefined && add(dispatcher, deliveries),
    /** Returns the deliveries that wait for a break. */
    atBreak: () =>
      [...(dispatcher?.queue.values() ?? [])]
        .map(({ delivery }) => delivery)
        .filter(({ atBreak, nextAt, heldUntil }) => atBreak === true && nextAt === heldUntil),
    /** Stops new attempts, waits up to `ms` for attempts in progress, and releases the lock. */
    async close(ms: number) {
      graceMs = ms;
      stop.abort();
      await done;
    },
  };
}
