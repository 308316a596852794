import { basename, dirname, join, relative, resolve, sep } from 'node:path';

import type { Context } from '../../app/context';
import { waitForRunsOf } from '../../app/schedule';
import type { UserArea } from '../../config/user-area';
import { StewardError } from '../../errors';
import { sweepTemps } from '../../platform/files/atomic-file';
import { diskUse, realPath, removeAtExit } from '../../platform/files/disk-use';
import {
  exists,
  listFolder,
  lstatOf,
  removeEmptyFolder,
  removeFile,
  removeFolder,
} from '../../platform/files/folder';
import { type PathHost, cachePath, machineStatePath, processHost } from '../../platform/files/paths';
import { canAsk, confirm } from '../../platform/terminal/ask';
import { wait } from '../../platform/time/wait';
import type { Running } from '../../schedule/running';
import type { Uninstalled } from './uninstall';
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
  /** What lies in the user area and is none of steward's: it stays. */
  stays: string[];
}

/**
 * What a purge removes: of the user area everything that steward keeps there by name, the machine-local state of that
 * area, and the cache. A user area that is the home folder, or holds it, is `usage`: nothing is removed there.
 */
export function planPurge(area: UserArea, host: PathHost = processHost()): PurgePlan {
  const root = realPath(area.root);
  refuseWide(root ?? area.root, host);
  const inArea = root === undefined ? [] : listFolder(root).sort();
  const known = new Set(namesOf(area));
  const isOurs = (name: string): boolean => known.has(name) || /^\..+\.[0-9a-f]{12}\.tmp$/.test(name);
  const own = inArea.filter(isOurs).map((name) => join(area.root, name));
  const use = own.map(diskUse);
  const places = [
    {
      path: area.root,
      what: 'settings, and all that was captured and kept',
      files: sum(use, 'files'),
      bytes: sum(use, 'bytes'),
    },
    { path: area.machine, what: 'locks, and where the daemon is reached', ...diskUse(area.machine) },
    { path: cachePath(host), what: 'the cache', ...diskUse(cachePath(host)) },
  ];
  return {
    places: places.filter(({ path }) => exists(path)),
    stays: inArea.filter((name) => !isOurs(name)).map((name) => join(area.root, name)),
  };
}

/** What the user areas of a machine have in common. */
const SHARED = ['machine-id', 'speech'];

/** Removes what the plan names. The state of this very run and the cache go when the process ends. */
export function purge(area: UserArea, host: PathHost = processHost()): void {
  const { machine } = area;
  const state = machineStatePath(host);
  const root = realPath(area.root);
  refuseWide(root ?? area.root, host);
  // Beside what a link leads to: a killed run may have left a copy with a token.
  for (const path of [area.config, area.settings]) {
    const target = lstatOf(path)?.isLink === true ? realPath(path) : undefined;
    if (target !== undefined) sweepTemps(dirname(target), -1, 0, basename(target));
  }
  if (root !== undefined) {
    const known = new Set(namesOf(area));
    for (const name of listFolder(root)) {
      if (!known.has(name) && !/^\..+\.[0-9a-f]{12}\.tmp$/.test(name)) continue;
      const path = join(root, name);
      if (lstatOf(path)?.isFolder === true) removeFolder(path);
      else removeFile(path);
    }
    // A link that the person made to a folder that is gone leads nowhere.
    if (removeEmptyFolder(root) && lstatOf(area.root)?.isLink === true) removeFile(area.root);
  }
  const others = listFolder(state).filter((name) => name !== basename(machine) && !SHARED.includes(name));
  const cache = cachePath(host);
  removeAtExit(
    [machine, cache, ...(others.length === 0 ? SHARED.map((name) => join(state, name)) : [])],
    [state, ...parents(state, host.home), ...parents(cache, host.home)],
  );
}

/** The names at the top of a user area, as the one table of its places has them. */
function namesOf(area: UserArea): string[] {
  const paths = Object.values(area).flatMap((place: string | Record<string, string>) =>
    typeof place === 'string' ? [place] : Object.values(place),
  );
  const names = paths
    .map((path) => relative(area.root, path).split(sep)[0] ?? '')
    .filter((name) => name !== '' && name !== '..');
  return [...new Set(names)];
}

function refuseWide(root: string, { home }: PathHost): void {
  const whole = resolve(root);
  const homes = [resolve(home), realPath(home) ?? resolve(home)];
  const holds = homes.some(
    (one) => one === whole || one.startsWith(whole.endsWith(sep) ? whole : `${whole}${sep}`),
  );
  if (!holds) return;
  throw new StewardError(
    'usage',
    `The user area ${whole} is your home folder, or holds it: steward does not clear it.`,
    {
      hint: 'Remove what you do not need there by hand.',
    },
  );
}

/** The folders above, up to the home folder, the nearest first; removed only where nothing is in them. */
function parents(path: string, home: string): string[] {
  const above: string[] = [];
  for (let at = dirname(path); at.startsWith(`${home}${sep}`); at = dirname(at)) above.push(at);
  return above;
}

function sum(uses: readonly { files: number; bytes: number }[], key: 'files' | 'bytes'): number {
  return uses.reduce((total, use) => total + use[key], 0);
}

type Say = (text: string) => void;

/** Shows what goes for good, and asks; a no is `canceled`, and no terminal to ask on without `--yes` is `usage`. */
export async function consentToPurge(
  plan: PurgePlan,
  { yes, dryRun, json }: { yes: boolean; dryRun: boolean; json: boolean },
  say: Say,
): Promise<void> {
  if (!json) say(purgeText(plan));
  if (dryRun || yes) return;
  if (json || !canAsk()) {
    throw new StewardError('usage', 'There is no terminal to ask on.', {
      hint: 'Say yes with: steward uninstall --purge --yes',
    });
  }
  if (await confirm('Uninstall, and remove all of this?', 'no')) return;
  throw new StewardError('canceled', 'Nothing was removed.', { hint: 'Run it again when you want to.' });
}

/** Longer than a hook goes on after its last look for the shim, also on a machine that is busy. */
const HOOK_MS = 1000;

/**
 * Removes the data, once nothing writes into them any more. Hooks that had begun before theirs were taken out leave no
 * note, which would cost each of them: they get time to end. A run that goes on for too long is `locked`; the data stay
 * where it had begun before they went.
 */
export async function purgeData(
  context: Context,
  { hooks }: Pick<Uninstalled, 'hooks'>,
  say: Say,
): Promise<void> {
  if (hooks.shim.removed) await wait(HOOK_MS);
  await endRuns(context, say, 'The data were not removed.');
  purge(context.area);
  // What a hook had started to deliver notes itself and looks for the area then: it may have seen it a moment ago.
  await endRuns(context, say, 'The data were removed, and it may write some of them again.');
  if (exists(context.area.root)) purge(context.area);
}

/** Waits for runs that had begun before: they would write into what is being removed. */
async function endRuns(context: Context, say: Say, soFar: string): Promise<void> {
  const named = (runs: readonly Running[]): string =>
    runs.map(({ job, pid }) => `${job} (process ${pid})`).join(', ');
  const running = await waitForRunsOf(context, (runs) => say(`Waiting for ${named(runs)} to end.`));
  if (running.length === 0) return;
  throw new StewardError('locked', `Still running: ${named(running)}. ${soFar}`, {
    hint: 'Jobs and hooks are gone, so nothing starts anew: run it again when that has ended, or end that process.',
  });
}
