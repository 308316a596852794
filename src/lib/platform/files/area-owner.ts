import { join } from 'node:path';

import { orElse } from '../../errors';
import { createFile, readText, replaceFile } from './atomic-file';
import { ensureFolder, exists, listFolder } from './folder';
import { isObject, parseObject } from './json-object';
import {
  formerMachineIds,
  isMachineId,
  knownMachineId,
  machineId,
  renewMachineId,
  setMachineId,
} from './machine';
import { osId } from './os-id';
import { machineStatePath, type PathHost } from './paths';
import { placePath, readPlace, type Place } from './place';
import { byCodeUnits } from './short-hash';

/** The contents of `state/owner.json`, in the user area and in each folder below `machines`. */
interface AreaOwner {
  owner: string;
  /** Salted hash of the operating system's machine id, or null if unknown. */
  os: string | null;
  salt: string;
}

export interface Owned extends AreaOwner {
  place: Place;
}

type News = 'adopted' | 'cloned' | 'guest';

export interface PlaceDecision {
  /** This machine's id. If undefined, the machine gets a new id. */
  id: string | undefined;
  isGuest: boolean;
  place?: Place;
  news?: News;
}

/** This machine's stored id, and whether the operating system has a machine id. */
interface Known {
  id: string | undefined;
  /** The ids that this machine had before. */
  former?: readonly string[];
  hasOsId: boolean;
  /**
   * Returns whether the operating system's machine id matches the owner's, or undefined if either is unknown.
   */
  isHere: (owner: AreaOwner) => boolean | undefined;
}

/** Chooses this machine's id, and the folder of the user area that this machine writes to. */
export function decidePlace(
  owners: readonly Owned[],
  { id, former = [], hasOsId, isHere }: Known,
): PlaceDecision {
  const top = owners.find(({ place }) => place === '');
  const mine =
    owners.find(({ owner }) => owner === id) ??
    owners.find((owner) => former.includes(owner.owner) && isHere(owner) !== false);
  if (top === undefined) return mine === undefined ? { id, isGuest: false } : { id, ...at(mine) };
  if (mine !== undefined && isHere(mine) !== false) return { id, ...at(mine) };
  const here = owners.find((owner) => isHere(owner) === true);
  if (here !== undefined && (id === undefined || mine !== undefined))
    return { id: here.owner, ...at(here), news: 'adopted' };
  // If this machine has neither stored state nor an operating system machine id, for example in a container,
  // assume that it is the owner.
  if (id === undefined && !hasOsId && top.os === null) return { id: top.owner, ...at(top), news: 'adopted' };
  if (mine !== undefined) return { id: undefined, isGuest: true, news: 'cloned' };
  return { id, isGuest: true, news: 'guest' };
}

function at({ place }: Owned): Pick<PlaceDecision, 'isGuest' | 'place'> {
  return { isGuest: place !== '', place };
}

export function ownerPath(root: string, place: Place): string {
  return join(root, place, 'state', 'owner.json');
}

/** Returns whether any machine besides the owner writes to the user area. */
export function hasGuests(root: string): boolean {
  return listFolder(join(root, 'machines')).some(
    (id) => isMachineId(id) && exists(ownerPath(root, `machines/${id}/`)),
  );
}

/**
 * Returns the owners of the user area and of the folders below `machines`. The owner of the area itself comes
 * first.
 */
export function readOwners(root: string): Owned[] {
  const below = listFolder(join(root, 'machines'))
    .filter(isMachineId)
    .sort()
    .map((id): Place => `machines/${id}/`);
  return (['', ...below] as const).flatMap((place) => {
    const owner = readOwner(ownerPath(root, place));
    return owner === undefined ? [] : [{ ...owner, place }];
  });
}

/**
 * Returns the owner, or undefined if the file is missing or damaged. If a git conflict left several owners in
 * the file, returns the one with the lowest id.
 */
function readOwner(path: string): AreaOwner | undefined {
  const lines = readText(path, { maxBytes: 64 * 1024 })?.split('\n') ?? [];
  const owners = lines.flatMap((line) => asOwner(parseObject(line)) ?? []);
  return owners.sort((a, b) => byCodeUnits(a.owner, b.owner))[0];
}

function asOwner(value: Record<string, unknown> | undefined): AreaOwner | undefined {
  if (!isObject(value)) return undefined;
  const { owner, os, salt } = value;
  if (typeof owner !== 'string' || !isMachineId(owner)) return undefined;
  return {
    owner,
    os: typeof os === 'string' ? os : null,
    salt: typeof salt === 'string' ? salt : '',
  };
}

interface OwnerDeps {
  host: PathHost;
  /** Returns the operating system's machine id. Starts a process on some systems. */
  osId: () => string | undefined;
}

export interface ClaimedPlace {
  place: Place;
  id: string;
  /** The machine that owns the user area. */
  owner: string;
  news?: News;
}

/**
 * Chooses and stores the folder of the user area that this machine writes to. Claims the area if it has no
 * owner. Safe to repeat after a crash.
 */
export function claimPlace(root: string, deps: OwnerDeps): ClaimedPlace {
  return settlePlace(root, deps, readAll(root, deps.host));
}

/** What is stored about an area. */
type Stored = ReturnType<typeof readAll>;

/** Reads the area last: a purge deletes it first, so what is read of an area that has an owner is whole. */
function readAll(root: string, host: PathHost) {
  const state = machineStatePath(host);
  const id = knownMachineId(state);
  return {
    place: readPlace(root, host),
    id,
    former: id === undefined ? [] : formerMachineIds(state),
    owners: readOwners(root),
  };
}

function settlePlace(root: string, { host, osId: systemId }: OwnerDeps, stored: Stored): ClaimedPlace {
  const state = machineStatePath(host);
  const { owners, id: before } = stored;
  const os = systemId();
  const decision = decidePlace(owners, {
    id: before,
    former: stored.former,
    hasOsId: os !== undefined,
    isHere: ({ os: hash, salt }) =>
      hash === null || os === undefined ? undefined : hash === hashOf(os, salt),
  });
  if (decision.id !== before) setMachineId(state, decision.id);
  const id = decision.id ?? machineId(state);
  const place = decision.place ?? (decision.isGuest ? (`machines/${id}/` as const) : '');
  const known = owners.find((owner) => owner.place === place);
  const salt =
    known?.salt || owners[0]?.salt || process.getBuiltinModule('node:crypto').randomBytes(16).toString('hex');
  const hash = known?.os ?? (os === undefined ? null : hashOf(os, salt));
  const owner = { owner: id, os: hash, salt };
  if (!writeOwner(root, place, owner, known === undefined)) return claimPlace(root, { host, osId: systemId });
  const claimed = { place, id, owner: owners[0]?.owner ?? id, ...(decision.news && { news: decision.news }) };
  storePlace(root, host, claimed, stored);
  return claimed;
}

/**
 * Writes an owner file if its content changed. With `isNew`, returns false if another process created the
 * file first; otherwise, a file that is gone stays so, because its area is being deleted.
 */
function writeOwner(root: string, place: Place, { owner, os, salt }: AreaOwner, isNew = false): boolean {
  const path = ownerPath(root, place);
  const text = `${JSON.stringify({ owner, os, salt })}\n`;
  const before = readText(path);
  if (before !== undefined) {
    if (before !== text) replaceFile(path, text);
    return true;
  }
  if (!isNew) return true;
  ensureFolder(join(root, place, 'state'));
  return createFile(path, text);
}

/**
 * Checks the stored folder that this machine writes to against the area's owner files. Returns the current
 * folder, or undefined if the area has no owner.
 */
export function checkPlace(root: string, host: PathHost, place: Place): Place | undefined {
  return orElse(place, () => {
    const stored = readAll(root, host);
    if (!stored.owners.some((owner) => owner.place === place)) return place === '' ? undefined : place;
    // On systems other than Linux, reading the machine id starts a process, so only captures read the id.
    return settlePlace(root, { host, osId: process.platform === 'linux' ? osId : () => undefined }, stored)
      .place;
  });
}

/** Returns the folder of the user area that this machine writes to, or undefined if the area has no owner. */
export function findPlace(root: string, host: PathHost): Place | undefined {
  const known = readPlace(root, host);
  if (known !== undefined) return known.place;
  return orElse(undefined, () => {
    const stored = readAll(root, host);
    return stored.owners[0]?.place === '' ? settlePlace(root, { host, osId }, stored).place : undefined;
  });
}

function storePlace(root: string, host: PathHost, claimed: ClaimedPlace, stored: Stored): void {
  const { place, news } = claimed;
  const before = stored.place?.place === place ? stored.place : undefined;
  if (before !== undefined && news === undefined) return;
  const notice = news === undefined ? '' : noticeOf(root, claimed, stored.id);
  writePlace(root, host, place, notice || (before?.notice ?? ''));
}

/** Stores the folder that this machine writes to, and a one-time notice for the user. */
export function writePlace(root: string, host: PathHost, place: Place, notice: string): void {
  ensureFolder(machineStatePath(host));
  replaceFile(placePath(root, host), `${place}\n${notice}\n`, { sync: false });
}

/** Gives this machine a new id. Its folder of the user area stays the same. */
export function renewId(root: string, host: PathHost, textOf: (id: string) => string): void {
  renewMachineId(machineStatePath(host));
  const { id, place } = claimPlace(root, { host, osId });
  writePlace(root, host, place, textOf(id));
}

/** Gives this machine the id and folder of another one, which it remembers with its own id. Safe to repeat. */
export function adoptId(root: string, host: PathHost, { owner, place, salt }: Owned): void {
  const state = machineStatePath(host);
  const own = readOwners(root).find((known) => known.owner === machineId(state));
  // The stored hash of the operating system's machine ID is valid only with the salt that produced it.
  writeOwner(root, place, { owner, os: own?.salt === salt ? own.os : null, salt });
  renewMachineId(state, owner);
  writePlace(root, host, place, '');
}

/** Returns the ids that this machine had when it adopted another one. Their owner files remain. */
export function abandonedIds(root: string, host: PathHost): string[] {
  const former = formerMachineIds(machineStatePath(host));
  return former.length === 0
    ? []
    : readOwners(root)
        .map(({ owner }) => owner)
        .filter((id) => former.includes(id));
}

/** Returns the one-time notice and clears it. */
export function takeNotice(root: string, host: PathHost): string {
  const { place, notice } = readPlace(root, host) ?? { place: '', notice: '' };
  if (notice !== '') writePlace(root, host, place, '');
  return notice;
}

function noticeOf(root: string, { id, owner, news }: ClaimedPlace, before = ''): string {
  const below = `writes to ${join(root, 'machines', id)}`;
  const adopt = (old: string): string => `steward sync adopt ${old}`;
  const TEXTS: Record<News, string> = {
    adopted: `This machine lost its local state. It keeps its id, ${id}, which is stored in ${root}.`,
    cloned: `The id ${before} belongs to another machine, so this machine has the new id ${id} and ${below}. If you reinstalled the system, run "${adopt(before)}".`,
    guest: `${root} belongs to the machine ${owner}, so this machine, ${id}, ${below}. It is better to give each machine its own area and run "steward sync setup FOLDER" with a folder that your sync tool copies. If this machine replaces ${owner}, run "${adopt(owner)}".`,
  };
  return news === undefined ? '' : TEXTS[news];
}

export function hashOf(os: string, salt: string): string {
  const { createHash } = process.getBuiltinModule('node:crypto');
  return createHash('sha256').update(`${salt}\0${os}`).digest('hex').slice(0, 32);
}
