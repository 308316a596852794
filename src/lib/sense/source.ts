import type { SenseEvent, SourceId } from './event';

/** What a source captured. */
export interface Collected {
  events: SenseEvent[];
  /** The source's position. Stored with the events, and passed to the next capture. */
  cursor: unknown;
  /**
   * `idle`: there is nothing to capture now. `unsupported`: the source can't work here. `error`: the source
   * should work here but failed.
   */
  state: 'ok' | 'idle' | 'unsupported' | 'error';
  /** Why the source is in this state, and what to do. If `ok`, may describe a partial failure. */
  reason?: string;
}

export interface CollectInput {
  /** Time of this capture. */
  nowMs: number;
  /** Start of the local day of `nowMs`. */
  dayStartMs: number;
  /**
   * The source's last cursor; undefined on the first capture. Validate the cursor, because it comes from a
   * file.
   */
  cursor: unknown;
}

/** A source of events, created as a plain object by a factory. */
export interface SenseSource {
  id: SourceId;
  label: string;
  /** What the source captures, in one line. */
  description: string;
  collect(input: CollectInput): Promise<Collected>;
  /** Rebuilds the cursor from the stored events if the state was lost. If absent, the source starts over. */
  recover?(stored: readonly SenseEvent[]): unknown;
}

export type SourceState = Collected['state'] | 'off';

/** A row of `sense sources`. */
export interface SourceStatus {
  id: string;
  label: string;
  description: string;
  enabled: boolean;
  state: SourceState;
  /** Why the source is in this state, and what to do. */
  reason?: string;
  pollIntervalSec: number;
  eventsToday: number;
  /** Time of the last event, in ISO 8601, UTC; null before the first event. */
  lastEventTs: string | null;
}

/** The output of `sense status`. */
export interface SenseStatus {
  enabled: boolean;
  version: string;
  pollIntervalSec: number;
  /** Absolute paths of the watched repositories. */
  repos: string[];
  /** After how many days event logs are deleted. Records are never deleted. */
  retentionDays: number;
  eventsToday: number;
  /** Time of the last capture, in ISO 8601, UTC. */
  lastCaptureTs: string | null;
  /** The newest day with a stored record. */
  lastRecord: string | null;
  /** Number of invalid lines in the event logs. */
  quarantined: number;
  /**
   * Clock changes of more than an hour in the last seven days. `at` is the time on the new clock; `byMs` is
   * positive if the clock was set ahead.
   */
  clockJumps: { at: string; byMs: number }[];
  sources: SourceStatus[];
  /** The system's scheduler, and whether it runs the captures; null if the system has no scheduler. */
  scheduler: { kind: string; installed: boolean } | null;
}

/** The health of sense, as shown on the status page. */
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
