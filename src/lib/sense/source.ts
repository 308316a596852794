import type { SenseEvent, SourceId } from '../time/event';

/** The result of capturing one source. */
export interface Collected {
  events: SenseEvent[];
  /**
   * The position up to which the source has been read. It is stored with the events and passed to the next
   * capture.
   */
  cursor: unknown;
  /**
   * `idle`: nothing to capture now. `unsupported`: not available on this system. `error`: failed
   * unexpectedly.
   */
  state: 'ok' | 'idle' | 'unsupported' | 'error';
  /** The reason for the state, and what to do. In the `ok` state, this may describe a partial failure. */
  reason?: string;
}

export interface CollectInput {
  nowMs: number;
  /** Start of the current local day. */
  dayStartMs: number;
  /**
   * The last cursor, or undefined on the first capture. Sources must validate the cursor, because it is read
   * from a file.
   */
  cursor: unknown;
}

/** A source of events. */
export interface SenseSource {
  id: SourceId;
  label: string;
  /** A one-line description of what the source captures. */
  description: string;
  collect(input: CollectInput): Promise<Collected>;
  /** Rebuilds a lost cursor from the stored events. A source without this function starts over. */
  recover?(stored: readonly SenseEvent[]): unknown;
}

export type SourceState = Collected['state'] | 'off';

/** A row in the output of `sense sources`. */
export interface SourceStatus {
  id: string;
  label: string;
  description: string;
  enabled: boolean;
  state: SourceState;
  reason?: string;
  pollIntervalSec: number;
  eventsToday: number;
  /** Time of the last event in ISO 8601 format (UTC), or null if there are no events. */
  lastEventTs: string | null;
}

/** The output of `sense status`. */
export interface SenseStatus {
  enabled: boolean;
  version: string;
  pollIntervalSec: number;
  repos: string[];
  /** Number of days after which event logs are deleted. Records are never deleted. */
  retentionDays: number;
  eventsToday: number;
  /** Time of the last capture, in ISO 8601 format (UTC). */
  lastCaptureTs: string | null;
  /** The newest day with a record. */
  lastRecord: string | null;
  /** Number of invalid lines in the event logs. */
  quarantined: number;
  /** Recent clock changes of more than an hour. `byMs` is positive if the clock was set ahead. */
  clockJumps: { at: string; byMs: number }[];
  sources: SourceStatus[];
  /** The system's scheduler and whether it runs captures; null if the system has no scheduler. */
  scheduler: { kind: string; installed: boolean } | null;
}

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
