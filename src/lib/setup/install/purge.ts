import { basename, dirname, join, relative, resolve, sep } from 'node:path';

import type { Context } from '../../app/context';
import { waitForRunsOf } from '../../app/schedule';
import type { UserArea } from '../../config/user-area';
import { StewardError } from '../../errors';
import { sweepTemps } from '../../platform/files/atomic-file';
import {
  diskUse,
  realPath,
  removeAtExit,
  exists,
  listFolder,
  lstatOf,
  removeEmptyFolder,
  removeFile,
  removeFolder,
} from '../../platform/files/folder';
import { cachePath, machineStatePath, processHost, type PathHost } from '../../platform/files/paths';
import { wait } from '../../platform/time/wait';
import type { Running } from '../../schedule/running';
import { consent } from '../init/step';
import { purgeText } from './view';

/** One place that a purge removes. */
export interface PurgePlace {
  path: string;
  what: string;
  files: number;
  bytes: number;
}

export interface PurgePlan {
  places: PurgePlace[];
  /** What lies in the user area and is not steward's. */
  stays: string[];
}

type Say = (text: string) => void;

/**
 * What a purge removes: of the user area what steward keeps there by name, its machine-local state, and the cache. An
 * area that is the home folder, or holds it, is `usage`.
 */
export function planPurge(area: UserArea): PurgePlan {
  const host = processHost();
  const root = realPath(area.root);
  refuseWide(root ?? area.root, host);
  const isOurs = ownNames(area);
  const inArea = root === undefined ? [] : listFolder(root).sort();
  const uses = inArea.filter(isOurs).map((name) => diskUse(join(area.root, name)));
  const files = uses.reduce((total, use) => total + use.files, 0);
  const bytes = uses.reduce((total, use) => total + use.bytes, 0);
  const cache = cachePath(host);
  const places = [
    { path: area.root, what: 'settings, and all that was captured and kept', files, bytes },
    { path: area.machine, what: 'locks, and where the daemon is reached', ...diskUse(area.machine) },
    { path: cache, what: 'the cache', ...diskUse(cache) },
  ];
  const stays = inArea.filter((name) => !isOurs(name)).map((name) => join(area.root, name));
  return { places: places.filter(({ path }) => exists(path)), stays };
}

/** Shows what goes for good, and asks; a no is `canceled`, no terminal and no `--yes` is `usage`. */
export async function consentToPurge(
  plan: PurgePlan,
  { yes, dryRun, json }: { yes: boolean; dryRun: boolean; json: boolean },
  say: Say,
): Promise<void> {
  if (!json) say(purgeText(plan));
  if (dryRun || yes) return;
  const hint = 'Say yes with: steward uninstall --purge --yes';
  if (json) throw new StewardError('usage', 'There is no terminal to ask on.', { hint });
  await consent('Uninstall, and remove all of this?', { preset: 'no', hint, no: 'Nothing was removed.' });
}

/** Longer than a hook runs after it found the shim, also on a busy machine. */
const HOOK_MS = 1000;

/**
 * Removes the data once nothing writes to them. Hooks leave no note, which would cost each of them: they get time to
 * end. A run that goes on for too long is `locked`.
 */
export async function purgeData(
  context: Context,
  { isShimGone }: { isShimGone: boolean },
  say: Say,
): Promise<void> {
  if (isShimGone) await wait(HOOK_MS);
  await endRuns(context, say, 'The data were not removed.');
  purge(context.area);
  // A delivery that a hook started may have seen the area a moment ago.
  await endRuns(context, say, 'The data were removed, and it may write some of them again.');
  if (exists(context.area.root)) purge(context.area);
}

async function endRuns(context: Context, say: Say, soFar: string): Promise<void> {
  const named = (runs: readonly Running[]): string =>
    runs.map(({ job, pid }) => `${job} (process ${pid})`).join(', ');
  const running = await waitForRunsOf(context, (runs) => say(`Waiting for ${named(runs)} to end.`));
  if (running.length === 0) return;
  throw new StewardError('locked', `Still running: ${named(running)}. ${soFar}`, {
    hint: 'Jobs and hooks are gone, so nothing starts anew: run it again when that has ended, or end that process.',
  });
}

/** What the user areas of a machine share. */
const SHARED = ['machine-id', 'speech'];

/** The state of this very run and the cache go when the process ends. */
function purge(area: UserArea): void {
  const host = processHost();
  const { machine } = area;
  const [state, cache] = [machineStatePath(host), cachePath(host)];
  const root = realPath(area.root);
  refuseWide(root ?? area.root, host);
  // Beside the target of a link: a killed run may have left a copy with a token.
  for (const path of [area.config, area.settings]) {
    const target = lstatOf(path)?.isLink === true ? realPath(path) : undefined;
    if (target !== undefined) sweepTemps(dirname(target), -1, 0, basename(target));
  }
  if (root !== undefined) {
    for (const path of listFolder(root)
      .filter(ownNames(area))
      .map((name) => join(root, name))) {
      if (lstatOf(path)?.isFolder === true) removeFolder(path);
      else removeFile(path);
    }
    if (removeEmptyFolder(root) && lstatOf(area.root)?.isLink === true) removeFile(area.root);
  }
  const others = listFolder(state).filter((name) => name !== basename(machine) && !SHARED.includes(name));
  const shared = others.length === 0 ? SHARED.map((name) => join(state, name)) : [];
  removeAtExit(
    [machine, cache, ...shared],
    [state, ...parents(state, host.home), ...parents(cache, host.home)],
  );
}

/** Is a name at the top of a user area steward's? */
function ownNames(area: UserArea): (name: string) => boolean {
  const paths = Object.values(area).flatMap((place: string | Record<string, string>) =>
    typeof place === 'string' ? [place] : Object.values(place),
  );
  const names = new Set(paths.map((path) => relative(area.root, path).split(sep)[0] ?? ''));
  return (name) => names.has(name) || /^\..+\.[0-9a-f]{12}\.tmp$/.test(name);
}

function refuseWide(root: string, { home }: PathHost): void {
  const whole = resolve(root);
  const inside = whole.endsWith(sep) ? whole : `${whole}${sep}`;
  const homes = [resolve(home), realPath(home) ?? resolve(home)];
  if (!homes.some((one) => one === whole || one.startsWith(inside))) return;
  throw new StewardError(
    'usage',
    `The user area ${whole} is your home folder, or holds it: steward does not clear it.`,
    { hint: 'Remove what you do not need there by hand.' },
  );
}

/** The folders above, up to the home folder, the nearest first; removed only if empty. */
function parents(path: string, home: string): string[] {
  const above: string[] = [];
  for (let at = dirname(path); at.startsWith(`${home}${sep}`); at = dirname(at)) above.push(at);
  return above;
}
