import type { SenseEvent, SourceId } from './event';

/** What a source saw in one capture. A source never throws for what it can say as a state. */
export interface Collected {
  events: SenseEvent[];
  /** What the source wants to be given at its next capture; stored together with the events. */
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
  /** What this source returned as its cursor last time; undefined the first time. Never trusted: validate it. */
  cursor: unknown;
}

/** The adapter contract: a factory gives a plain object. */
export interface SenseSource {
  id: SourceId;
  label: string;
  /** One line: what it captures. */
  description: string;
  collect(input: CollectInput): Promise<Collected>;
  /** The cursor that the stored events tell of, when the state was lost. Without it: as the first time. */
  recover?(stored: readonly SenseEvent[]): unknown;
}
