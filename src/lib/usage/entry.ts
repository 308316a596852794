import { createHash } from 'node:crypto';

/** Token counts; `cost` is in USD as the assistant reports it, 0 if it reports none. */
export const AMOUNTS = ['input', 'output', 'cacheRead', 'cacheWrite', 'cacheWrite1h', 'cost'] as const;

/** In the order of `AMOUNTS`. `cacheWrite` includes the part that is kept for an hour. */
export type Amounts = readonly [number, number, number, number, number, number];

/** The use of one answer of a model. Its id is the same however often it is read. */
export interface Entry {
  id: string;
  ms: number;
  session: string;
  /** Folder of the session, for the repository; empty if unknown. */
  cwd: string;
  model: string;
  amounts: Amounts;
  /** A copy in a side conversation, dropped if its original is known. */
  isCopy?: boolean;
  /** The id of another entry that this one repeats if it exists. */
  repeats?: string;
}

/** A usage limit as an assistant reports it. */
export interface SeenLimit {
  window: LimitWindow;
  /** 0 to 100. */
  usedPercent: number;
  /** Epoch ms; null if unknown. */
  resetsAtMs: number | null;
}

export type LimitWindow = 'fiveHour' | 'sevenDay';

/** What the readers of one assistant report. */
export interface Sink {
  entry: (entry: Entry) => void;
  limits: (atMs: number, limits: readonly SeenLimit[]) => void;
}

/** Returns an id of 84 bits. The part before the dot groups the copies of an answer. */
export function entryId(group: string, rest = ''): string {
  return `${digest(group)}.${rest === '' ? '' : digest(rest).slice(0, 6)}`;
}

/** Returns the group and the rest of an id. */
export function splitId(id: string): [group: string, rest: string] {
  const at = id.indexOf('.');
  return [id.slice(0, at), id.slice(at + 1)];
}

function digest(text: string): string {
  return createHash('sha1').update(text).digest('base64url').slice(0, 14);
}

const MAX_COUNT = 1e12;

/** Returns a token count; 0 for an invalid value. */
export function countOf(value: unknown): number {
  return typeof value === 'number' && value > 0 && value < MAX_COUNT ? Math.floor(value) : 0;
}

export function tokensOf(amounts: Amounts): number {
  return amounts[0] + amounts[1] + amounts[2] + amounts[3];
}
