import { basename, join } from 'node:path';

import { StewardError, errnoCode, toStewardError } from '../errors';
import { createFile, renameOver, sweepTemps } from '../platform/files/atomic-file';
import { toIso, type Clock } from '../platform/time/clock';
import { ensureFolder, listFolder, removeFile } from '../platform/files/folder';
import { bury, pruneDead } from '../platform/files/graveyard';
import { isObject } from '../platform/files/json-object';
import { randomName } from '../platform/files/short-hash';
import {
  claims,
  compact,
  fileOf,
  graves,
  hasWords,
  intentionsIn,
  isExpired,
  isFile,
  isForsaken,
  KINDS,
  read,
  textOf,
  waiting,
  type Intention,
  type IntentionKind,
} from './spool-file';

export { foreignIntentions, keptIntentions, spoolStatus, waitingIntentions } from './spool-file';
export type { Capture, Intention, IntentionKind, SpoolStatus } from './spool-file';

/**
 * What does the work of a kind. It may throw: it is asked again, and given up after some times. `later`: it could
 * not be begun, for a reason that is not its own; it waits as it was. `Refusal`: it is given up at once.
 */
export type Consumer = (intention: Intention) => unknown;
export interface Refusal {
  refused: string;
}
export type Consumers = Readonly<Partial<Record<IntentionKind, Consumer>>>;

export interface SpoolDeps {
  clock: Clock;
  machineId: string;
  /** `state/spool` */
  path: string;
  /** Machine-local folder of the lock. */
  locks: string;
}

/** Of intentions with words, and of the others. */
export const MAX_WAITING = 1000;
const TEMPS_STALE_MS = 60_000;

/** Leaves an intention, durably. Where too many with words wait already, one more is `unavailable`. */
export function leave(
  deps: Pick<SpoolDeps, 'clock' | 'machineId' | 'path'>,
  what: Pick<Intention, 'kind' | 'session' | 'slug' | 'transcript' | 'capture' | 'reason'>,
): Intention {
  const nowMs = deps.clock.now();
  const id = newId(nowMs);
  const intention: Intention = { id, ...what, at: toIso(nowMs), machine: deps.machineId, attempts: 0 };
  if (KINDS[what.kind].words && waiting(deps.path).filter(hasWords).length >= MAX_WAITING)
    throw full(deps.path);
  ensureFolder(deps.path);
  if (!createFile(fileOf(deps.path, intention), textOf(intention))) {
    throw new StewardError('unavailable', `There is a ${id} in ${deps.path} already.`, {
      hint: 'Try again.',
    });
  }
  return intention;
}

function newId(nowMs: number): string {
  return `${compact(nowMs)}-${randomName(12)}`;
}

function full(path: string): StewardError {
  return new StewardError(
    'unavailable',
    `${MAX_WAITING} captures wait in ${path} already; no more are taken.`,
    {
      hint: 'Run "steward work deliver" to see what keeps them from the work repository.',
    },
  );
}

export interface DrainResult {
  /** Intentions whose work was done. */
  done: number;
  /** Those whose work failed, and will be tried again. */
  failed: number;
  /** Those that wait for what their work needs. */
  later: number;
  /** Those that were given up. */
  dead: number;
  /** Somebody else is at it. */
  busy: boolean;
}

/**
 * Does the work that waits, one process of a machine at a time; whoever comes second leaves it to the first.
 * An intention is claimed by a rename before its work begins and removed when it has succeeded, so it is done
 * once. A process that is killed in the midst of it leaves the claim: then the work is begun again, and its
 * consumer is told by `attempts`, and can tell by `id` what is done already. Kinds without a consumer wait.
 */
export async function drain(deps: SpoolDeps, consumers: Consumers): Promise<DrainResult> {
  const result: DrainResult = { done: 0, failed: 0, later: 0, dead: 0, busy: false };
  if (listFolder(deps.path).length === 0) return result;
  const { withLock } = await import('../platform/files/lock');
  const lock = { clock: deps.clock, machineId: deps.machineId, waitMs: 0 };
  try {
    await withLock(join(deps.locks, 'spool.lock'), lock, async () => {
      result.dead += takeBack(deps) + sweep(deps);
      pruneDead(graves(deps.path), deps.clock.now());
      for (const name of waiting(deps.path)) await attempt(deps, consumers, name, result);
    });
  } catch (error) {
    if (!(error instanceof StewardError && error.kind === 'locked')) throw error;
    result.busy = true;
  }
  return result;
}

async function attempt(
  deps: SpoolDeps,
  consumers: Consumers,
  name: string,
  result: DrainResult,
): Promise<void> {
  const from = join(deps.path, name);
  const intention = read(from);
  if (intention === undefined) return;
  if (intention.machine !== deps.machineId) {
    if (buryForsaken(deps, from, intention)) result.dead += 1;
    return;
  }
  const consume = consumers[intention.kind];
  if (consume === undefined) return;
  const claim = join(claims(deps.path), name);
  ensureFolder(claims(deps.path));
  if (!claimed(from, claim)) return;
  try {
    const outcome = await consume(intention);
    if (outcome === 'later') {
      renameOver(claim, from);
      result.later += 1;
      return;
    }
    if (isRefusal(outcome)) {
      giveUp(deps, claim, outcome.refused);
      result.dead += 1;
      return;
    }
  } catch (error) {
    if (error instanceof StewardError && error.kind === 'canceled') {
      renameOver(claim, from);
      throw error;
    }
    if (again(deps, intention, claim, toStewardError(error).message)) result.failed += 1;
    else result.dead += 1;
    return;
  }
  removeFile(claim);
  result.done += 1;
}

/** False when it has gone: a hook that keeps the bounds may have taken it away. */
function claimed(from: string, claim: string): boolean {
  try {
    renameOver(from, claim);
    return true;
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return false;
    throw error;
  }
}

function isRefusal(outcome: unknown): outcome is Refusal {
  return isObject(outcome) && typeof outcome['refused'] === 'string';
}

/** Puts a claimed intention back for another attempt; false when it was the last, and it is dead. */
function again(deps: SpoolDeps, intention: Intention, claim: string, reason: string): boolean {
  const next = { ...intention, attempts: intention.attempts + 1 };
  if (next.attempts >= KINDS[intention.kind].attempts) {
    giveUp(deps, claim, reason);
    return false;
  }
  // First the new file, then the claim's end: a kill in between leaves both, and the claim comes back as the same.
  createFile(fileOf(deps.path, intention), textOf(next));
  removeFile(claim);
  return true;
}

/** False when somebody else took it. */
function giveUp({ clock, path }: Pick<SpoolDeps, 'clock' | 'path'>, file: string, reason: string): boolean {
  return bury(graves(path), file, { atMs: clock.now(), reason });
}

/** Another machine's, which has not done it in its time: nobody would ever look at it. */
function buryForsaken(deps: SpoolDeps, file: string, { machine }: Intention): boolean {
  if (!isForsaken(basename(file), deps.clock.now())) return false;
  return giveUp(deps, file, `left by another machine (${machine}), which has not done it within a day`);
}

const WITHDRAW_WAIT_MS = 15_000;

/**
 * Takes intentions out again, also those that a killed process had claimed, and gives them. Whoever is at the spool
 * is waited for, since nothing may be withdrawn that is just being done; too long is `locked`.
 */
export async function withdraw(
  deps: SpoolDeps,
  isMeant: (intention: Intention) => boolean,
): Promise<Intention[]> {
  const { withLock } = await import('../platform/files/lock');
  const { clock, machineId } = deps;
  const lock = { clock, machineId, waitMs: WITHDRAW_WAIT_MS };
  return withLock(join(deps.locks, 'spool.lock'), lock, () => {
    const found: Intention[] = [];
    for (const folder of [deps.path, claims(deps.path), graves(deps.path)]) {
      for (const name of waiting(folder)) {
        const intention = read(join(folder, name));
        if (intention === undefined || intention.machine !== machineId || !isMeant(intention)) continue;
        removeFile(join(folder, name));
        found.push(intention);
      }
    }
    return Promise.resolve(found);
  });
}

/**
 * Takes what was given up into the spool again, as left by this machine now. Gives how many there were; what holds no
 * intention that this version can read stays.
 */
export async function revive(deps: SpoolDeps): Promise<number> {
  const { withLock } = await import('../platform/files/lock');
  const { clock, machineId } = deps;
  const lock = { clock, machineId, waitMs: WITHDRAW_WAIT_MS };
  return withLock(join(deps.locks, 'spool.lock'), lock, () => {
    let count = 0;
    for (const name of waiting(graves(deps.path))) {
      const grave = join(graves(deps.path), name);
      const found = read(grave);
      if (found === undefined) continue;
      // Its age begins anew; `at` stays, since a time in the words was meant as of then.
      const id = newId(clock.now());
      const intention = { ...found, id, machine: machineId, attempts: 0 };
      createFile(fileOf(deps.path, intention), textOf(intention));
      removeFile(grave);
      count += 1;
    }
    return Promise.resolve(count);
  });
}

/** What a killed process had claimed. The lock is ours, so nobody of this machine is at it. Returns how many died. */
function takeBack(deps: SpoolDeps): number {
  let dead = 0;
  for (const name of waiting(claims(deps.path))) {
    const claim = join(claims(deps.path), name);
    if (!isFile(claim)) continue;
    const intention = read(claim);
    const isAlive =
      intention === undefined
        ? !giveUp(deps, claim, 'the file cannot be read')
        : intention.machine === deps.machineId
          ? again(deps, intention, claim, 'its process was ended each time')
          : !buryForsaken(deps, claim, intention);
    if (!isAlive) dead += 1;
  }
  return dead;
}

/**
 * Keeps the spool in its bounds: what is too old, and the oldest beyond the number. The words of a person, and what
 * was tried and failed, are buried; what nobody has begun, since no part of this version does such work, is dropped.
 * Returns how many died. A file is read only when it is to go: its name tells time and kind.
 */
export function sweep(deps: Pick<SpoolDeps, 'clock' | 'path'>): number {
  const nowMs = deps.clock.now();
  const listed = listFolder(deps.path);
  const names = intentionsIn(listed);
  const others = names.filter((name) => !hasWords(name));
  const beyond = new Set(others.slice(0, Math.max(0, others.length - MAX_WAITING)));
  let dead = 0;
  for (const name of names) {
    if (!beyond.has(name) && !isExpired(name, nowMs)) continue;
    const path = join(deps.path, name);
    if (!isFile(path)) continue;
    if (!hasWords(name) && (read(path)?.attempts ?? 0) === 0) removeFile(path);
    else if (giveUp(deps, path, 'it could not be sent in time')) dead += 1;
  }
  if (listed.some((name) => name.endsWith('.tmp'))) sweepTemps(deps.path, TEMPS_STALE_MS, nowMs);
  return dead;
}
