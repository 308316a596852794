import { join } from 'node:path';

import { areaAt, claimArea, type UserArea } from '../config/user-area';
import { StewardError } from '../errors';
import { readOwners, writeOwner, writePlace, type Owned } from '../platform/files/area-owner';
import { renameOver } from '../platform/files/atomic-file';
import { exists, ensureFolder, listFolder, lstatOf, removeFile } from '../platform/files/folder';
import { readInstallManifest, withInstallManifest } from '../platform/files/install-manifest';
import { withLock } from '../platform/files/lock';
import { settleFrom } from '../platform/files/settle-log';
import { dayOf } from '../platform/time/time';
import { isOpen } from '../sense/capture';
import { senseStore } from '../sense/store';
import { archiveSessions } from '../sessions/archive';
import { restrictedList } from '../sessions/restricted';
import { archiveOf, currentSessions } from '../sessions/state';
import type { Context } from './context';
import { openSense } from './sense';
import { openSessions } from './sessions';
import { takeUpAll } from './shared-area';
import { forget } from './sync-setup';

export interface Adopted {
  /** The retired machine's id. */
  adopted: string;
  id: string;
  folder: string;
  deliveries: number;
  captures: number;
  /** Whether this machine now writes to a different folder, which requires reinstalling the hooks and jobs. */
  isMoved: boolean;
}

const LOCK_WAIT_MS = 30_000;

/**
 * Takes over the data, and any ownership of the user area, from a machine that is no longer in use. Can be
 * repeated after a crash.
 */
export async function adopt(context: Context, wanted: string): Promise<Adopted> {
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
    if (isMoved) await moveInto(context, from, id);
    retire(area, into, { old, id });
    return result;
  });
  if (old.place === '') await forgetPublished(context, old.owner);
  return { adopted: old.owner, id, folder: into.own, ...taken, isMoved };
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
      ? `No machine ${JSON.stringify(wanted)} in ${area.root}.`
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

/** Moves this machine's data from `machines/ID` to the top of the area, which this machine now owns. */
async function moveInto(context: Context, into: UserArea, id: string): Promise<void> {
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
  const { timezone } = (await openSense(context)).deps;
  settleFrom(restrictedList(area.sessionsState), restrictedList(into.sessionsState));
  moveDays(area, into, dayOf(clock.now(), timezone));
  for (const name of listFolder(area.observability))
    if (name.endsWith('.jsonl')) settleFrom(join(area.observability, name), join(into.observability, name));
  moveMissing(area.usage, into.usage);
  // The old folder keeps its owner file while it has days that both machines recorded.
  if (senseStore(area).recordedDays().length === 0) removeFile(area.owner);
}

function moveDays(area: UserArea, into: UserArea, today: string): void {
  const [own, target] = [senseStore(area), senseStore(into)];
  target.prepare();
  for (const day of own.loggedDays()) {
    if (!isOpen(target, day, today)) continue;
    settleFrom(own.logOf(day), target.logOf(day));
    own.removeRecord(day);
  }
  // Makes the next capture reread every source from the start, without duplicating moved events.
  target.writeState({ ...target.readState().state, lostOn: today });
  moveMissing(area.sense.daily, into.sense.daily);
}

/** Moves the files that don't exist in the target folder. */
function moveMissing(from: string, into: string): void {
  for (const name of listFolder(from)) {
    const target = join(into, name);
    if (exists(target) || lstatOf(join(from, name))?.isFile !== true) continue;
    ensureFolder(into);
    renameOver(join(from, name), target);
  }
}

function retire(area: UserArea, into: UserArea, { old, id }: { old: Owned; id: string }): void {
  const owners = readOwners(area.root);
  const own = owners.find(({ owner }) => owner === id);
  const top = owners.find(({ place }) => place === into.place) ?? old;
  const retired = [...new Set([...top.retired, ...(own?.retired ?? []), old.owner])];
  // A hash of the operating system's machine ID is valid only with the salt that produced it.
  const os = own?.salt === top.salt ? own.os : null;
  writeOwner(area.root, into.place, { owner: id, os, salt: top.salt, retired });
}

async function forgetPublished(context: Context, id: string): Promise<void> {
  try {
    await forget(context, id, false);
  } catch (error) {
    if (!(error instanceof StewardError) || error.kind === 'internal') throw error;
  }
}

export function adoptedText({ adopted, id, folder, deliveries, captures, isMoved }: Adopted): string {
  const lines = [
    `Adopted ${adopted}. This machine, ${id}, writes to ${folder}.`,
    `Deliveries taken over: ${deliveries}. Captures taken over: ${captures}.`,
  ];
  if (isMoved) lines.push('Reinstall the hooks and jobs: steward install');
  return lines.join('\n');
}
