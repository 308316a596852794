import { join } from 'node:path';

import type { Machine, UserArea } from '../config/user-area';
import { sweepTemps } from '../platform/files/atomic-file';
import { listFolder, lstatOf, removeFile } from '../platform/files/folder';
import { pruneDead } from '../platform/files/dead-letters';
import { randomName } from '../platform/files/short-hash';
import {
  abandoned,
  attempt,
  bury,
  compactTime,
  countForeign,
  entriesIn,
  folderOf,
  isOrphaned,
  namesIn,
  put,
  readEntry,
  retry,
  revive as reviveEntry,
  checkRoom,
  spoolCounts,
} from '../platform/files/spool';
import { toIso } from '../platform/time/clock';
import {
  KINDS,
  MAX_WAITING,
  isExpired,
  limitsOf,
  spoolAt,
  type Intention,
  type IntentionKind,
} from './intention';

const TEMPS_STALE_MS = 60_000;
const WITHDRAW_WAIT_MS = 15_000;

export interface SpoolDeps extends Omit<Machine, 'area'> {
  area: Pick<UserArea, 'spool' | 'machine'>;
}

/**
 * Handles one task. Throws to retry the task, returns `later` to leave it queued, or returns a `Refusal` to
 * fail it permanently.
 */
export type Consumer = (intention: Intention) => unknown;
export interface Refusal {
  refused: string;
}
export type Consumers = Readonly<Partial<Record<IntentionKind, Consumer>>>;

export type SpoolStatus = ReturnType<typeof spoolStatus>;

export function spoolStatus(path: string) {
  const { waiting, claimed, unreadable, dead, oldest } = spoolCounts(spoolAt(path));
  return {
    waiting: waiting + claimed - unreadable,
    unreadable,
    dead,
    deadFolder: folderOf({ path }, 'dead'),
    oldest: oldest?.at ?? null,
  };
}

/** Counts the waiting tasks that other machines queued. */
export function foreignIntentions(path: string, machineId: string): number {
  return countForeign(spoolAt(path), machineId);
}

export function waitingIntentions(path: string): Intention[] {
  return entriesIn(spoolAt(path), 'waiting');
}

/** Returns the waiting tasks and the tasks in progress. */
export function keptIntentions(path: string): Intention[] {
  return [...entriesIn(spoolAt(path), 'claimed'), ...waitingIntentions(path)];
}

/**
 * Queues a task and flushes it to disk. Throws `unavailable` if too many tasks with typed text are waiting.
 */
export function leave(
  { area, clock, machineId }: SpoolDeps,
  what: Pick<
    Intention,
    'kind' | 'session' | 'slug' | 'transcript' | 'capture' | 'wanted' | 'reason' | 'asked' | 'ended'
  >,
): Intention {
  const spool = spoolAt(area.spool);
  const nowMs = clock.now();
  const intention = { id: newId(nowMs), ...what, at: toIso(nowMs), machine: machineId, attempts: 0 };
  if (KINDS[what.kind].words) checkRoom(spool, 1);
  put(spool, intention);
  return intention;
}

/** Removes a task that no process has claimed. */
export function removeWaiting(path: string, intention: Intention): void {
  removeFile(join(path, spoolAt(path).nameOf(intention)));
}

function newId(nowMs: number): string {
  return `${compactTime(nowMs)}-${randomName(12)}`;
}

export interface DrainResult {
  done: number;
  /** Number of failed tasks that will be retried. */
  failed: number;
  /** Number of tasks that stay queued because something they need is missing. */
  later: number;
  /** Number of tasks that failed permanently. */
  dead: number;
  /** Whether another process is already processing the queue. */
  busy: boolean;
}

/**
 * Runs the waiting tasks. Only one process per machine runs tasks at a time. A task interrupted by a crash
 * runs again, so handlers must use its id to detect completed work.
 */
export async function drain(deps: SpoolDeps, consumers: Consumers): Promise<DrainResult> {
  const result: DrainResult = { done: 0, failed: 0, later: 0, dead: 0, busy: false };
  if (listFolder(deps.area.spool).length === 0) return result;
  const { ifFree } = await import('../platform/files/lock');
  const lock = { clock: deps.clock, machineId: deps.machineId, waitMs: 0 };
  const done = await ifFree(join(deps.area.machine, 'spool.lock'), lock, async () => {
    result.dead += requeueAbandoned(deps) + sweep(deps);
    pruneDead(folderOf(spoolAt(deps.area.spool), 'dead'), deps.clock.now());
    for (const name of namesIn(spoolAt(deps.area.spool), 'waiting'))
      await work(deps, consumers, name, result);
  });
  return { ...result, busy: done === undefined };
}

async function exclusively<T>(deps: SpoolDeps, run: () => T): Promise<T> {
  const { withMachineLock } = await import('../platform/files/lock');
  return withMachineLock(deps, 'spool', WITHDRAW_WAIT_MS, run);
}

async function work(deps: SpoolDeps, consumers: Consumers, name: string, result: DrainResult): Promise<void> {
  const spool = spoolAt(deps.area.spool);
  const intention = readEntry(spool, 'waiting', name);
  if (intention === undefined) return;
  if (intention.machine !== deps.machineId) {
    if (!isOrphaned(spool, name, deps.clock.now())) return;
    if (bury(spool, 'waiting', name, burial(deps, foreignReason(intention)))) result.dead += 1;
    return;
  }
  const run = consumers[intention.kind];
  if (run === undefined) return;
  const outcome = await attempt(spool, name, intention, { clock: deps.clock, run, again });
  if (outcome !== 'gone') result[outcome] += 1;
}

function again(intention: Intention): Intention | undefined {
  const attempts = intention.attempts + 1;
  return attempts >= KINDS[intention.kind].attempts ? undefined : { ...intention, attempts };
}

/**
 * Requeues tasks whose process was killed. Returns how many failed permanently. The caller must hold the
 * lock.
 */
function requeueAbandoned(deps: SpoolDeps): number {
  const spool = spoolAt(deps.area.spool);
  const outcomes = abandoned(spool, deps.machineId, deps.clock.now()).map(({ name, entry }) => {
    if (entry === undefined) return retry(spool, name, undefined, burial(deps, 'the file cannot be read'));
    const isOurs = entry.machine === deps.machineId;
    const reason = isOurs ? 'the process was killed on every attempt' : foreignReason(entry);
    return retry(spool, name, isOurs ? again(entry) : undefined, burial(deps, reason));
  });
  return outcomes.filter((outcome) => outcome === 'dead').length;
}

function burial({ clock }: Pick<SpoolDeps, 'clock'>, reason: string): { atMs: number; reason: string } {
  return { atMs: clock.now(), reason };
}

function foreignReason({ machine }: Intention): string {
  return `queued by another machine (${machine}), which did not send it within a day`;
}

/**
 * Removes this machine's matching tasks, including claimed and dead ones, and returns them. Throws `locked`
 * if another process is processing the queue and doesn't finish in time.
 */
export function withdraw(deps: SpoolDeps, matches: (intention: Intention) => boolean): Promise<Intention[]> {
  const spool = spoolAt(deps.area.spool);
  return exclusively(deps, () => {
    const found = (['waiting', 'claimed', 'dead'] as const).flatMap((place) =>
      entriesIn(spool, place)
        .filter((intention) => intention.machine === deps.machineId && matches(intention))
        .map((intention) => ({ place, intention })),
    );
    for (const { place, intention } of found)
      removeFile(join(folderOf(spool, place), spool.nameOf(intention)));
    return found.map(({ intention }) => intention);
  });
}

/** Requeues dead tasks and returns how many there were. */
export function revive(deps: SpoolDeps): Promise<number> {
  const spool = spoolAt(deps.area.spool);
  return exclusively(deps, () => {
    const dead = entriesIn(spool, 'dead');
    for (const intention of dead) {
      // The new id restarts the task's lifetime. Keep `at`, because the task's text may contain times that
      // are relative to it.
      const id = newId(deps.clock.now());
      reviveEntry(spool, spool.nameOf(intention), { ...intention, id, machine: deps.machineId, attempts: 0 });
    }
    return dead.length;
  });
}

/**
 * Removes expired tasks, and the oldest tasks above the limit. Moves tasks with typed text or failed attempts
 * to the dead folder, and returns how many were moved.
 */
export function sweep(deps: Pick<SpoolDeps, 'area' | 'clock'>): number {
  const path = deps.area.spool;
  const spool = spoolAt(path);
  const nowMs = deps.clock.now();
  const names = namesIn(spool, 'waiting');
  const withoutText = names.filter((name) => !limitsOf(name).words);
  const beyond = new Set(withoutText.slice(0, Math.max(0, withoutText.length - MAX_WAITING)));
  let dead = 0;
  for (const name of names) {
    if (!beyond.has(name) && !isExpired(name, nowMs)) continue;
    const file = join(path, name);
    if (lstatOf(file)?.isFile !== true) continue;
    if (!limitsOf(name).words && !readEntry(spool, 'waiting', name)?.attempts) removeFile(file);
    else if (bury(spool, 'waiting', name, burial(deps, 'expired before it was sent'))) dead += 1;
  }
  if (listFolder(path).some((name) => name.endsWith('.tmp'))) sweepTemps(path, TEMPS_STALE_MS, nowMs);
  return dead;
}
