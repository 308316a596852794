import { crypto } from '../platform/crypto';

/** The token counts, and the cost in USD. The cost is 0 unless the assistant reported one. */
export const AMOUNTS = ['input', 'output', 'cacheRead', 'cacheWrite', 'cacheWrite1h', 'cost'] as const;

/** Values in the order of `AMOUNTS`. `cacheWrite` includes writes with a one-hour lifetime. */
export type Amounts = readonly [number, number, number, number, number, number];

/** The usage of one model response. Rereading a log yields the same ids. */
export interface UsageEntry {
  id: string;
  ms: number;
  session: string;
  /** The session's folder, which determines the repository. Empty if unknown. */
  cwd: string;
  model: string;
  amounts: Amounts;
  /**
   * How many sessions the entry may have been copied through: 0 for an original, 1 for an entry of a fork or
   * side conversation. It counts only if no entry with the same id and a lower depth is known.
   */
  depth?: number;
}

export interface SeenLimit {
  window: LimitWindow;
  usedPercent: number;
  /** Reset time in epoch ms; null if unknown. */
  resetsAtMs: number | null;
}

export type LimitWindow = 'fiveHour' | 'sevenDay';

export interface Sink {
  entry: (entry: UsageEntry) => void;
  limits: (atMs: number, limits: readonly SeenLimit[]) => void;
}

/** Returns an entry's id. The part before the dot is the same for all copies of a response. */
export function entryId(group: string, rest = ''): string {
  return `${digest(group)}.${rest === '' ? '' : digest(rest).slice(0, 6)}`;
}

function digest(text: string): string {
  return crypto().createHash('sha1').update(text).digest('base64url').slice(0, 14);
}

const MAX_COUNT = 1e12;

/** Returns a valid token count, or 0 for any other value. */
export function countOf(value: unknown): number {
  return typeof value === 'number' && value > 0 && value < MAX_COUNT ? Math.floor(value) : 0;
}

export function tokensOf(amounts: Amounts): number {
  return amounts[0] + amounts[1] + amounts[2] + amounts[3];
}
