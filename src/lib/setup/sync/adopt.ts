import { join } from 'node:path';

import { areaAt, claimArea, type UserArea } from '../../config/user-area';
import { StewardError } from '../../errors';
import { abandonedIds, adoptId, readOwners, writePlace, type Owned } from '../../platform/files/area-owner';
import { renameOver } from '../../platform/files/atomic-file';
import { daysIn } from '../../platform/files/day-files';
import { listFolder, removeFile } from '../../platform/files/folder';
import { takeOverFormer } from '../../platform/files/former-ids';
import { readInstallManifest, withInstallManifest } from '../../platform/files/install-manifest';
import { rotatedName } from '../../platform/files/journal';
import { moveLines } from '../../platform/files/jsonl';
import { dayOf, type Day } from '../../platform/time/time';
import { isOpen } from '../../sense/capture';
import { senseStore } from '../../sense/store';
import { archivedFiles, archiveSessions } from '../../sessions/archive';
import { archiveOf, currentSessions } from '../../sessions/state';
import { withClone } from '../../sync/clone';
import { machinesFolder } from '../../sync/exchange';
import { joinPublished } from '../../sync/join';
import { moveDay } from '../../usage/days';
import type { Context } from '../../app/context';
import { openSense } from '../../app/sense';
import { openSessions } from '../../app/sessions';
import { prepareArea } from '../../app/shared-area';
import { takeUpAll } from '../../platform/files/take-up';
import { publishNow, openSync } from '../../app/sync';
import { exchangeNow } from '../../app/sync-git';
import { forgetInGit } from './engine';

export type Adopted = Awaited<ReturnType<typeof adopt>>;

/**
 * Makes this machine the successor of one that is no longer in use: it gets that machine's id and folder, and what it
 * recorded until now moves there. Can be repeated after a crash.
 */
export async function adopt(context: Context, wanted: string) {
  const { root, host } = context.area;
  const { id } = claimArea(context.area);
  const old = findOld(context.area, id, wanted.trim().toLowerCase());
  if (old.owner !== id) await takeOver(context, old);
  const successor = { ...context, area: areaAt(root, old.place, host) };
  await takeOverFormer(successor.area, context.clock);
  await publishNow(successor);
  for (const abandoned of abandonedIds(root, host)) await forgetInGit(successor, abandoned);
  await exchangeNow(successor);
  return { adopted: old.owner, folder: successor.area.own };
}

function findOld({ root, host, place }: UserArea, id: string, wanted: string): Owned {
  const owners = readOwners(root);
  const found = owners.find(({ owner }) => owner === wanted);
  const isRepeated = wanted === id && abandonedIds(root, host).length > 0;
  if (found !== undefined && (isRepeated || (wanted !== id && place !== ''))) return found;
  const others = owners.filter(({ owner }) => owner !== id).map(({ owner }) => owner);
  const problem =
    found === undefined
      ? `Machine ${JSON.stringify(wanted)} not found in ${root}.`
      : `Cannot adopt ${wanted}: ${wanted === id ? 'it is this machine' : `${root} belongs to this machine`}.`;
  const hint =
    others.length === 0
      ? "Copy or sync that machine's user area here first."
      : place === ''
        ? 'Its published days count for all machines. To delete them: steward sync forget MACHINE'
        : `Known: ${others.join(', ')}.`;
  throw new StewardError('not_found', problem, { hint });
}

/**
 * Copies what this machine published and moves what it stored to the old machine's folders, and takes its id last.
 * Until then, this machine publishes as before; afterwards, its former folder in the exchange folder is removed.
 */
async function takeOver(context: Context, old: Owned): Promise<void> {
  const { area, clock } = context;
  // A shared user area has an exchange folder of its own.
  await prepareArea(context);
  const { deps, locked, captureHere } = await openSense(context);
  if (deps.config.enabled) await locked(captureHere);
  await publishNow(context);
  await exchangeNow(context);
  const sync = await openSync(context);
  const machines = machinesFolder(sync.deps.folder);
  const theirs = join(machines, old.owner);
  const into = areaAt(area.root, old.place, area.host);
  const work = async (): Promise<void> => {
    writePlace(area.root, area.host, old.place, '');
    joinPublished(join(machines, context.machineId), theirs);
    await moveInto(context, into, dayOf(clock.now(), deps.timezone));
    adoptId(area.root, area.host, old);
    // The next publication would take its run for one of another machine with the same id.
    removeFile(join(theirs, 'machine.json'));
  };
  await withClone(context, () => locked(() => sync.locked(work)));
}

/** Moves this machine's data from its folder of the user area to another one. */
async function moveInto(context: Context, into: UserArea, today: Day): Promise<void> {
  const { area, clock, machineId } = context;
  takeUpAll(area, into, { ids: [machineId], to: machineId });
  const known = Object.values(currentSessions(await openSessions(context)).sessions);
  if (known.length > 0) archiveSessions(archiveOf(into.sessionsState), known);
  const both = { installManifest: into.installManifest, machine: area.machine };
  await withInstallManifest({ area: both, clock, machineId }, ({ record }) =>
    readInstallManifest(area.installManifest, machineId).forEach(record),
  );
  moveDays(area, into, today);
  for (const name of listFolder(area.observability))
    if (name.endsWith('.jsonl')) moveLines(join(area.observability, name), join(into.observability, name));
  for (const day of daysIn(area.usage)) moveDay(area.usage, into.usage, day);
  // Delete the old files, because `steward sessions forget` removes data only from the new location.
  const archived = archivedFiles(archiveOf(area.sessionsState));
  for (const path of [area.sessionsState, area.sessionsLive, area.workEvents, ...archived]) removeFile(path);
  removeFile(rotatedName(area.workEvents));
}

/** Joins the logs of days that both machines recorded. Their events name the machine, so that time counts once. */
function moveDays(area: UserArea, into: UserArea, today: Day): void {
  const [own, target] = [senseStore(area), senseStore(into)];
  target.prepare();
  const { rolled, zones } = own.readState().state;
  const { state } = target.readState();
  const recorded = target.recordedDays().filter((day) => target.recordState(day) !== 'empty');
  const known = new Set([...target.loggedDays(), ...recorded]);
  for (const day of own.loggedDays()) {
    // The next capture rebuilds the record from both logs.
    if (target.logBytes(day) !== undefined) target.removeRecord(day);
    moveLines(own.logOf(day), target.logOf(isOpen(target, day, today) ? day : 'late'));
  }
  for (const name of listFolder(area.sense.daily)) {
    if (known.has(name.slice(0, '2026-11-20'.length))) removeFile(join(area.sense.daily, name));
    else renameOver(join(area.sense.daily, name), join(into.sense.daily, name));
  }
  // `lostOn` makes the next capture reread every source from the start. The capture doesn't store moved
  // events again.
  const days = { rolled: { ...state.rolled, ...rolled }, zones: { ...state.zones, ...zones } };
  target.writeState({ ...state, ...days, lostOn: today });
}

export function adoptedText({ adopted, folder }: Adopted): string {
  return `This machine is now ${adopted} and writes to ${folder}.\nReinstall the hooks and jobs: steward install`;
}
