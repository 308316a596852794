import type { PurgePlan } from './view';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';

import type { Context } from '../../app/context';
import { stopDaemon } from '../../daemon/client';
import { publishedPlaces, unpublishAll } from '../sync/leave';
import type { UserArea } from '../../config/user-area';
import { StewardError } from '../../errors';
import { sweepTemps } from '../../platform/files/atomic-file';
import {
  diskUse,
  removeAtExit,
  exists,
  listFolder,
  lstatOf,
  removeEmptyFolder,
  removeFile,
  removeFolder,
} from '../../platform/files/folder';
import { realPath } from '../../platform/files/stat';
import { cachePath, machineStatePath, processHost, type PathHost } from '../../platform/files/paths';
import { placePath } from '../../platform/files/place';
import { wait } from '../../platform/time/wait';
import { waitForRuns, type Running } from '../../schedule/running';
import { consent, NO_TERMINAL } from '../init/step';
import { purgeText } from './view';

type Say = (text: string) => void;

/** Plans a purge of steward's files in the user area, machine-local state and the cache, and of published files. */
export async function planPurge(context: Context): Promise<PurgePlan> {
  const { area } = context;
  const host = processHost();
  const root = realPath(area.own);
  refuseWide(root ?? area.own, host);
  const isOurs = ownNames(area);
  const inArea = root === undefined ? [] : listFolder(root).sort();
  const uses = inArea.filter(isOurs).map((name) => diskUse(join(area.own, name)));
  const files = uses.reduce((total, use) => total + use.files, 0);
  const bytes = uses.reduce((total, use) => total + use.bytes, 0);
  const cache = cachePath(host);
  const places = [
    { path: area.own, what: 'settings and all stored data', files, bytes },
    { path: area.machine, what: 'locks and daemon state', ...diskUse(area.machine) },
    { path: cache, what: 'cache', ...diskUse(cache) },
  ];
  const stays = inArea.filter((name) => !isOurs(name)).map((name) => join(area.own, name));
  const published = await publishedPlaces(context);
  return { places: places.filter(({ path }) => exists(path)), stays, published };
}

/**
 * Shows the plan and asks for consent. Throws `canceled` if the user declines. Throws `usage` if there is no
 * terminal and no `--yes`.
 */
export async function consentToPurge(
  plan: PurgePlan,
  { yes, dryRun, json }: { yes: boolean; dryRun: boolean; json: boolean },
  say: Say,
): Promise<void> {
  if (!json) say(purgeText(plan));
  if (dryRun || yes) return;
  const hint = 'To confirm without a terminal: steward uninstall --purge --yes';
  if (json) throw new StewardError('usage', NO_TERMINAL, { hint });
  await consent('Uninstall and delete all of this?', { preset: 'no', hint, no: 'Nothing was removed.' });
}

/** How long to wait for running hooks. Even on a busy machine, hooks finish sooner. */
const HOOK_MS = 1000;

/**
 * Deletes the data and what this machine published, once no process is writing to it. Waits a second for running
 * hooks, which steward can't list. Returns the published files that could not be deleted.
 */
export async function purgeData(context: Context, { isShimGone }: { isShimGone: boolean }, say: Say) {
  if (isShimGone) await wait(HOOK_MS);
  await endRuns(context, say, 'The data was not deleted.');
  const left = await unpublishAll(context);
  purge(context.area);
  // A running hook may have started a delivery before the data was deleted. End that delivery.
  await endRuns(
    context,
    say,
    'The data was deleted, but a process that is still running may write new data.',
  );
  if (exists(context.area.root)) purge(context.area);
  return left;
}

async function endRuns(context: Context, say: Say, soFar: string): Promise<void> {
  const named = (runs: readonly Running[]): string =>
    runs.map(({ job, pid }) => `${job} (process ${pid})`).join(', ');
  const running = await waitForRuns(context, {
    stopDaemon: () => stopDaemon(context),
    onWait: (runs) => say(`Waiting for ${named(runs)} to end.`),
  });
  if (running.length === 0) return;
  throw new StewardError('locked', `Still running: ${named(running)}. ${soFar}`, {
    hint: 'Stop the process or wait until it ends, then rerun the command.',
  });
}

/** Entries in the machine-local folder that all user areas share. */
const SHARED = ['machine-id', 'speech'];

/** Deletes the cache when this process exits, because the process writes it until then. */
export function removeCacheAtExit(): void {
  const host = processHost();
  const cache = cachePath(host);
  removeAtExit([cache], parents(cache, host.home));
}

/** Deletes the user area and, when this process exits, the machine-local state, which it uses until then. */
function purge(area: UserArea): void {
  const host = processHost();
  const { machine } = area;
  const state = machineStatePath(host);
  const root = realPath(area.own);
  refuseWide(root ?? area.own, host);
  // If config.yaml is a link, a killed process may have left a temporary file with a token next to its target.
  const isLink = area.place === '' && lstatOf(area.config)?.isLink === true;
  const target = isLink ? realPath(area.config) : undefined;
  if (target !== undefined) sweepTemps(dirname(target), -1, 0, basename(target));
  if (root !== undefined) {
    for (const path of listFolder(root)
      .filter(ownNames(area))
      .map((name) => join(root, name))) {
      if (lstatOf(path)?.isFolder === true) removeFolder(path);
      else removeFile(path);
    }
    if (removeEmptyFolder(root) && lstatOf(area.own)?.isLink === true) removeFile(area.own);
  }
  const place = placePath(area.root, host);
  const otherAreas = listFolder(state).filter(
    (name) => ![basename(machine), basename(place), ...SHARED].includes(name),
  );
  const shared = otherAreas.length === 0 ? SHARED.map((name) => join(state, name)) : [];
  removeAtExit([machine, place, ...shared], [state, ...parents(state, host.home)]);
}

function ownNames(area: UserArea): (name: string) => boolean {
  const { sense, work, ...rest } = area;
  const paths = [rest, sense, work].flatMap((part) =>
    Object.values(part).filter((value) => typeof value === 'string'),
  );
  const names = new Set(paths.map((path) => relative(area.own, path).split(sep)[0] ?? ''));
  return (name) => names.has(name) || /^\..+\.[0-9a-f]{12}\.tmp$|\.moved-[0-9a-f]{8}$/.test(name);
}

/** Throws `usage` if the user area is or contains the home folder. */
function refuseWide(root: string, { home }: PathHost): void {
  const whole = resolve(root);
  const inside = whole.endsWith(sep) ? whole : `${whole}${sep}`;
  const homes = [resolve(home), realPath(home) ?? resolve(home)];
  if (!homes.some((path) => path === whole || path.startsWith(inside))) return;
  throw new StewardError(
    'usage',
    `The user area ${whole} is or contains your home folder, so steward does not delete it.`,
    { hint: 'Delete its files by hand.' },
  );
}

function parents(path: string, home: string): string[] {
  const above: string[] = [];
  for (let at = dirname(path); at.startsWith(`${home}${sep}`); at = dirname(at)) above.push(at);
  return above;
}
