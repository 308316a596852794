import { toStewardError } from '../errors';
import { type Clock, toIso } from '../platform/time/clock';
import type { DaemonLog } from './log';

/** Something that the daemon does over and over. A new one is one row in the table of jobs. */
export interface Job {
  id: string;
  /** The module that is not well while this job fails. */
  module?: string;
  /** Asked before each wait, so that a changed configuration counts at once. */
  everySec: () => number | Promise<number>;
  /** Returns why there was nothing to do, or nothing. What it throws is logged, and it is tried next time. */
  run: () => Promise<string | undefined>;
}

/** How a job is doing. Times are ISO-8601 UTC. */
export interface JobStatus {
  id: string;
  everySec: number;
  lastRun: string | null;
  /** Null: it has not run yet. */
  lastOk: boolean | null;
  /** Why it failed, or why there was nothing to do. */
  reason?: string;
  /** Null while it runs. */
  nextRun: string | null;
}

export interface JobsDeps {
  clock: Clock;
  log: Pick<DaemonLog, 'write'>;
}

export interface RunningJobs {
  status: () => JobStatus[];
  /** Why the last run of a module's job failed; undefined when none did. */
  failureOf: (module: string) => string | undefined;
  /** Is none but this one at work? */
  isIdle: (but: string) => boolean;
  /** Begins no more, and resolves when those at work have ended. */
  stop: () => Promise<void>;
}

/** At least so often a waiting job looks whether its interval has become shorter, ms. */
const LOOK_MS = 30_000;
/** The interval of a job whose own cannot be told, because the configuration is broken. */
const FALLBACK_SEC = 60;

interface JobState {
  everySec: number;
  /** Monotonic, ms. */
  startedAt: number;
  last?: { at: string; ok: boolean; reason: string | undefined };
  current?: Promise<void> | undefined;
  timer?: NodeJS.Timeout;
  isStopped: boolean;
}

/** A job that runs, and how it is doing. */
interface Running {
  deps: JobsDeps;
  job: Job;
  state: JobState;
}

/**
 * Runs each job at once and then at its interval, counted from start to start on the monotonic clock: a clock
 * that is set, or a machine that slept, makes none run in a burst or never again. A job never runs beside itself.
 */
export function startJobs(deps: JobsDeps, jobs: readonly Job[]): RunningJobs {
  const running = jobs.map((job): Running => {
    const state = { everySec: FALLBACK_SEC, startedAt: deps.clock.monotonic(), isStopped: false };
    return { deps, job, state };
  });
  running.forEach(begin);
  return {
    status: () => running.map(statusOf),
    failureOf: (module) =>
      running.find(({ job, state }) => job.module === module && state.last?.ok === false)?.state.last?.reason,
    isIdle: (but) => running.every(({ job, state }) => job.id === but || state.current === undefined),
    stop: async () => {
      for (const { state } of running) {
        state.isStopped = true;
        clearTimeout(state.timer);
      }
      await Promise.all(running.map(({ state }) => state.current));
    },
  };
}

function begin(at: Running): void {
  at.state.current = once(at).finally(() => {
    at.state.current = undefined;
    wait(at);
  });
}

async function once({ deps: { clock, log }, job, state }: Running): Promise<void> {
  const at = toIso(clock.now());
  state.startedAt = clock.monotonic();
  try {
    state.last = { at, ok: true, reason: await job.run() };
  } catch (error) {
    const { kind, message, stack } = toStewardError(error);
    state.last = { at, ok: false, reason: message };
    const more = kind === 'internal' ? { stack } : {};
    log.write('error', 'job-failed', { job: job.id, kind, message, ...more });
  }
  state.everySec = await intervalOf(job);
}

function leftMs({ deps, state }: Running): number {
  return Math.max(0, state.startedAt + state.everySec * 1000 - deps.clock.monotonic());
}

function wait(at: Running): void {
  if (at.state.isStopped) return;
  at.state.timer = setTimeout(() => void look(at), Math.min(leftMs(at), LOOK_MS));
}

async function look(at: Running): Promise<void> {
  at.state.everySec = await intervalOf(at.job);
  if (at.state.isStopped) return;
  if (leftMs(at) === 0) begin(at);
  else wait(at);
}

function statusOf(at: Running): JobStatus {
  const { everySec, last, current } = at.state;
  return {
    id: at.job.id,
    everySec,
    lastRun: last?.at ?? null,
    lastOk: last?.ok ?? null,
    ...(last?.reason === undefined ? {} : { reason: last.reason }),
    nextRun: current === undefined ? toIso(at.deps.clock.now() + leftMs(at)) : null,
  };
}

/** What is wrong with the configuration, the job itself has said already when it ran. */
async function intervalOf(job: Job): Promise<number> {
  try {
    return await job.everySec();
  } catch {
    return FALLBACK_SEC;
  }
}

export interface UpgradeDeps {
  /** Of this process. */
  version: string;
  installedVersion: () => string | undefined;
  /** Is nothing being answered or done? */
  isIdle: () => boolean;
  end: (ending: 'outdated') => void;
  /** How often to look. */
  lookSec?: number;
}

/** The id of the job. */
export const UPGRADE_JOB = 'upgrade';
const LOOK_SEC = 30;

/**
 * Ends a daemon of another version than the installed one, to be started anew. It has to see the same other
 * version twice in a row, since an installation replaces its files one by one, and to have nothing to do.
 */
export function upgradeJob({ version, installedVersion, isIdle, end, lookSec = LOOK_SEC }: UpgradeDeps): Job {
  let seen: string | undefined;
  return {
    id: UPGRADE_JOB,
    everySec: () => lookSec,
    run: () => {
      const installed = installedVersion();
      const isOther = installed !== undefined && installed !== version;
      const isSettled = isOther && installed === seen;
      seen = isOther ? installed : undefined;
      if (!isOther) return Promise.resolve(undefined);
      if (isSettled && isIdle()) end('outdated');
      return Promise.resolve(
        `version ${installed} is installed; this one, ${version}, restarts when it is idle`,
      );
    },
  };
}
