import { StewardError, toStewardError } from '../errors';
import { withLock } from '../platform/files/lock';
import type { Clock } from '../platform/time/clock';
import { wait } from '../platform/time/wait';
import { addObservation, intervalsAfter, type Interval, type Timeline } from './focus-timeline';
import { FRONT_APP_ADAPTERS } from './front-app';
import type { Desktop, FrontAppAdapter } from './front-app/adapter';
import type { Last, Observation } from './observe';

export interface FocusWatchDeps {
  clock: Clock;
  machineId: string;
  desktop: Desktop;
  /** The lock of the one process that watches; captures of other processes leave the focus to it. */
  lease: string;
  /** Returns whether sense is on and captures applications. */
  isWanted: () => Promise<boolean>;
  observe: (last: Last | undefined) => Promise<Observation>;
  /** Called when the watch ends by itself; captures then sample again. */
  onProblem: (problem: string) => void;
  adapters?: readonly FrontAppAdapter[];
  tickMs?: number;
}

/** What was watched since the last capture. */
export interface Watched {
  intervals: Interval[];
  /** Undefined if the watch ended meanwhile. */
  now: Observation | undefined;
}

export interface FocusWatch {
  isLive: () => boolean;
  /** Whether anything was ever watched. */
  hasSeen: () => boolean;
  /** Observes, and returns the time after `storedMs`; undefined if nothing is watched: then captures sample. */
  since: (storedMs: number) => Promise<Watched | undefined>;
  close: () => Promise<void>;
}

/** How often the idle time and the pane are read, since changes of those are not reported. */
const TICK_MS = 15_000;
const RETRY_MS = 60_000;

interface State {
  deps: FocusWatchDeps;
  timeline: Timeline;
  isLive: boolean;
  last: Last | undefined;
  /** When the next observation is due; undefined if none is. */
  dueMs: number | undefined;
  /** The desktop has reported a change since the last observation. */
  isChanged: boolean;
  observing: Promise<void> | undefined;
  closing: AbortController;
  /** Ends the watch. */
  stop: (error?: unknown) => void;
}

/** Watches the focus in the background, while sense is on and the desktop reports changes. */
export function watchFocus(deps: FocusWatchDeps): FocusWatch {
  const state: State = {
    deps,
    timeline: { done: [] },
    isLive: false,
    last: undefined,
    dueMs: undefined,
    isChanged: false,
    observing: undefined,
    closing: new AbortController(),
    stop: () => undefined,
  };
  const running = keepWatching(state);
  return {
    isLive: () => state.isLive,
    hasSeen: () => state.timeline.open !== undefined,
    async since(storedMs) {
      if (state.isLive) await observeNow(state);
      const intervals = intervalsAfter(state.timeline, storedMs);
      // What a watch saw before it ended still counts.
      if (!state.isLive && intervals.length === 0) return undefined;
      return { intervals, now: state.isLive ? state.last?.seen : undefined };
    },
    async close() {
      state.closing.abort();
      await running;
    },
  };
}

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
    await wait(RETRY_MS, closing.signal).catch(() => undefined);
  }
}

/** Watches until the desktop ends the connection or sense is switched off. Adapters that report no changes are skipped. */
async function watchOnce(state: State): Promise<void> {
  const { desktop, lease, clock, machineId, adapters = FRONT_APP_ADAPTERS } = state.deps;
  for (const adapter of adapters) {
    if (adapter.watch === undefined || !adapter.detect(desktop)) continue;
    try {
      await withLock(lease, { clock, machineId, waitMs: 0 }, () => hold(state, adapter));
      return;
    } catch (error) {
      if (toStewardError(error).kind !== 'not_found') throw error;
    }
  }
}

async function hold(state: State, adapter: FrontAppAdapter): Promise<void> {
  const { deps, closing } = state;
  const ending = new AbortController();
  let failure: unknown;
  state.stop = (error) => {
    failure ??= error;
    ending.abort();
  };
  const stop = (): void => state.stop();
  const onChange = (): void => {
    state.isLive = true;
    state.isChanged = true;
    void observeNow(state);
  };
  const tick = async (): Promise<void> => {
    if (!(await deps.isWanted())) stop();
    else if (state.isLive) await observeNow(state);
  };
  closing.signal.addEventListener('abort', stop);
  const timer = setInterval(() => void tick().catch(state.stop), deps.tickMs ?? TICK_MS);
  try {
    await adapter.watch?.(deps.desktop, onChange, ending.signal);
    await state.observing;
    if (failure !== undefined) throw failure as Error;
  } finally {
    clearInterval(timer);
    closing.signal.removeEventListener('abort', stop);
    state.isLive = false;
  }
}

/** Observes, and again if the desktop reports a change meanwhile. A failure ends the watch. */
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
    const seen = await state.deps.observe(last);
    if (seen.state === 'error' || seen.state === 'unsupported') {
      throw new StewardError('unavailable', `The application in front is unknown: ${seen.reason}`, {
        hint: 'Captures sample it meanwhile.',
      });
    }
    state.last = { atMs, seen };
    addObservation(state.timeline, atMs, seen);
  }
}
