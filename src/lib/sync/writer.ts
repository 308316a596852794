import { randomBytes } from 'node:crypto';

import { definedOnly } from '../platform/files/json-object';
import type { MachineInfo } from './format';
import type { SyncState } from './state';

/*
 * Detects that another machine has the same id. Each machine.json has a random run, and
 * the state lists the runs that this machine wrote. An unknown run means another writer, or a state that was
 * restored from a backup; only another writer replaces the file again.
 */

const DAY_MS = 24 * 60 * 60_000;
/** Unknown runs count together within this time. */
const FOREIGN_MS = 7 * DAY_MS;
const MAX_RUNS = 10;

/** Returns the run to write next. It is already in the state, so that a crash after the write changes nothing. */
export function nextRun({ runs = [] }: Pick<SyncState, 'runs'>): string {
  return runs.at(-1) ?? newRun();
}

/** Returns the runs after `written`. */
export function runsAfter({ runs = [] }: Pick<SyncState, 'runs'>, written: string): string[] {
  return [...runs.filter((run) => run !== written), written, newRun()].slice(-MAX_RUNS);
}

function newRun(): string {
  return randomBytes(6).toString('hex');
}

/** Returns the state after reading this machine's own machine.json. Returns `state` itself if its run is known. */
export function afterReading(state: SyncState, info: MachineInfo | undefined, nowMs: number): SyncState {
  const { runs = [] } = state;
  if (info?.run === undefined || runs.includes(info.run)) return state;
  // The last one is the next to write, which must not be another writer's.
  return { ...withForeign(state, nowMs), runs: [info.run, ...(runs.length === 0 ? [newRun()] : runs)] };
}

/** Returns the state after another writer was found. */
export function withForeign(state: SyncState, nowMs: number): SyncState {
  const recent = (state.foreign ?? []).filter((ms) => Math.abs(nowMs - ms) < FOREIGN_MS);
  return { ...state, foreign: [...recent, nowMs] };
}

/** Returns whether this machine needs a new id, which it keeps for a day at least. */
export function needsNewId(
  { foreign = [], renewedMs = 0 }: Pick<SyncState, 'foreign' | 'renewedMs'>,
  nowMs: number,
): boolean {
  return foreign.length > 1 && Math.abs(nowMs - renewedMs) >= DAY_MS;
}

/** Returns the state of a machine that has a new id, and therefore has published nothing yet. */
export function afterRenewal(
  { name, folder, removals, others, details, settings }: SyncState,
  renewedMs: number,
): SyncState {
  return { ...definedOnly({ name, folder, others, details, settings }), removals, days: {}, renewedMs };
}

/** Tells once that this machine has a new id, and why. */
export function renewalText(before: string, id: string): string {
  return `Another machine also publishes as ${before}, so this machine is probably a copy of it or the other way round. This machine now has the id ${id} and publishes its days there.`;
}
