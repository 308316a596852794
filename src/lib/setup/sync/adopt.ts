import { join } from 'node:path';

import { areaAt, claimArea, type UserArea } from '../../config/user-area';
import { StewardError, throwIfBug } from '../../errors';
import { readOwners, writeOwner, writePlace, type Owned } from '../../platform/files/area-owner';
import { renameOver } from '../../platform/files/atomic-file';
import { exists, ensureFolder, listFolder, lstatOf, removeFile } from '../../platform/files/folder';
import { readInstallManifest, withInstallManifest } from '../../platform/files/install-manifest';
import { withLock } from '../../platform/files/lock';
import { rotatedName } from '../../platform/files/journal';
import { moveLines } from '../../platform/files/jsonl';
import { dayOf } from '../../platform/time/time';
import { senseStore, type SenseStore } from '../../sense/store';
import { archivedFiles, archiveSessions } from '../../sessions/archive';
import { archiveOf, currentSessions } from '../../sessions/state';
import { readState, withFolder, withRetired, writeState } from '../../sync/state';
import type { Context } from '../../app/context';
import { openSense } from '../../app/sense';
import { openSessions } from '../../app/sessions';
import { takeUpAll } from '../../app/shared-area';
import { publishNow, openSync } from '../../app/sync';
import { stateFile } from '../../app/sync-settings';

export type Adopted = Awaited<ReturnType<typeof adopt>>;

const LOCK_WAIT_MS = 30_000;

/**
 * Takes over the data of a machine that is no longer in use, and the user area if that machine owns it. Can
 * be repeated after a crash.
 */
export async function adopt(context: Context, wanted: string) {
  const { area, clock } = context;
  const { id } = claimArea(area);
  const old = findOld(area, id, wanted.trim().toLowerCase());
  const isMoved = old.place === '' && area.place !== '';
  if (isMoved) await captureLast(context);
  const from = areaAt(area.root, old.place, area.host);
  const into = old.place === '' ? from : area;
  const lock = { clock, machineId: id, waitMs: LOCK_WAIT_MS };
  const taken = await withLock(join(area.machine, 'sense.lock'), lock, async () => {
    writePlace(area.root, area.host, into.place, '');
    const result = takeUpAll(from, into, { ids: [old.owner], to: id });
    if (isMoved) await moveInto(context, from, { id, old });
    // Without this record, a crash would leave the old machine's data published, and its time would count twice.
    if (old.place === '') await startRetirement(context, old.owner);
    retire(area, into, { old, id });
    return result;
  });
  const left = areaOf(area, old.owner);
  if (!hasDays(left)) removeFile(left.owner);
  const problem = await publishAdopted({ ...context, area: into }, old.owner);
  return {
    adopted: old.owner,
    id,
    folder: into.own,
    ...taken,
    isMoved,
    ...(problem !== undefined && { problem }),
  };
}

/**
 * Returns the area in `machines/ID` for an adopted machine's days that this machine also recorded. Keeping
 * them separate prevents double counting.
 */
function areaOf({ root, host }: UserArea, id: string): UserArea {
  return areaAt(root, `machines/${id}/`, host);
}

function hasDays({ sense, usage }: UserArea): boolean {
  return [sense.events, sense.daily, usage].some((folder) => listFolder(folder).length > 0);
}

function findOld(area: UserArea, id: string, wanted: string): Owned {
  const owners = readOwners(area.root);
  const found = owners.find(({ owner }) => owner === wanted);
  if (found !== undefined && found.owner !== id) return found;
  const repeated = owners.find(({ owner, retired }) => owner === id && retired.includes(wanted));
  if (repeated !== undefined) return { ...repeated, owner: wanted };
  const others = owners.filter(({ owner }) => owner !== id).map(({ owner }) => owner);
  const problem =
    found === undefined
      ? `Machine ${JSON.stringify(wanted)} not found in ${area.root}.`
      : `Cannot adopt ${wanted}: it is this machine.`;
  const hint =
    others.length === 0
      ? "Copy or sync that machine's user area here first."
      : `Known: ${others.join(', ')}.`;
  throw new StewardError('not_found', problem, { hint });
}

async function captureLast(context: Context): Promise<void> {
  const { deps, locked, captureHere } = await openSense(context);
  if (deps.config.enabled) await locked(captureHere);
}

/** After taking over an area, moves this machine's data from `machines/ID` to the root of the user area. */
async function moveInto(
  context: Context,
  into: UserArea,
  { id, old }: { id: string; old: Owned },
): Promise<void> {
  const { area, clock } = context;
  takeUpAll(area, into, { ids: [id], to: id });
  const sessions = await openSessions(context);
  const known = Object.values(currentSessions(sessions).sessions);
  if (known.length > 0) archiveSessions(archiveOf(into.sessionsState), known);
  for (const entry of readInstallManifest(area.installManifest, id)) {
    const deps = {
      path: into.installManifest,
      lockPath: join(area.machine, 'install.lock'),
      clock,
      machineId: id,
    };
    await withInstallManifest(deps, (manifest) => manifest.record(entry));
  }
  setAside(area, into, old);
  const { timezone } = (await openSense(context)).deps;
  moveDays(area, into, dayOf(clock.now(), timezone));
  for (const name of listFolder(area.observability))
    if (name.endsWith('.jsonl')) moveLines(join(area.observability, name), join(into.observability, name));
  moveFiles(area.usage, into.usage);
  // Delete the old files, because `steward sessions forget` removes data only from the new location.
  const archived = archivedFiles(archiveOf(area.sessionsState));
  for (const path of [area.sessionsState, area.sessionsLive, area.workEvents, ...archived]) removeFile(path);
  removeFile(rotatedName(area.workEvents));
  removeFile(area.owner);
}

/**
 * If both machines recorded a day, moves the old machine's files of that day to a folder in `machines`, so
 * that overlapping time counts once. Writes the folder's owner file last.
 */
function setAside(area: UserArea, into: UserArea, { owner, salt }: Owned): void {
  const left = areaOf(area, owner);
  if (exists(left.owner)) return;
  const [own, target, store] = [senseStore(area), senseStore(into), senseStore(left)];
  const [days, oldDays] = [daysWithData(own), daysWithData(target)];
  const used = new Set(listFolder(area.usage));
  const isShared = (name: string): boolean => days.has(dayIn(name)) && oldDays.has(dayIn(name));
  moveFiles(into.sense.events, left.sense.events, isShared);
  moveFiles(into.sense.daily, left.sense.daily, isShared);
  moveFiles(into.usage, left.usage, (name) => used.has(name));
  if (hasDays(left)) {
    store.prepare();
    store.writeState(target.readState().state);
  }
  writeOwner(area.root, left.place, { owner, os: null, salt, retired: [] }, true);
}

function daysWithData(store: SenseStore): Set<string> {
  const recorded = store.recordedDays().filter((day) => store.recordState(day) !== 'empty');
  return new Set([...store.loggedDays(), ...recorded]);
}

function dayIn(name: string): string {
  return name.slice(0, '2026-11-20'.length);
}

function moveDays(area: UserArea, into: UserArea, today: string): void {
  const [own, target] = [senseStore(area), senseStore(into)];
  target.prepare();
  const { rolled, zones } = own.readState().state;
  const { state } = target.readState();
  const recorded = daysWithData(own);
  for (const day of own.loggedDays()) {
    moveLines(own.logOf(day), target.logOf(day));
    delete state.rolled[day];
  }
  const isMoved = (name: string): boolean =>
    recorded.has(dayIn(name)) || !exists(join(into.sense.daily, name));
  moveFiles(area.sense.daily, into.sense.daily, isMoved);
  // `lostOn` makes the next capture reread every source from the start. The capture doesn't store moved
  // events again.
  const days = { rolled: { ...state.rolled, ...rolled }, zones: { ...state.zones, ...zones } };
  target.writeState({ ...state, ...days, lostOn: today });
}

function moveFiles(from: string, into: string, isMoved: (name: string) => boolean = () => true): void {
  for (const name of listFolder(from)) {
    if (!isMoved(name) || lstatOf(join(from, name))?.isFile !== true) continue;
    ensureFolder(into);
    renameOver(join(from, name), join(into, name));
  }
}

function retire(area: UserArea, into: UserArea, { old, id }: { old: Owned; id: string }): void {
  const owners = readOwners(area.root);
  const own = owners.find(({ owner }) => owner === id);
  const top = owners.find(({ place }) => place === into.place) ?? old;
  const retired = [...new Set([...top.retired, ...(own?.retired ?? []), old.owner])];
  // The stored hash of the operating system's machine ID is valid only with the salt that produced it.
  const os = own?.salt === top.salt ? own.os : null;
  writeOwner(area.root, into.place, { owner: id, os, salt: top.salt, retired });
}

async function startRetirement(context: Context, id: string): Promise<void> {
  const { deps, folder, locked } = await openSync(context);
  await locked(() => {
    const state = withFolder(readState(deps.state), folder);
    writeState(deps.state, withRetired(state, id));
  });
}

/**
 * Publishes the adopted days and withdraws the old machine's published days. If the withdrawal is incomplete,
 * returns why.
 */
async function publishAdopted(context: Context, id: string): Promise<string | undefined> {
  let problem = 'the next exchange through git removes it.';
  try {
    if ((await publishNow(context)) === undefined) return undefined;
  } catch (error) {
    const { message } = throwIfBug(error);
    problem = message;
  }
  const { retire = [] } = readState(stateFile(context.area));
  return retire.includes(id) ? problem : undefined;
}

export function adoptedText({
  adopted,
  id,
  folder,
  deliveries,
  captures,
  isMoved,
  problem,
}: Adopted): string {
  const lines = [
    `Adopted ${adopted}. This machine, ${id}, writes to ${folder}.`,
    `Deliveries taken over: ${deliveries}. Captures taken over: ${captures}.`,
  ];
  if (problem !== undefined)
    lines.push(`Data published by ${adopted} has not been withdrawn yet: ${problem}`);
  if (isMoved) lines.push('Reinstall the hooks and jobs: steward install');
  return lines.join('\n');
}
