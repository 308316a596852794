import type { Program } from './measure';

/** One figure of `npm run bench`: compares a program with its baseline. */
export interface Figure {
  name: string;
  /** Prepares what both programs need, such as a home folder. */
  prepare: () => Prepared;
  /** Timed pairs; at least 20, the default. */
  rounds?: number;
  limit: Limit;
}

export interface Prepared {
  program: Program;
  yardstick: Program;
  /** Describes the baseline in the printed line. */
  against: string;
  remove?: () => void;
}

/** Limits the ratio or difference of the median times, the program's own time, or its peak memory. */
export type Limit = { ratio: number } | { moreMs: number } | { ms: number } | { mib: number };
