import { join } from 'node:path';

import { StewardError, errnoCode } from '../errors';
import { readText, renameOver, replaceFile, sweepTemps } from '../platform/files/atomic-file';
import type { Clock } from '../platform/time/clock';
import { ensureFolder, exists, listFolder, lstatOf, removeFile } from '../platform/files/folder';
import { bury as buryFile, deadNames, pruneDead } from '../platform/files/graveyard';
import { deliveryText, nameOf, parseDelivery, parseName, type Delivery, timeOfId } from './delivery';

export interface OutboxDeps {
  clock: Clock;
  machineId: string;
  /** `state/outbox` */
  outbox: string;
}

const MAX_BYTES = 64 * 1024;
/** A full outbox takes nothing more. */
export const MAX_WAITING = 20_000;
/** How long a count of what waits is good for, ms: to count costs as much as some deliveries. */
const COUNT_MS = 1_000;
/** Nothing is worth delivering for longer. */
const LONGEST_MS = 24 * 3_600_000;
const TEMPS_STALE_MS = 60_000;
const RETRY = '.retry';

/*
 * A delivery is one file, in one of three folders: waiting (the outbox itself), `claimed` while somebody is at
 * it, `dead` when it was given up and a person may still want it. It moves by renames, which one process wins.
 * Nothing is synced: a notification survives the end of any process, not the loss of the machine's power.
 */

/**
 * A check that so many more deliveries may be put into the outbox; `unavailable` where it is full. It counts once a
 * second, for a daemon that accepts thousands.
 */
export function outboxRoom({ clock, outbox }: Pick<OutboxDeps, 'clock' | 'outbox'>): (more: number) => void {
  let count = 0;
  let countedMs = -Infinity;
  return (more) => {
    const nowMs = clock.monotonic();
    if (nowMs - countedMs >= COUNT_MS) {
      count = deliveriesIn(outbox).length;
      countedMs = nowMs;
    }
    if (count + more > MAX_WAITING) {
      throw new StewardError('unavailable', `${count} notifications wait already; no more are taken.`, {
        hint: 'See which channel keeps them with "steward notify history", and test it with "steward notify test".',
      });
    }
    count += more;
  };
}

/** Puts a delivery into the outbox. */
export function put(deps: Pick<OutboxDeps, 'outbox'>, delivery: Delivery): void {
  const path = join(deps.outbox, nameOf(delivery));
  try {
    write(path, delivery);
  } catch (error) {
    if (errnoCode(error) !== 'ENOENT') throw error;
    ensureFolder(deps.outbox);
    write(path, delivery);
  }
}

/** Takes back what was just put there; what somebody is at already goes on. */
export function takeBack(deps: Pick<OutboxDeps, 'outbox'>, delivery: Delivery): void {
  removeFile(join(deps.outbox, nameOf(delivery)));
}

/** The outbox is made with what is put there first; where it stands it is a real folder, and not a link elsewhere. */
export function checkOutbox(deps: Pick<OutboxDeps, 'outbox'>): void {
  for (const folder of [deps.outbox, claimed(deps), dead(deps)]) {
    if (exists(folder)) ensureFolder(folder);
  }
}

/** Names of the deliveries that wait, the oldest first. */
export function waiting(deps: Pick<OutboxDeps, 'outbox'>): string[] {
  return deliveriesIn(deps.outbox);
}

/** A delivery that waits; undefined when it has gone, or is none. */
export function readWaiting(deps: Pick<OutboxDeps, 'outbox'>, name: string): Delivery | undefined {
  return read(join(deps.outbox, name));
}

/** Takes a delivery that waits; false when somebody else did. */
export function claim(deps: OutboxDeps, name: string): boolean {
  return moved(join(deps.outbox, name), claimed(deps), name);
}

/** A delivery that is claimed, as it was last recorded; undefined when it is not, or is none. */
export function readClaimed(deps: Pick<OutboxDeps, 'outbox'>, name: string): Delivery | undefined {
  return read(join(claimed(deps), name));
}

/** Takes a delivery that waits out of the outbox for good; false when somebody is at it already. */
export function withdraw(deps: OutboxDeps, name: string): boolean {
  if (!moved(join(deps.outbox, name), dead(deps), name)) return false;
  removeFile(join(dead(deps), name));
  return true;
}

/** Notes in a claimed file how far its delivery has come. */
export function record(deps: OutboxDeps, name: string, delivery: Delivery): void {
  write(join(claimed(deps), name), delivery);
}

/** Puts a claimed delivery back, as it was last recorded, under the name of its channel. */
export function release(deps: OutboxDeps, name: string, delivery: Delivery): void {
  renameOver(join(claimed(deps), name), join(deps.outbox, nameOf(delivery)));
}

/** Ends a claimed delivery. */
export function finish(deps: OutboxDeps, name: string): void {
  removeFile(join(claimed(deps), name));
}

/** Ends a claimed delivery that did not arrive: kept for a while, so that a person can have it tried again. */
export function bury(deps: OutboxDeps, name: string): void {
  buryFile(dead(deps), join(claimed(deps), name), { atMs: deps.clock.now() });
}

/** Is a delivery of another machine, or for a channel that is not here, past its time? By a clock that was ahead, too. */
export function isForsaken(deps: OutboxDeps, name: string): boolean {
  const id = parseName(name)?.id;
  return id !== undefined && !(Math.abs(deps.clock.now() - timeOfId(id)) < LONGEST_MS);
}

/** Deliveries that another machine has claimed, and has not ended in their time. */
export function forsakenClaims(deps: OutboxDeps): Delivery[] {
  return deliveriesIn(claimed(deps))
    .filter((name) => isForsaken(deps, name))
    .map((name) => readClaimed(deps, name))
    .filter((delivery) => delivery !== undefined)
    .filter(({ machine }) => machine !== deps.machineId);
}

const LOOKED_AT = 1000;

/** How many of the oldest that wait another machine has accepted. */
export function foreignDeliveries(deps: Pick<OutboxDeps, 'outbox' | 'machineId'>): number {
  const oldest = waiting(deps).slice(0, LOOKED_AT);
  return oldest.filter((name) => (readWaiting(deps, name)?.machine ?? deps.machineId) !== deps.machineId)
    .length;
}

/**
 * What processes that have ended had claimed. Only one process of a machine delivers at a time, and this is that
 * one: whatever this machine has claimed before is nobody's.
 */
export function abandoned(deps: OutboxDeps): { name: string; delivery: Delivery | undefined }[] {
  return deliveriesIn(claimed(deps))
    .map((name) => ({ name, delivery: read(join(claimed(deps), name)) }))
    .filter(({ delivery }) => delivery === undefined || delivery.machine === deps.machineId);
}

/** Deliveries of a notification that were given up. */
export function deadOf(deps: Pick<OutboxDeps, 'outbox'>, id: string): Delivery[] {
  return deliveriesIn(dead(deps))
    .filter((name) => name.startsWith(`${id}.`))
    .map((name) => read(join(dead(deps), name)))
    .filter((delivery) => delivery !== undefined);
}

/** Takes a delivery that was given up back into the outbox, as given. */
export function revive(deps: OutboxDeps, delivery: Delivery): void {
  put(deps, delivery);
  removeFile(join(dead(deps), nameOf(delivery)));
}

/** Leaves word for whoever delivers: what waits of this notification is to be tried now. */
export function askRetry(deps: Pick<OutboxDeps, 'outbox'>, id: string): void {
  replaceFile(join(deps.outbox, `${id}${RETRY}`), '', { sync: false });
}

/** What lies in the outbox, by one look at the folder. */
export interface Found {
  /** Deliveries that wait and are not known yet, the oldest first. */
  unknown: string[];
  /** The notifications that `askRetry` was called for since. */
  retries: string[];
}

/** Looks for what others have put there. Ten thousand files are looked through once a second: a name that is known costs next to nothing. */
export function look(deps: Pick<OutboxDeps, 'outbox'>, isKnown: (name: string) => boolean): Found {
  const names = listFolder(deps.outbox);
  const strange = names.filter((name) => !isKnown(name));
  const retries = strange.filter((name) => name.endsWith(RETRY));
  for (const name of retries) removeFile(join(deps.outbox, name));
  const unknown = strange.filter((name) => parseName(name) !== undefined).sort();
  return {
    unknown,
    retries: retries.map((name) => name.slice(0, -RETRY.length)),
  };
}

export interface OutboxStatus {
  waiting: number;
  /** Given up, and kept for a while. */
  dead: number;
}

export function outboxStatus(deps: Pick<OutboxDeps, 'outbox'>): OutboxStatus {
  return {
    waiting: deliveriesIn(deps.outbox).length + deliveriesIn(join(deps.outbox, 'claimed')).length,
    dead: deadNames(dead(deps)).length,
  };
}

/** Removes what killed processes have left, and what was given up long ago. */
export function sweep(deps: OutboxDeps): void {
  const nowMs = deps.clock.now();
  for (const folder of [deps.outbox, claimed(deps)]) {
    if (exists(folder)) sweepTemps(folder, TEMPS_STALE_MS, nowMs);
  }
  pruneDead(dead(deps), nowMs);
}

/** Buries what waits and holds no delivery: of a crash of the machine, or of a newer version. False: it is no file, and stays. */
export function buryUnreadable(deps: OutboxDeps, name: string): boolean {
  const path = join(deps.outbox, name);
  const found = lstatOf(path);
  if (found?.isFile === false) return false;
  if (found !== undefined && read(path) === undefined) buryFile(dead(deps), path, { atMs: deps.clock.now() });
  return true;
}

function deliveriesIn(folder: string): string[] {
  return listFolder(folder)
    .filter((name) => parseName(name) !== undefined)
    .sort();
}

function claimed(deps: Pick<OutboxDeps, 'outbox'>): string {
  return join(deps.outbox, 'claimed');
}

/** The folder of what was given up. */
export function dead(deps: Pick<OutboxDeps, 'outbox'>): string {
  return join(deps.outbox, 'dead');
}

function write(path: string, delivery: Delivery): void {
  replaceFile(path, deliveryText(delivery), { sync: false });
}

/** What is no file is no delivery; whoever has put it there keeps the others from nothing. */
function read(path: string): Delivery | undefined {
  if (lstatOf(path)?.isFile !== true) return undefined;
  return parseDelivery(readText(path, { maxBytes: MAX_BYTES }) ?? '');
}

/** Moves a file into a folder, which is made where it is missing; false when the file has gone. */
function moved(from: string, folder: string, name: string): boolean {
  for (let attempt = 0; ; attempt += 1) {
    try {
      renameOver(from, join(folder, name));
      return true;
    } catch (error) {
      if (errnoCode(error) !== 'ENOENT') throw error;
      if (attempt > 0 || !exists(from)) return false;
      ensureFolder(folder);
    }
  }
}
