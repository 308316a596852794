import { join } from 'node:path';

import { StewardError, errnoCode } from '../errors';
import { createFile, renameOver, sweepTemps } from '../platform/atomic-file';
import { toIso, type Clock } from '../platform/clock';
import { ensureFolder, listFolder, removeFile } from '../platform/folder';
import { randomName } from '../platform/short-hash';
import {
  claims,
  compact,
  fileOf,
  GRAVES,
  graves,
  intentionsIn,
  isExpired,
  KINDS,
  read,
  textOf,
  waiting,
  type Intention,
  type IntentionKind,
} from './spool-file';

export { keptIntentions, spoolStatus, waitingIntentions } from './spool-file';
export type { Capture, Intention, IntentionKind, SpoolStatus } from './spool-file';

/**
 * What does the work of a kind. It may throw: it is asked again, and given up after some times. `later`: it could
 * not be begun, for a reason that is not its own; it waits as it was.
 */
export type Consumer = (intention: Intention) => unknown;
export type Consumers = Readonly<Partial<Record<IntentionKind, Consumer>>>;

export interface SpoolDeps {
  clock: Clock;
  machineId: string;
  /** `state/spool` */
  path: string;
  /** Machine-local folder of the lock. */
  locks: string;
}

const MAX_WAITING = 1000;
const MAX_DEAD = 200;
const TEMPS_STALE_MS = 60_000;

/** Leaves an intention, durably. */
export function leave(
  deps: Pick<SpoolDeps, 'clock' | 'machineId' | 'path'>,
  what: Pick<Intention, 'kind' | 'session' | 'slug' | 'transcript' | 'capture' | 'reason'>,
): Intention {
  const nowMs = deps.clock.now();
  const id = `${compact(nowMs)}-${randomName(12)}`;
  const intention: Intention = { id, ...what, at: toIso(nowMs), machine: deps.machineId, attempts: 0 };
  ensureFolder(deps.path);
  if (!createFile(fileOf(deps.path, intention), textOf(intention))) {
    throw new StewardError('unavailable', `There is a ${id} in ${deps.path} already.`, {
      hint: 'Try again.',
    });
  }
  return intention;
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
  const { withLock } = await import('../platform/lock');
  const lock = { clock: deps.clock, machineId: deps.machineId, waitMs: 0 };
  try {
    await withLock(join(deps.locks, 'spool.lock'), lock, async () => {
      takeBack(deps);
      result.dead += sweep(deps);
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
  const consume = intention === undefined ? undefined : consumers[intention.kind];
  if (intention === undefined || consume === undefined || intention.machine !== deps.machineId) return;
  const claim = join(claims(deps.path), name);
  ensureFolder(claims(deps.path));
  if (!claimed(from, claim)) return;
  try {
    if ((await consume(intention)) === 'later') {
      renameOver(claim, from);
      result.later += 1;
      return;
    }
  } catch (error) {
    if (error instanceof StewardError && error.kind === 'canceled') {
      renameOver(claim, from);
      throw error;
    }
    if (again(deps.path, intention, claim)) result.failed += 1;
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

/** Puts a claimed intention back for another attempt; false when it was the last and it is dead. */
function again(path: string, intention: Intention, claim: string): boolean {
  const next = { ...intention, attempts: intention.attempts + 1 };
  const isLast = next.attempts >= KINDS[intention.kind].attempts;
  const folder = isLast ? graves(path) : path;
  ensureFolder(folder);
  // First the new file, then the claim's end: a kill in between leaves both, and the claim comes back as the same.
  createFile(fileOf(folder, intention), textOf(next));
  removeFile(claim);
  return !isLast;
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
  const { withLock } = await import('../platform/lock');
  const { clock, machineId } = deps;
  const lock = { clock, machineId, waitMs: WITHDRAW_WAIT_MS };
  return withLock(join(deps.locks, 'spool.lock'), lock, () => {
    const found: Intention[] = [];
    for (const folder of [deps.path, claims(deps.path)]) {
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

/** What a killed process had claimed. The lock is ours, so nobody of this machine is at it. */
function takeBack(deps: SpoolDeps): void {
  for (const name of waiting(claims(deps.path))) {
    const claim = join(claims(deps.path), name);
    const intention = read(claim);
    if (intention === undefined) removeFile(claim);
    else if (intention.machine === deps.machineId) again(deps.path, intention, claim);
  }
}

/**
 * Keeps the spool in its bounds: what is too old goes, and the oldest beyond the number. What was tried, and failed,
 * is kept among the dead, to be told of; what nobody has begun, since no part of this version does such work, is
 * dropped without a word. Returns how many died. A file is read only when it is to go: its name tells time and kind.
 */
export function sweep(deps: Pick<SpoolDeps, 'clock' | 'path'>): number {
  const nowMs = deps.clock.now();
  const listed = listFolder(deps.path);
  const names = intentionsIn(listed);
  let dead = 0;
  names.forEach((name, index) => {
    const isBeyond = index < names.length - MAX_WAITING;
    if (!isBeyond && !isExpired(name, nowMs)) return;
    const path = join(deps.path, name);
    if ((read(path)?.attempts ?? 0) === 0) {
      removeFile(path);
      return;
    }
    ensureFolder(graves(deps.path));
    if (claimed(path, join(graves(deps.path), name))) dead += 1;
  });
  if (listed.some((name) => name.endsWith('.tmp'))) sweepTemps(deps.path, TEMPS_STALE_MS, nowMs);
  if (listed.includes(GRAVES)) {
    const buried = waiting(graves(deps.path));
    for (const name of buried.slice(0, Math.max(0, buried.length - MAX_DEAD))) {
      removeFile(join(graves(deps.path), name));
    }
  }
  return dead;
}
