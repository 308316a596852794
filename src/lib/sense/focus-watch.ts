import { StewardError, toStewardError } from '../errors';
import { withLock } from '../platform/files/lock';
import type { Clock } from '../platform/time/clock';
import { wait } from '../platform/time/wait';
import { addObservation, intervalsAfter, type Interval, type FocusTimeline } from './focus-timeline';
import { FRONT_APP_ADAPTERS } from './front-app';
import type { Desktop, FrontAppAdapter } from './front-app/adapter';
import type { Last, Observation } from './observe';

export interface FocusWatchDeps {
  clock: Clock;
  machineId: string;
  desktop: Desktop;
  /**
   * Path of the lock held by the process that watches the focus. While it is held, captures in other
   * processes don't sample the focus.
   */
  lease: string;
  isWanted: () => Promise<boolean>;
  observe: (last: Last | undefined, desktop: Desktop) => Promise<Observation>;
  onProblem: (problem: string) => void;
  adapters?: readonly FrontAppAdapter[];
  tickMs?: number;
}

/** The intervals since the last capture. */
export interface Watched {
  intervals: Interval[];
  /** The last observation, or undefined if the watcher has stopped. */
  now: Observation | undefined;
}

/**
 * Polling interval for the idle time and the focused pane. The desktop doesn't report changes to these
 * values.
 */
const TICK_MS = 15_000;
const RETRY_MS = 60_000;

function stateOf(deps: FocusWatchDeps) {
  return {
    deps,
    /** The desktop, with what the current watch keeps of it. */
    desktop: deps.desktop,
    timeline: { done: [] } as FocusTimeline,
    /** Whether the first attempt to watch is in progress. */
    isStarting: true,
    isLive: false,
    last: undefined as Last | undefined,
    /** Time of the next observation, or undefined if none is due. */
    dueMs: undefined as number | undefined,
    isChanged: false,
    observing: undefined as Promise<void> | undefined,
    closing: new AbortController(),
    stop: (_error?: unknown): void => undefined,
  };
}

type State = ReturnType<typeof stateOf>;

/** Watches the focus in the background while sense is on and the desktop reports changes. */
export function watchFocus(deps: FocusWatchDeps) {
  const state = stateOf(deps);
  const running = keepWatching(state);
  return {
    isLive: () => state.isLive,
    /** Returns whether there may be intervals to store. */
    hasSeen: () =>
      [...state.timeline.done, state.timeline.open].some((each) => (each?.kind ?? 'none') !== 'none'),
    /**
     * Observes the focus now and returns the intervals after `storedMs`. Returns undefined if the watcher has
     * stopped and has no intervals left; the capture must then sample the focus itself.
     */
    async since(storedMs: number): Promise<Watched | undefined> {
      if (state.isLive) await observeNow(state);
      const intervals = intervalsAfter(state.timeline, storedMs);
      if (!state.isStarting && !state.isLive && intervals.length === 0) return undefined;
      const now = state.isLive ? state.last?.seen : undefined;
      return { intervals, now };
    },
    async close() {
      state.closing.abort();
      await running;
    },
  };
}

export type FocusWatch = ReturnType<typeof watchFocus>;

async function keepWatching(state: State): Promise<void> {
  const { deps, closing } = state;
  let previous = '';
  while (!closing.signal.aborted) {
    try {
      if (await deps.isWanted()) await watchOnce(state);
    } catch (error) {
      const { message } = toStewardError(error);
      if (message !== previous) deps.onProblem(message);
      previous = message;
    }
    state.isStarting = false;
    await wait(RETRY_MS, closing.signal).catch(() => undefined);
  }
}

/** Watches the focus until the desktop closes the connection or sense is turned off. */
async function watchOnce(state: State): Promise<void> {
  const { desktop, lease, clock, machineId, adapters = FRONT_APP_ADAPTERS } = state.deps;
  for (const adapter of adapters) {
    if (adapter.watch === undefined || !adapter.detect(desktop)) continue;
    try {
      await withLock(lease, { clock, machineId, waitMs: 0 }, () => watchWith(state, adapter));
      return;
    } catch (error) {
      if (toStewardError(error).kind !== 'not_found') throw error;
    }
  }
}

async function watchWith(state: State, adapter: FrontAppAdapter): Promise<void> {
  const { deps, closing } = state;
  state.desktop = { ...deps.desktop, kept: {} };
  const ending = new AbortController();
  let failure: unknown;
  state.stop = (error) => {
    failure ??= error;
    ending.abort();
  };
  const onChange = (): void => {
    state.isStarting = false;
    state.isLive = true;
    state.isChanged = true;
    void observeNow(state);
  };
  const tick = async (): Promise<void> => {
    state.isStarting = false;
    if (!(await deps.isWanted())) state.stop();
    else if (state.isLive) await observeNow(state);
  };
  const timer = setInterval(() => void tick().catch(state.stop), deps.tickMs ?? TICK_MS);
  try {
    await adapter.watch?.(state.desktop, onChange, AbortSignal.any([closing.signal, ending.signal]));
    await state.observing;
    if (failure !== undefined) throw failure as Error;
  } finally {
    clearInterval(timer);
    state.isLive = false;
  }
}

/**
 * Observes the focus now, and once more if the desktop reports a change during the observation. Stops the
 * watcher on failure.
 */
function observeNow(state: State): Promise<void> {
  state.dueMs ??= state.deps.clock.now();
  state.observing ??= observeUntilDone(state)
    .catch(state.stop)
    .finally(() => (state.observing = undefined));
  return state.observing;
}

async function observeUntilDone(state: State): Promise<void> {
  while (state.dueMs !== undefined) {
    const atMs = state.dueMs;
    const last = state.isChanged ? undefined : state.last;
    state.dueMs = undefined;
    state.isChanged = false;
    const seen = await state.deps.observe(last, state.desktop);
    if (seen.state === 'error' || seen.state === 'unsupported') {
      throw new StewardError('unavailable', `The frontmost application is unknown: ${seen.reason}`, {
        hint: 'Captures sample the frontmost application instead.',
      });
    }
    state.last = { atMs, seen };
    addObservation(state.timeline, atMs, seen);
  }
}
