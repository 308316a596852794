import type { WorkDeps } from '../work/deps';
import { refresh } from '../work/poll';
import type { ReadDeps } from '../sense/read';
import type { Clock } from '../platform/time/clock';
import type { Job } from './jobs';

type Opened<D> = () => D | Promise<D>;

export interface CaptureJobDeps {
  clock: Clock;
  /** Nothing runs by itself before a person has set it up, nor after the user area was removed. */
  isSetUp: () => boolean;
  sense: Opened<{
    deps: ReadDeps & { config: { enabled: boolean; pollIntervalSec: number } };
    locked: <T>(work: () => Promise<T>) => Promise<T>;
    captureHere: () => Promise<{ problems: readonly string[] }>;
  }>;
  onProblem: (problem: string) => void;
}

/**
 * The capture of the system's scheduler, for machines without one. It runs under the same lock, and leaves the
 * interval to whoever captured last: beside a scheduler it finds nothing to do.
 */
export function captureJob({ clock, isSetUp, sense, onProblem }: CaptureJobDeps): Job {
  return {
    id: 'capture',
    module: 'sense',
    everySec: async () => (await sense()).deps.config.pollIntervalSec,
    async run() {
      if (!isSetUp()) return 'sense is not set up; run "steward up"';
      const { deps, locked, captureHere } = await sense();
      if (!deps.config.enabled) return 'sense.enabled is false';
      return locked(async () => {
        const { lastCaptureTs } = deps.store.readState().state;
        const ageSec = lastCaptureTs === null ? Infinity : (clock.now() - Date.parse(lastCaptureTs)) / 1000;
        if (ageSec >= 0 && ageSec < deps.config.pollIntervalSec / 2) return 'another capture ran just before';
        const { problems } = await captureHere();
        problems.forEach(onProblem);
        return undefined;
      });
    },
  };
}

const NO_REPOSITORY = 'no work repository is set up';

/**
 * Asks for what has changed, one request that is answered 304 as a rule, and sends what the hooks have captured and
 * could not be sent at once. It changes nothing but by those captures.
 */
export function workJob<W extends { deps: WorkDeps }>(
  work: Opened<W>,
  deliver: (work: W) => Promise<{ failed: number; dead: number }>,
): Job {
  return {
    id: 'work',
    everySec: async () => (await work()).deps.config.POLL_INTERVAL_SECONDS,
    async run() {
      const opened = await work();
      if (opened.deps.workRepo().repo === undefined) return NO_REPOSITORY;
      const { ok, reason } = await refresh(opened.deps);
      const { failed, dead } = await deliver(opened);
      if (failed + dead > 0) return `${failed} captures failed, ${dead} were given up`;
      return ok ? undefined : reason;
    },
  };
}

const SWEEP_SEC = 3600;

export interface SweepJobDeps {
  clock: Clock;
  hasRepository: () => Promise<boolean>;
  lastSweepMs: () => Promise<number>;
  /** Sweeps; returns why it was skipped, if so. */
  sweep: () => Promise<string | undefined>;
}

/** The sweep of the system's scheduler, for machines without one; beside one it finds that another has just run. */
export function sweepJob({ clock, hasRepository, lastSweepMs, sweep }: SweepJobDeps): Job {
  return {
    id: 'sweep',
    module: 'work',
    everySec: () => SWEEP_SEC,
    async run() {
      if (!(await hasRepository())) return NO_REPOSITORY;
      const age = clock.now() - (await lastSweepMs());
      if (age >= 0 && age < (SWEEP_SEC / 2) * 1000) return 'another sweep ran just before';
      return sweep();
    },
  };
}

/** How soon a reminder is told of after its time, and how often agents are looked at, seconds. */
const REMINDERS_SEC = 15;
const SILENCE_LOOK_SEC = 5;

/** Tells of the reminders whose time has come; after a night's sleep of those of the night. */
export function remindersJob(tell: () => Promise<unknown>): Job {
  return every('reminders', 'work', REMINDERS_SEC, tell);
}

/** Alerts of agents that made no tool call for 90 seconds. */
export function silenceJob(check: () => Promise<unknown>): Job {
  return every('agents', 'notify', SILENCE_LOOK_SEC, check);
}

function every(id: string, module: string, sec: number, work: () => Promise<unknown>): Job {
  return { id, module, everySec: () => sec, run: () => work().then(() => undefined) };
}
