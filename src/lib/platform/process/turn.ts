import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { claimFile } from '../files/atomic-file';
import type { Clock } from '../time/clock';
import { ensureFolder, listFolder, removeFile } from '../files/folder';
import { isAlive, ifFree } from '../files/lock';
import { randomName } from '../files/short-hash';

export interface Waiter {
  /** Arrival time. The work that arrived first runs first. */
  sinceMs: number;
  /** How long to wait for the turn, in ms. */
  waitMs: number;
  signal: AbortSignal;
}

/** Runs the work when its turn comes; returns undefined if the wait timed out or was aborted. */
export type TakeTurn = <T>(waiter: Waiter, work: () => Promise<T>) => Promise<T | undefined>;

/**
 * Age at which a ticket expires. By then, the process that created the ticket holds the lock or has stopped
 * waiting.
 */
const LONGEST_WAIT_MS = 60_000;
/** Time after which the lock is stale if the holder's process can't be checked. */
const LONGEST_TURN_MS = 60_000;
const PAUSE_MS = 25;

/**
 * Returns a function that runs one piece of work at a time on this machine, in order of arrival. A lock
 * guards the work, and empty ticket files record the order.
 */
export function turnsIn(folder: string, depsOf: () => { clock: Clock; machineId: string }): TakeTurn {
  return async ({ sinceMs, waitMs, signal }, work) => {
    const deps = depsOf();
    const { clock } = deps;
    ensureFolder(folder);
    const ticket = `${String(Math.trunc(sinceMs)).padStart(15, '0')}-${process.pid}-${randomName(8)}`;
    claimFile(join(folder, ticket));
    const endMs = clock.monotonic() + waitMs;
    const lock = { ...deps, waitMs: 0, staleAfterMs: LONGEST_TURN_MS };
    try {
      while (!signal.aborted) {
        const turn = isNext(folder, ticket, clock.now())
          ? await ifFree(join(folder, 'lock'), lock, work)
          : undefined;
        if (turn !== undefined) return turn.value;
        if (clock.monotonic() >= endMs) return undefined;
        await delay(PAUSE_MS);
      }
      return undefined;
    } finally {
      removeFile(join(folder, ticket));
    }
  };
}

function isNext(folder: string, own: string, nowMs: number): boolean {
  const before = listFolder(folder).filter((name) => TICKET.test(name) && name < own);
  return before.every((name) => {
    const [sinceMs = 0, pid = 0] = name.split('-').map(Number);
    const waits = Math.abs(nowMs - sinceMs) <= LONGEST_WAIT_MS && isAlive(pid);
    if (!waits) removeFile(join(folder, name));
    return !waits;
  });
}

const TICKET = /^\d{15}-\d+-/;
