import type { Clock } from '../../platform/time/clock';
import { wait } from '../../platform/time/wait';
import { failureOf, isTransient } from './failure';

/** How patient the client is, all in ms. */
export interface Timing {
  /** The first pause after a failure; each further one is twice as long. */
  firstPauseMs: number;
  longestPauseMs: number;
  /** A request that keeps failing is given up after so many tries. */
  tries: number;
  /** A session that cannot be reached for so long is left; its log stays. */
  patienceMs: number;
  /** A stream that is silent for so long is opened again. */
  silenceMs: number;
  /** The history is looked at again after so long at the latest, whatever the stream says. */
  lookMs: number;
  /** An event that the stream has shown is expected in the history within this. */
  lagMs: number;
  /** The shortest and the longest pause between two looks at the history while events come. */
  paceMs: readonly [number, number];
}

export const TIMING: Timing = {
  firstPauseMs: 500,
  longestPauseMs: 10_000,
  tries: 5,
  patienceMs: 15 * 60_000,
  silenceMs: 45_000,
  lookMs: 30_000,
  lagMs: 5_000,
  paceMs: [100, 1000],
};

/** A service that does not answer at all is given up after so long, however few the tries were. */
const SLOW_MS = 45_000;

/** What repeats things needs. */
export interface RetryDeps {
  clock: Clock;
  timing: Timing;
  signal?: AbortSignal;
}

/** The pause before try `tried + 1`: doubled each time, somewhat random, never shorter than the service asks for. */
export function pauseMs(timing: Timing, tried: number, error: unknown): number {
  const grown = Math.min(timing.firstPauseMs * 2 ** Math.min(tried, 20), timing.longestPauseMs);
  const asked = failureOf(error)?.retryAfterMs ?? 0;
  return Math.max(grown * (0.75 + Math.random() / 4), Math.min(asked, timing.patienceMs));
}

/** Repeats what may be repeated without harm (reading) until it works, is refused, or has failed too often. */
export async function repeated<T>(deps: RetryDeps, work: () => Promise<T>): Promise<T> {
  const started = deps.clock.monotonic();
  for (let tried = 0; ; tried += 1) {
    try {
      return await work();
    } catch (error) {
      const isSlow = deps.clock.monotonic() - started > SLOW_MS;
      if (!isTransient(error) || tried + 1 >= deps.timing.tries || isSlow) throw error;
      await wait(pauseMs(deps.timing, tried, error), deps.signal);
    }
  }
}

/**
 * Does once what must not be done twice, over a connection that may lose the answer (the API has no idempotency
 * keys). After a failure that may have had its effect, `landed` is asked some times, since the service may show
 * it a little later; only when it says no every time is the work done again.
 */
export async function once<T>(
  deps: RetryDeps,
  work: () => Promise<T>,
  landed: () => Promise<T | undefined>,
  mayHaveLanded: (error: unknown) => boolean,
): Promise<T> {
  for (let tried = 0; ; tried += 1) {
    try {
      return await work();
    } catch (error) {
      if (mayHaveLanded(error)) {
        for (let look = 0; look < LOOKS; look += 1) {
          await wait(pauseMs(deps.timing, look, undefined), deps.signal);
          const found = await repeated(deps, landed);
          if (found !== undefined) return found;
        }
      }
      if (!isTransient(error) || tried + 1 >= deps.timing.tries) throw error;
      await wait(pauseMs(deps.timing, tried, error), deps.signal);
    }
  }
}

const LOOKS = 3;
