/** The jobs that the system's scheduler runs for a user area. */
export type JobId = 'sense' | 'insight' | 'work' | 'daemon';

export interface Job {
  id: JobId;
  /** Shown in the scheduler's own listings. */
  label: string;
  /** The arguments of `steward`. */
  args: readonly string[];
  /** `hourly` catches up after sleep if the scheduler can; `login` also restarts after a failure. */
  when: { kind: 'interval'; everySec: number } | { kind: 'hourly' } | { kind: 'login' };
  /** Kills a longer run, s; null: no limit. */
  timeoutSec: number | null;
  /** The command that installs it. */
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

/** A job with its configured interval (`sense.pollIntervalSec`). */
export function jobOf(id: Exclude<JobId, 'sense'>): Job;
export function jobOf(id: JobId, sense: { pollIntervalSec: number }): Job;
export function jobOf(id: JobId, sense?: { pollIntervalSec: number }): Job {
  const job = JOBS[id];
  return id === 'sense' && sense !== undefined
    ? { ...job, when: { kind: 'interval', everySec: sense.pollIntervalSec } }
    : job;
}

/** Seconds between runs; null for the daemon. */
export function everySecOf({ when }: Pick<Job, 'when'>): number | null {
  if (when.kind === 'login') return null;
  return when.kind === 'hourly' ? HOUR_SEC : when.everySec;
}

export const SCHEDULER_KINDS = ['launchd', 'systemd', 'cron', 'task-scheduler'] as const;
export type SchedulerKind = (typeof SCHEDULER_KINDS)[number];

/** The system's scheduler, for steward's jobs. */
export interface Scheduler {
  kind: SchedulerKind;
  /** Why it was chosen. */
  why: string;
  /** False: nothing runs jobs now; an install only updates an existing entry. */
  available: boolean;
  /** Installs and loads the job, and removes it from other schedulers. A refusal is `unavailable`. */
  install: (job: Job) => Promise<InstallResult>;
  /** Removes the job from every scheduler of this machine. */
  uninstall: (job: Job) => Promise<UninstallResult>;
  /** Starts a run now; returns the scheduler, undefined if none has the job. */
  start: (job: Job) => Promise<SchedulerKind | undefined>;
  status: (job: Job) => Promise<JobStatus>;
}

export interface InstallResult {
  job: JobId;
  scheduler: SchedulerKind;
  why: string;
  /** False: it was installed and loaded already. */
  changed: boolean;
  files: string[];
  /** Null for the daemon. */
  everySec: number | null;
  log: string;
  warnings: string[];
}

export interface UninstallResult {
  job: JobId;
  removedFrom: SchedulerKind[];
  files: string[];
}

/** Times are ISO-8601 UTC; null: unknown, or never. */
export interface JobStatus {
  job: JobId;
  scheduler: SchedulerKind;
  installed: boolean;
  loaded: boolean;
  everySec: number | null;
  /** The end of the last run; for the daemon its start. */
  lastRun: string | null;
  nextRun: string | null;
  /** Null during a run, and before the first one has ended. */
  lastExit: number | null;
  /** Runs due since the last one or the install. */
  missedPolls: number;
  log: string;
  warning?: string;
  /** No run works. */
  broken?: true;
  /** The command that fixes it. */
  mend?: string;
  hint?: string;
}
