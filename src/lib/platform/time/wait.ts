import type { Clock } from './clock';

/** Waits some milliseconds; an abort ends the waiting with the signal's reason. */
export function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    if (signal?.aborted === true) {
      reject(signal.reason as Error);
      return;
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', abort, { once: true });
  });
}

let turn = 0;
let isEnding = false;

/** The same number until the event loop has handled all that it found on its sockets in this turn, then another. */
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
 * To be awaited between the small steps of long work: once the steps took this long, ms, the event loop looks at its
 * sockets, which it never does while each promise is settled already. All who share one share that time.
 */
export function yielder(clock: Pick<Clock, 'monotonic'>, sliceMs: number): () => Promise<void> {
  let endMs = -Infinity;
  return async () => {
    if (clock.monotonic() < endMs) return;
    await new Promise((resolve) => setImmediate(resolve));
    endMs = clock.monotonic() + sliceMs;
  };
}
