/** The jobs that the system's scheduler runs for a user area (service.md: Limits; The installer has three modes). */
export type JobId = 'sense' | 'insight' | 'work' | 'daemon';

export interface Job {
  id: JobId;
  /** What it does, for a person and for the scheduler's own listings. */
  label: string;
  /** The words behind `steward` that it runs. */
  args: readonly string[];
  /**
   * `interval`: from run to run; `hourly`: once in each hour, made up for after a sleep where the scheduler can;
   * `login`: started when the person logs in, and again when it fails.
   */
  when: { kind: 'interval'; everySec: number } | { kind: 'hourly' } | { kind: 'login' };
  /** A run is ended after so long, s; null: it runs until it is stopped. */
  timeoutSec: number | null;
  /** The command that installs it, for hints. */
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
    label: 'steward: hourly content-type read',
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

/** A job with the interval that is configured for it (`sense.pollIntervalSec`); of the others nothing is configured. */
export function jobOf(id: Exclude<JobId, 'sense'>): Job;
export function jobOf(id: JobId, sense: { pollIntervalSec: number }): Job;
export function jobOf(id: JobId, sense?: { pollIntervalSec: number }): Job {
  const job = JOBS[id];
  return id === 'sense' && sense !== undefined
    ? { ...job, when: { kind: 'interval', everySec: sense.pollIntervalSec } }
    : job;
}

/** How far apart its runs are, s; null for what runs all the time. */
export function everySecOf({ when }: Pick<Job, 'when'>): number | null {
  if (when.kind === 'login') return null;
  return when.kind === 'hourly' ? HOUR_SEC : when.everySec;
}

export const SCHEDULER_KINDS = ['launchd', 'systemd', 'cron', 'task-scheduler'] as const;
export type SchedulerKind = (typeof SCHEDULER_KINDS)[number];

/** The system's scheduler, as far as steward's jobs go (decisions.md 2). */
export interface Scheduler {
  kind: SchedulerKind;
  /** Why this one, for a person: `the systemd user manager answers`. */
  why: string;
  /** False: nothing on this machine runs jobs now; an install of what does not stand there already is refused. */
  available: boolean;
  /**
   * Registers the job and loads it; what is there already as it should be stays. One that an earlier install has
   * put into another scheduler is taken out there. No scheduler that runs, or one that refuses, is `unavailable`.
   */
  install: (job: Job) => Promise<InstallResult>;
  /** Unloads and removes the job, wherever it was installed on this machine. One that is not there is no error. */
  uninstall: (job: Job) => Promise<UninstallResult>;
  /** Starts a run of the job now, where it is installed; the scheduler that did, undefined where none has it. */
  start: (job: Job) => Promise<SchedulerKind | undefined>;
  status: (job: Job) => Promise<JobStatus>;
}

export interface InstallResult {
  job: JobId;
  scheduler: SchedulerKind;
  why: string;
  /** False: it was installed and loaded already. */
  changed: boolean;
  /** The files that were written (a crontab has none). */
  files: string[];
  /** Between runs, s; null for the daemon. */
  everySec: number | null;
  /** Where the job's output goes. */
  log: string;
  /** What a person should know: nothing runs after logout, an interval that the scheduler cannot keep. */
  warnings: string[];
}

export interface UninstallResult {
  job: JobId;
  /** The schedulers that it was taken out of; none when it was not there. */
  removedFrom: SchedulerKind[];
  /** The files that were removed. */
  files: string[];
}

/** Times are ISO-8601 UTC; null: not known, or never. */
export interface JobStatus {
  job: JobId;
  scheduler: SchedulerKind;
  /** Is its entry there? */
  installed: boolean;
  /** Does the scheduler know the entry, so that it will run it? */
  loaded: boolean;
  everySec: number | null;
  /** When its last run ended; of the daemon: when it was started. */
  lastRun: string | null;
  nextRun: string | null;
  /** The exit code of the last run; null while it runs, or when none has ended. */
  lastExit: number | null;
  /** How many runs were due since the last one, or since the install. */
  missedPolls: number;
  log: string;
  /** What is wrong; left out when all is well. */
  warning?: string;
  /** No run of it does what it is for. */
  broken?: true;
  /** The command that mends it, else what to do. */
  mend?: string;
  hint?: string;
}
