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

/**
 * Runs each job at once and then at its interval, counted from start to start on the monotonic clock: a clock
 * that is set, or a machine that slept, makes none run in a burst or never again. A job never runs beside itself.
 */
export function startJobs(deps: JobsDeps, jobs: readonly Job[]): RunningJobs {
  const running = jobs.map((job) => startJob(deps, job));
  return {
    status: () => running.map((job) => job.status()),
    failureOf(module) {
      const failed = running.map((job) => ({ ...job.status(), module: job.module }));
      return failed.find((job) => job.module === module && job.lastOk === false)?.reason;
    },
    isIdle: (but) => running.every((job) => job.id === but || !job.isBusy()),
    stop: async () => {
      await Promise.all(running.map((job) => job.stop()));
    },
  };
}

function startJob({ clock, log }: JobsDeps, job: Job) {
  let everySec = FALLBACK_SEC;
  let startedAt = clock.monotonic();
  let last: { at: string; ok: boolean; reason: string | undefined } | undefined;
  let current: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const once = async (): Promise<void> => {
    const at = toIso(clock.now());
    startedAt = clock.monotonic();
    try {
      last = { at, ok: true, reason: await job.run() };
    } catch (error) {
      const { kind, message, stack } = toStewardError(error);
      last = { at, ok: false, reason: message };
      log.write('error', 'job-failed', {
        job: job.id,
        kind,
        message,
        ...(kind === 'internal' ? { stack } : {}),
      });
    }
    everySec = await intervalOf(job);
  };
  const begin = (): void => {
    current = once().finally(() => {
      current = undefined;
      wait();
    });
  };
  const wait = (): void => {
    if (stopped) return;
    const leftMs = startedAt + everySec * 1000 - clock.monotonic();
    timer = setTimeout(() => void look(), Math.max(0, Math.min(leftMs, LOOK_MS)));
  };
  const look = async (): Promise<void> => {
    everySec = await intervalOf(job);
    if (stopped) return;
    if (clock.monotonic() >= startedAt + everySec * 1000) begin();
    else wait();
  };

  begin();
  return {
    id: job.id,
    module: job.module,
    status(): JobStatus {
      const leftMs = startedAt + everySec * 1000 - clock.monotonic();
      return {
        id: job.id,
        everySec,
        lastRun: last?.at ?? null,
        lastOk: last?.ok ?? null,
        ...(last?.reason === undefined ? {} : { reason: last.reason }),
        nextRun: current === undefined ? toIso(clock.now() + Math.max(0, leftMs)) : null,
      };
    },
    isBusy: () => current !== undefined,
    async stop(): Promise<void> {
      stopped = true;
      clearTimeout(timer);
      await current;
    },
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
