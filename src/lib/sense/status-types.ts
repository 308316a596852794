/** How a source is doing: `off` by the configuration, the others as the source itself says (sense/source.ts). */
export type SourceState = 'ok' | 'idle' | 'off' | 'unsupported' | 'error';

/** One row of `sense sources` (service.md: Sense source status item; decisions.md 3). */
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
  /** The repositories that are watched, as absolute paths. */
  repos: string[];
  /** For so long raw logs are kept; records stay. */
  retentionDays: number;
  eventsToday: number;
  /** ISO-8601 UTC. */
  lastCaptureTs: string | null;
  /** The newest day that has a stored record. */
  lastRecord: string | null;
  /** Lines of the raw logs that were no events. */
  quarantined: number;
  /** How the clock was set in the last seven days, by more than an hour: `at` by the new clock, ahead is positive. */
  clockJumps: { at: string; byMs: number }[];
  sources: SourceStatus[];
  /** The system's scheduler and whether our job is in it; null where there is none. */
  scheduler: { kind: string; installed: boolean } | null;
}
