/** The jobs that the system's scheduler runs for a user area: the daemon or, without a daemon, the tick. */
export type JobId = 'daemon' | 'tick';

/** The commands that install the jobs. */
export const INSTALLERS: Readonly<Record<JobId, string>> = {
  daemon: 'steward install daemon',
  tick: 'steward install jobs',
};

export interface Job {
  id: JobId;
  /** Shown in the scheduler's listings. */
  label: string;
  args: readonly string[];
  /** Seconds between runs. Null for the daemon, which starts at login and again after a failure. */
  everySec: number | null;
  /** The command that installs the job. */
  command: string;
}

export const DAEMON_JOB: Job = {
  id: 'daemon',
  label: 'steward: daemon',
  args: ['daemon', 'serve', '--sweep'],
  everySec: null,
  command: INSTALLERS.daemon,
};

/** Returns the tick with its configured interval (`sense.pollIntervalSec`). */
export function tickJob({ pollIntervalSec }: { pollIntervalSec: number }): Job {
  return {
    id: 'tick',
    label: 'steward: capture, deliver and sweep',
    args: ['tick'],
    everySec: pollIntervalSec,
    command: INSTALLERS.tick,
  };
}

export const JOB_IDS: readonly JobId[] = ['daemon', 'tick'];

/** Timeout of a tick, in seconds. */
export const TICK_LIMIT_SEC = 900;

export const SCHEDULER_KINDS = ['launchd', 'systemd', 'cron', 'task-scheduler'] as const;
export type SchedulerKind = (typeof SCHEDULER_KINDS)[number];

export interface JobInstalled {
  job: JobId;
  scheduler: SchedulerKind;
  why: string;
  /** Whether anything changed; false if the job was already installed and loaded. */
  changed: boolean;
  /** The jobs that this one replaced. */
  replaced: string[];
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
  /** Exit code of the last run; null for the daemon and before the first run has ended. */
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
