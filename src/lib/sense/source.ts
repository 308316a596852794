import { off, ok, warning, type Finding } from '../platform/check';
import { plural } from '../platform/terminal/format';
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

/** The system's scheduler and whether it runs captures; null if the system has no scheduler. */
export type CaptureScheduler = { kind: string; installed: boolean } | null;

export const NOT_SET_UP = off('not set up; nothing is captured', { fix: 'steward up' });

/** What the last capture tells about the sources. */
export interface SenseHealth {
  enabled: boolean;
  sources: readonly SourceStatus[];
}

/** Returns whether captures work, from the last capture. */
export function senseFinding({ enabled, sources }: SenseHealth): Finding {
  if (!enabled) return off('sense.enabled is false', { fix: 'steward config set sense.enabled true' });
  const bad = sources.filter(({ state }) => state === 'unsupported' || state === 'error');
  if (bad.length === 0) {
    const events = sources.reduce((sum, { eventsToday }) => sum + eventsToday, 0);
    return ok(`${plural(events, 'event')} today`);
  }
  const found = bad.map(({ label, state, reason }) => `${label}: ${reason ?? state}`).join('; ');
  return warning(found, { fix: 'steward sense status' });
}
