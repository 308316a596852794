/**
 * - ok: it does what it is there for
 * - muted: works, and the person wants it to be silent
 * - off: not set up, or switched off; that may be meant
 * - needs-you: it wants something of the person
 * - error: it cannot be told
 */
export type PartState = 'ok' | 'muted' | 'off' | 'needs-you' | 'error';

/** A row of `steward status`. */
export interface Part {
  id: string;
  state: PartState;
  /** What it is like now, a few short facts. */
  summary: string;
  /** The command that comes next; null where all is well. */
  next: string | null;
}

export interface Overview {
  userArea: string;
  version: string;
  /** False: nothing of steward is on this machine yet. */
  setUp: boolean;
  parts: Part[];
}
