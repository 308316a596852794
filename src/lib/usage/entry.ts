import { createHash } from 'node:crypto';

/** Token counts. `cost` is in USD as reported by the assistant, or 0. */
export const AMOUNTS = ['input', 'output', 'cacheRead', 'cacheWrite', 'cacheWrite1h', 'cost'] as const;

/** In `AMOUNTS` order. `cacheWrite` includes writes with a one-hour lifetime. */
export type Amounts = readonly [number, number, number, number, number, number];

/** The usage of one model response. Its id stays the same each time the log is read. */
export interface Entry {
  id: string;
  ms: number;
  session: string;
  /** The session's folder, which determines the repository; empty if unknown. */
  cwd: string;
  model: string;
  amounts: Amounts;
  /** Whether the entry is a copy in a side conversation. A copy is dropped if the original is known. */
  isCopy?: boolean;
  /** The id of the entry that this one repeats. Ignored if there is no such entry. */
  repeats?: string;
}

/** A usage limit reported by an assistant. */
export interface SeenLimit {
  window: LimitWindow;
  usedPercent: number;
  /** Reset time in epoch ms; null if unknown. */
  resetsAtMs: number | null;
}

export type LimitWindow = 'fiveHour' | 'sevenDay';

/** Receives the entries and limits that a reader finds. */
export interface Sink {
  entry: (entry: Entry) => void;
  limits: (atMs: number, limits: readonly SeenLimit[]) => void;
}

/** Returns an 84-bit id. The part before the dot groups the copies of a response. */
export function entryId(group: string, rest = ''): string {
  return `${digest(group)}.${rest === '' ? '' : digest(rest).slice(0, 6)}`;
}

/** Splits an id into its group and the remaining part. */
export function splitId(id: string): [group: string, rest: string] {
  const at = id.indexOf('.');
  return [id.slice(0, at), id.slice(at + 1)];
}

function digest(text: string): string {
  return createHash('sha1').update(text).digest('base64url').slice(0, 14);
}

const MAX_COUNT = 1e12;

/** Returns a token count, or 0 for an invalid value. */
export function countOf(value: unknown): number {
  return typeof value === 'number' && value > 0 && value < MAX_COUNT ? Math.floor(value) : 0;
}

export function tokensOf(amounts: Amounts): number {
  return amounts[0] + amounts[1] + amounts[2] + amounts[3];
}
