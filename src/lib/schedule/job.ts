/** The jobs that the system's scheduler runs for a user area. */
export type JobId = 'sense' | 'insight' | 'work' | 'daemon';

export interface Job {
  id: JobId;
  /** Shown in the scheduler's listings. */
  label: string;
  args: readonly string[];
  /**
   * If an `hourly` run is missed during sleep, the scheduler starts the run later if possible. A `login` job
   * also restarts after a failure.
   */
  when: { kind: 'interval'; everySec: number } | { kind: 'hourly' } | { kind: 'login' };
  /** Timeout of a run, in seconds; null for no timeout. */
  timeoutSec: number | null;
  command: string;
}

const HOUR_SEC = 3600;

export const JOBS: Readonly<Record<JobId, Job>> = {
  sense: {
    id: 'sense',
    label: 'steward: capture',
    args: ['sense', 'capture'],
    when: { kind: 'interval', everySec: 120 },
    timeoutSec: 300,
    command: 'steward sense install',
  },
  insight: {
    id: 'insight',
    label: 'steward: hourly insight',
    args: ['sense', 'insight', 'build'],
    when: { kind: 'hourly' },
    timeoutSec: 900,
    command: 'steward sense install --insight',
  },
  work: {
    id: 'work',
    label: 'steward: work sweep',
    args: ['work', 'sweep'],
    when: { kind: 'interval', everySec: HOUR_SEC },
    timeoutSec: 900,
    command: 'steward work install',
  },
  daemon: {
    id: 'daemon',
    label: 'steward: daemon',
    args: ['daemon', 'serve'],
    when: { kind: 'login' },
    timeoutSec: null,
    command: 'steward daemon install',
  },
};

export const JOB_IDS = Object.keys(JOBS) as JobId[];

/** Returns a job with its configured interval (`sense.pollIntervalSec`). */
export function jobOf(id: Exclude<JobId, 'sense'>): Job;
export function jobOf(id: JobId, sense: { pollIntervalSec: number }): Job;
export function jobOf(id: JobId, sense?: { pollIntervalSec: number }): Job {
  const job = JOBS[id];
  return id === 'sense' && sense !== undefined
    ? { ...job, when: { kind: 'interval', everySec: sense.pollIntervalSec } }
    : job;
}

/** Returns the seconds between runs, or null for the daemon. */
export function everySecOf({ when }: Pick<Job, 'when'>): number | null {
  if (when.kind === 'login') return null;
  return when.kind === 'hourly' ? HOUR_SEC : when.everySec;
}

export const SCHEDULER_KINDS = ['launchd', 'systemd', 'cron', 'task-scheduler'] as const;
export type SchedulerKind = (typeof SCHEDULER_KINDS)[number];

/** The operations that steward needs from the system's scheduler. */
export interface Scheduler {
  kind: SchedulerKind;
  why: string;
  /** Whether this scheduler can run jobs. If not, an install only updates an existing entry. */
  available: boolean;
  /**
   * Installs and loads the job, and removes it from other schedulers. Throws `unavailable` if the scheduler
   * rejects it.
   */
  install: (job: Job) => Promise<JobInstalled>;
  /** Removes the job from every scheduler on this machine. */
  uninstall: (job: Job) => Promise<JobUninstalled>;
  /** Starts a run now; returns the scheduler used, or undefined if no scheduler has the job. */
  start: (job: Job) => Promise<SchedulerKind | undefined>;
  status: (job: Job) => Promise<JobStatus>;
}

export interface JobInstalled {
  job: JobId;
  scheduler: SchedulerKind;
  why: string;
  /** Whether anything changed; false if the job was already installed and loaded. */
  changed: boolean;
  files: string[];
  everySec: number | null;
  log: string;
  warnings: string[];
}

export interface JobUninstalled {
  job: JobId;
  removedFrom: SchedulerKind[];
  files: string[];
}

/** A job's status. Times are ISO 8601 in UTC; null means unknown or never. */
export interface JobStatus {
  job: JobId;
  scheduler: SchedulerKind;
  installed: boolean;
  loaded: boolean;
  everySec: number | null;
  /** When the last run ended or, for the daemon, when the daemon started. */
  lastRun: string | null;
  nextRun: string | null;
  /** Exit code of the last run; null during a run and before the first run has ended. */
  lastExit: number | null;
  /** Number of runs missed since the last run or the install. */
  missedPolls: number;
  log: string;
  warning?: string;
  /** Set if the job doesn't run at all or fails on every run. */
  broken?: true;
  fix?: string;
  hint?: string;
}
