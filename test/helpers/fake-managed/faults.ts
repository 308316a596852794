import type { ServerResponse } from 'node:http';

import type { Random } from '../random';

/** What happens to a request before it is looked at, and to its answer. */
export type RequestFault =
  | { kind: 'status'; status: number; headers?: Record<string, string>; html?: boolean }
  | { kind: 'reset' }
  | { kind: 'landed-then-reset' }
  | { kind: 'landed-then-status'; status: number };

/** How a stream is spoilt. */
export interface StreamFault {
  /** After so many events: how it ends. */
  after: number;
  end: 'eof' | 'reset' | 'cut' | 'cut-utf8' | 'cut-crlf' | 'silence' | 'none';
  duplicate: number;
  swap: number;
  badFrame: number;
  unknown: number;
  byteByByte: boolean;
  html: boolean;
  empty: boolean;
}

export interface Faults {
  request: (method: string, isStream: boolean) => RequestFault | undefined;
  stream: () => StreamFault | undefined;
  /** Line ends of this stream. */
  lineEnd: () => string;
}

export const NO_FAULTS: Faults = {
  request: () => undefined,
  stream: () => undefined,
  lineEnd: () => '\n',
};

/** At most `budget` faults, drawn from a seed; so that every run comes to its end. */
export function randomFaults(random: Random, budget: number): Faults {
  let left = budget;
  const spend = (probability: number): boolean => {
    if (left <= 0 || !random.chance(probability)) return false;
    left -= 1;
    return true;
  };
  return {
    request: (method) => {
      if (!spend(0.15)) return undefined;
      const statuses: RequestFault[] = [
        { kind: 'status', status: 429, headers: { 'retry-after': '0' } },
        { kind: 'status', status: 429, headers: { 'retry-after': new Date().toUTCString() } },
        { kind: 'status', status: 429 },
        { kind: 'status', status: 529 },
        { kind: 'status', status: 504 },
        { kind: 'status', status: 500, html: true },
        { kind: 'reset' },
      ];
      const landed: RequestFault[] = [
        { kind: 'landed-then-reset' },
        { kind: 'landed-then-status', status: 500 },
      ];
      return random.pick(method === 'POST' ? [...statuses, ...landed, ...landed] : statuses);
    },
    stream: () => {
      if (!spend(0.7)) return undefined;
      const ends = ['eof', 'reset', 'cut', 'cut-utf8', 'cut-crlf', 'silence', 'none'] as const;
      const often = (probability: number): number => (random.chance(0.5) ? probability : 0);
      return {
        after: random.below(12),
        end: random.pick(ends),
        duplicate: often(0.3),
        swap: often(0.3),
        badFrame: often(0.15),
        unknown: often(0.2),
        byteByByte: random.chance(0.1),
        html: random.chance(0.05),
        empty: random.chance(0.05),
      };
    },
    lineEnd: () => random.pick(['\n', '\r\n', '\r']),
  };
}

/** Ends a connection without a goodbye. */
export function reset(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
}
