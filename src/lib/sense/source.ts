import type { SenseEvent, SourceId } from './event';

/** What a source saw in one capture. A source never throws for what it can say as a state. */
export interface Collected {
  events: SenseEvent[];
  /** What the source gets back at its next capture; stored together with the events. */
  cursor: unknown;
  /** `ok`: working. `idle`: nothing to see now. `unsupported`: cannot work here. `error`: should, and does not. */
  state: 'ok' | 'idle' | 'unsupported' | 'error';
  /** Why, and what to do; for every state but `ok` (and there, of parts that failed). */
  reason?: string;
}

export interface CollectInput {
  /** Wall-clock time of this capture, ms. */
  nowMs: number;
  /** First millisecond of the local day of `nowMs`. */
  dayStartMs: number;
  /** The cursor this source returned last time; undefined the first time. Never trusted: validate it. */
  cursor: unknown;
}

/** The adapter contract: a factory gives a plain object. */
export interface SenseSource {
  id: SourceId;
  label: string;
  /** One line: what it captures. */
  description: string;
  collect(input: CollectInput): Promise<Collected>;
  /** The cursor rebuilt from the stored events after the state was lost. Without it: as the first time. */
  recover?(stored: readonly SenseEvent[]): unknown;
}

/** `off` by the configuration, the others as the source itself says. */
export type SourceState = Collected['state'] | 'off';

/** One row of `sense sources`. */
export interface SourceStatus {
  id: string;
  label: string;
  /** One line: what it captures. */
  description: string;
  enabled: boolean;
  state: SourceState;
  /** Why, and what to do. */
  reason?: string;
  pollIntervalSec: number;
  eventsToday: number;
  /** ISO-8601 UTC; null when it never saw anything. */
  lastEventTs: string | null;
}

/** `sense status`: the configuration, and what was seen. */
export interface SenseStatus {
  /** False: the kill switch is set, and nothing is captured. */
  enabled: boolean;
  version: string;
  pollIntervalSec: number;
  /** The watched repositories, as absolute paths. */
  repos: string[];
  /** Days that raw logs are kept; records stay. */
  retentionDays: number;
  eventsToday: number;
  /** ISO-8601 UTC. */
  lastCaptureTs: string | null;
  /** The newest day that has a stored record. */
  lastRecord: string | null;
  /** Invalid lines of the raw logs. */
  quarantined: number;
  /** How the clock was set in the last seven days, by more than an hour: `at` by the new clock, ahead is positive. */
  clockJumps: { at: string; byMs: number }[];
  sources: SourceStatus[];
  /** The system's scheduler and whether our job is in it; null where there is none. */
  scheduler: { kind: string; installed: boolean } | null;
}

/** How sense is doing, in the words of the status page. */
export interface SenseHealth {
  state: 'ok' | 'off' | 'needs-you';
  reason?: string;
  fix?: string;
}

export function senseHealth({ enabled, sources }: Pick<SenseStatus, 'enabled' | 'sources'>): SenseHealth {
  if (!enabled) {
    return { state: 'off', reason: 'sense.enabled is false', fix: 'steward config set sense.enabled true' };
  }
  const unwell = sources.filter(({ state }) => state === 'unsupported' || state === 'error');
  if (unwell.length === 0) return { state: 'ok' };
  const reason = unwell.map(({ label, state, reason: why }) => `${label}: ${why ?? state}`).join('; ');
  return { state: 'needs-you', reason, fix: 'steward sense status' };
}
