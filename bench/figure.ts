import type { Program } from './measure';

/** One figure of `npm run bench`: a program beside its yardstick, and how much dearer it may be. */
export interface Figure {
  name: string;
  /** What both see: a prepared home folder, for example. Removed by `remove` afterwards. */
  prepare: () => Prepared;
  /** Timed pairs; 20 unless told, never fewer. */
  rounds?: number;
  limit: Limit;
}

export interface Prepared {
  program: Program;
  yardstick: Program;
  /** What the yardstick is, for the printed line. */
  against: string;
  remove?: () => void;
}

/** A ratio of the medians of time, milliseconds between them or of the program, or the median of its peak memory. */
export type Limit = { ratio: number } | { moreMs: number } | { ms: number } | { mib: number };
