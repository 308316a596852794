import type { SenseEvent, SourceId } from './event';

/** The result of one capture of a source. */
export interface Collected {
  events: SenseEvent[];
  /** Passed back at the next capture; stored together with the events. */
  cursor: unknown;
  /** `idle`: nothing to capture now. `unsupported`: cannot work here. `error`: should work here but failed. */
  state: 'ok' | 'idle' | 'unsupported' | 'error';
  /** Why, and what to do; with `ok`, what failed in part. */
  reason?: string;
}

export interface CollectInput {
  /** Wall-clock time of this capture, ms. */
  nowMs: number;
  /** First millisecond of the local day of `nowMs`. */
  dayStartMs: number;
  /** The source's last cursor; undefined the first time. It comes from a file: validate it. */
  cursor: unknown;
}

/** A source of events: a factory returns this plain object. */
export interface SenseSource {
  id: SourceId;
  label: string;
  /** One line: what it captures. */
  description: string;
  collect(input: CollectInput): Promise<Collected>;
  /** Rebuilds the cursor from the stored events after the state was lost. Without it the source starts over. */
  recover?(stored: readonly SenseEvent[]): unknown;
}

export type SourceState = Collected['state'] | 'off';

/** One row of `sense sources`. */
export interface SourceStatus {
  id: string;
  label: string;
  description: string;
  enabled: boolean;
  state: SourceState;
  /** Why, and what to do. */
  reason?: string;
  pollIntervalSec: number;
  eventsToday: number;
  /** ISO-8601 UTC; null before the first event. */
  lastEventTs: string | null;
}

/** The result of `sense status`. */
export interface SenseStatus {
  enabled: boolean;
  version: string;
  pollIntervalSec: number;
  /** The watched repositories, as absolute paths. */
  repos: string[];
  /** Days that event logs are kept; records stay. */
  retentionDays: number;
  eventsToday: number;
  /** ISO-8601 UTC. */
  lastCaptureTs: string | null;
  /** The newest day with a stored record. */
  lastRecord: string | null;
  /** Invalid lines of the event logs. */
  quarantined: number;
  /** Clock changes of more than an hour in the last seven days: `at` by the new clock, ahead is positive. */
  clockJumps: { at: string; byMs: number }[];
  sources: SourceStatus[];
  /** The system's scheduler and whether it runs the capture; null without one. */
  scheduler: { kind: string; installed: boolean } | null;
}

/** The state of sense on the status page. */
export interface SenseHealth {
  state: 'ok' | 'off' | 'needs-you';
  reason?: string;
  fix?: string;
}

export function senseHealth({ enabled, sources }: Pick<SenseStatus, 'enabled' | 'sources'>): SenseHealth {
  if (!enabled) {
    return { state: 'off', reason: 'sense.enabled is false', fix: 'steward config set sense.enabled true' };
  }
  const failed = sources.filter(({ state }) => state === 'unsupported' || state === 'error');
  if (failed.length === 0) return { state: 'ok' };
  const reason = failed.map(({ label, state, reason: why }) => `${label}: ${why ?? state}`).join('; ');
  return { state: 'needs-you', reason, fix: 'steward sense status' };
}
