import { StewardError, toStewardError } from '../errors';
import { type Clock, toIso } from '../platform/time/clock';
import type { BuildDeps } from '../sense/insight';
import { type InsightReadDeps, lastTryMs } from '../sense/insight-reads';
import type { ReadDeps } from '../sense/read';
import type { WorkDeps } from '../work/deps';
import { refresh } from '../work/poll';
import { refreshReviews } from '../work/reviews';
import type { DaemonLog } from './log';
import type { Opened } from './route';

/** A periodic task run by the daemon. */
export interface DaemonJob {
  id: string;
  /** The module whose status shows this job's failures. */
  module?: string;
  /** Returns the interval. Called before each wait, so that the job follows configuration changes. */
  everySec: () => number | Promise<number>;
  /**
   * Runs the job. Returns why there was nothing to do, or undefined. Errors are logged, and the job runs
   * again at its next interval.
   */
  run: () => Promise<string | undefined>;
}

export interface JobsDeps {
  clock: Clock;
  log: Pick<DaemonLog, 'write'>;
}

/** How often a waiting job checks whether its interval has been shortened. */
const RECHECK_MS = 30_000;
const FALLBACK_SEC = 60;

interface Running extends JobsDeps {
  job: DaemonJob;
  everySec: number;
  startedAt: number;
  last?: { at: string; ok: boolean; reason: string | undefined };
  current?: Promise<void> | undefined;
  timer?: NodeJS.Timeout;
  isStopped: boolean;
}

/**
 * Runs each job immediately and then repeatedly. Intervals are measured from start to start. Runs of the same
 * job never overlap.
 */
export function startJobs(deps: JobsDeps, jobs: readonly DaemonJob[]) {
  const all = jobs.map((job): Running => {
    return { ...deps, job, everySec: FALLBACK_SEC, startedAt: deps.clock.monotonic(), isStopped: false };
  });
  all.forEach(start);
  return {
    status: () => all.map(statusOf),
    /** Returns why the last run of a module's job failed, or undefined if it succeeded. */
    failureOf: (module: string) =>
      all.find(({ job, last }) => job.module === module && last?.ok === false)?.last?.reason,
    /** Returns whether all jobs except the one with the given id are idle. */
    isIdle: (except: string) => all.every(({ job, current }) => job.id === except || current === undefined),
    /** Stops scheduling jobs and waits for running jobs to finish. */
    stop: async () => {
      for (const running of all) {
        running.isStopped = true;
        clearTimeout(running.timer);
      }
      await Promise.all(all.map(({ current }) => current));
    },
  };
}

export type RunningJobs = ReturnType<typeof startJobs>;

function start(running: Running): void {
  running.current = runOnce(running).finally(() => {
    running.current = undefined;
    schedule(running);
  });
}

async function runOnce(running: Running): Promise<void> {
  const { clock, log, job } = running;
  const at = toIso(clock.now());
  running.startedAt = clock.monotonic();
  try {
    running.last = { at, ok: true, reason: await job.run() };
  } catch (error) {
    const { kind, message, stack } = toStewardError(error);
    running.last = { at, ok: false, reason: message };
    log.write('error', 'job-failed', { job: job.id, kind, message, ...(kind === 'internal' && { stack }) });
  }
  running.everySec = await intervalOf(job);
}

function remainingMs({ clock, startedAt, everySec }: Running): number {
  return Math.max(0, startedAt + everySec * 1000 - clock.monotonic());
}

function schedule(running: Running): void {
  if (running.isStopped) return;
  running.timer = setTimeout(() => void startIfDue(running), Math.min(remainingMs(running), RECHECK_MS));
}

async function startIfDue(running: Running): Promise<void> {
  running.everySec = await intervalOf(running.job);
  if (running.isStopped) return;
  if (remainingMs(running) === 0) start(running);
  else schedule(running);
}

function statusOf(running: Running) {
  const { everySec, last, current, clock } = running;
  return {
    id: running.job.id,
    everySec,
    lastRun: last?.at ?? null,
    /** Null if the job hasn't run yet. */
    lastOk: last?.ok ?? null,
    ...(last?.reason === undefined ? {} : { reason: last.reason }),
    /** Null while the job is running. */
    nextRun: current === undefined ? toIso(clock.now() + remainingMs(running)) : null,
  };
}

export type DaemonJobStatus = ReturnType<typeof statusOf>;

/**
 * Returns a job's interval, or a fallback if the configuration is invalid. The job itself reports the error.
 */
async function intervalOf(job: DaemonJob): Promise<number> {
  try {
    return await job.everySec();
  } catch {
    return FALLBACK_SEC;
  }
}

export interface UpgradeDeps {
  build: string;
  installedBuild: () => string | undefined;
  /** Returns true if no request or job is in progress. */
  isIdle: () => boolean;
  end: (ending: 'outdated') => void;
  checkSec?: number;
}

export const UPGRADE_JOB = 'upgrade';
const UPGRADE_CHECK_SEC = 30;

/**
 * Ends the daemon when another build is installed and the daemon is idle. Waits until two consecutive checks
 * find the same build, because an installation replaces files one by one.
 */
export function upgradeJob({ build, installedBuild, isIdle, end, checkSec }: UpgradeDeps): DaemonJob {
  let previous: string | undefined;
  return {
    id: UPGRADE_JOB,
    everySec: () => checkSec ?? UPGRADE_CHECK_SEC,
    run: () => {
      const installed = installedBuild();
      const isOutdated = installed !== undefined && installed !== build;
      if (isOutdated && installed === previous && isIdle()) end('outdated');
      previous = isOutdated ? installed : undefined;
      const reason = `steward ${installed} is installed; this daemon (${build}) will restart when it is idle`;
      return Promise.resolve(isOutdated ? reason : undefined);
    },
  };
}

export interface CaptureJobDeps {
  clock: Clock;
  isSetUp: () => boolean;
  sense: Opened<{
    deps: ReadDeps & { config: { enabled: boolean; pollIntervalSec: number } };
    locked: <T>(work: () => Promise<T>) => Promise<T>;
    captureHere: () => Promise<{ problems: readonly string[] }>;
  }>;
  /**
   * Returns whether this process is tracking the frontmost application. If so, captures by other processes
   * don't store it.
   */
  isWatching: () => boolean;
  onProblem: (problem: string) => void;
}

/** How often tracked focus time is stored, in s. If the daemon is killed, at most this much is lost. */
const FLUSH_SEC = 120;

/** Captures at the configured interval, unless a scheduled job has just captured. */
export function captureJob({ clock, isSetUp, sense, isWatching, onProblem }: CaptureJobDeps): DaemonJob {
  return {
    id: 'capture',
    module: 'sense',
    everySec: async () => {
      const { pollIntervalSec } = (await sense()).deps.config;
      return isWatching() ? Math.min(pollIntervalSec, FLUSH_SEC) : pollIntervalSec;
    },
    async run() {
      if (!isSetUp()) return 'sense is not set up; run "steward up"';
      const { deps, locked, captureHere } = await sense();
      if (!deps.config.enabled) return 'sense.enabled is false';
      return locked(async () => {
        const { lastCaptureTs } = deps.store.readState().state;
        const ageSec = lastCaptureTs === null ? Infinity : (clock.now() - Date.parse(lastCaptureTs)) / 1000;
        if (!isWatching() && ageSec >= 0 && ageSec < deps.config.pollIntervalSec / 2)
          return 'another capture has just run';
        const { problems } = await captureHere();
        problems.forEach(onProblem);
        return undefined;
      });
    },
  };
}

export const NO_REPOSITORY = 'no work repository is set up';

/**
 * Fetches changed issues (usually one request with a 304 response) and sends captured issues queued by hooks.
 */
export function workJob<W extends { deps: WorkDeps }>(
  work: Opened<W>,
  deliver: (work: W) => Promise<{ failed: number; dead: number }>,
): DaemonJob {
  return {
    id: 'work',
    everySec: async () => (await work()).deps.config.POLL_INTERVAL_SECONDS,
    async run() {
      const opened = await work();
      if (opened.deps.workRepo().repo === undefined) return NO_REPOSITORY;
      const { ok, reason } = await refresh(opened.deps);
      const failed = unsent(await deliver(opened));
      if (failed !== undefined || !ok) return failed ?? reason;
      await refreshReviews(opened.deps);
      return undefined;
    },
  };
}

/** Says that captures were not sent; undefined if all were. */
export function unsent({ failed, dead }: { failed: number; dead: number }): string | undefined {
  return failed + dead > 0 ? `${failed} captures failed, ${dead} were abandoned` : undefined;
}

const HOUR_MS = 3_600_000;
/** How often the daemon checks whether an hourly job is due, in s. */
const DUE_CHECK_SEC = 300;

interface HourlyDeps {
  clock: Clock;
  /** Returns why the job must not run, or undefined. */
  unless: () => Promise<string | undefined>;
  lastMs: () => Promise<number>;
  /** Runs the job. Returns why there was nothing to do, or undefined. */
  run: () => Promise<string | undefined>;
}

/** Runs the job one hour after its last run, whichever process ran that. */
export function hourlyJob(id: string, module: string, { clock, unless, lastMs, run }: HourlyDeps): DaemonJob {
  return {
    id,
    module,
    everySec: () => DUE_CHECK_SEC,
    async run() {
      const why = await unless();
      if (why !== undefined) return why;
      const ageMs = clock.now() - (await lastMs());
      return ageMs >= 0 && ageMs < HOUR_MS ? 'not due: it ran within the last hour' : run();
    },
  };
}

/** Builds an insight every hour if `isOn`. */
export function insightJob(clock: Clock, isOn: Opened<boolean>, deps: Opened<BuildDeps & InsightReadDeps>) {
  return hourlyJob('insight', 'sense', {
    clock,
    unless: async () => ((await isOn()) ? undefined : 'sense.insight.hourly is false'),
    lastMs: async () => lastTryMs(await deps()),
    run: async () => {
      const { buildInsight } = await import('../sense/insight');
      const outcome = await buildInsight(await deps(), { force: false });
      if (outcome.status === 'failed')
        throw new StewardError('unavailable', `No insight was built: ${outcome.reason}.`, {
          hint: outcome.hint,
        });
      return outcome.status === 'skipped' ? outcome.reason : undefined;
    },
  });
}

export function periodicJob(id: string, module: string, sec: number, run: () => Promise<unknown>): DaemonJob {
  return { id, module, everySec: () => sec, run: () => run().then(() => undefined) };
}
