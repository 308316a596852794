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
