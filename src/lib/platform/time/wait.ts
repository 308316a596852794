import { setTimeout as delay } from 'node:timers/promises';

import type { Clock } from './clock';

/** Waits for `ms`; rejects with the signal's reason when aborted. */
export async function wait(ms: number, signal?: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {
    throw signal?.reason as Error;
  });
}

/** Waits up to `ms` for `work`; returns `late` if it isn't done by then. */
export async function within<T, L>(ms: number, work: Promise<T> | T, late: L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<L>((resolve) => (timer = setTimeout(resolve, ms, late)));
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

let turn = 0;
let isEnding = false;

/** Returns a number that identifies the current turn of the event loop. */
export function loopTurn(): number {
  if (!isEnding) {
    isEnding = true;
    setImmediate(() => {
      turn += 1;
      isEnding = false;
    });
  }
  return turn;
}

/**
 * Returns a function to await between the steps of long work. The function lets the event loop run every
 * `sliceMs`.
 */
export function yielder(clock: Pick<Clock, 'monotonic'>, sliceMs: number): () => Promise<void> {
  let endMs = -Infinity;
  return async () => {
    if (clock.monotonic() < endMs) return;
    await new Promise((resolve) => setImmediate(resolve));
    endMs = clock.monotonic() + sliceMs;
  };
}
