import { isAbsolute, join, resolve } from 'node:path';

import type { Context } from '../../app/context';
import { openSync, publishNow } from '../../app/sync';
import { openGitPlace } from '../../app/sync-git';
import { StewardError, throwIfBug, undefinedIf } from '../../errors';
import { abandonedIds } from '../../platform/files/area-owner';
import { exists, removeFolder } from '../../platform/files/folder';
import { knownMachineId } from '../../platform/files/machine';
import { expandHome, processHost } from '../../platform/files/paths';
import { kindOf } from '../../platform/files/stat';
import { formerTexts } from '../../sync/checks';
import { purgeClone, removeClone } from '../../sync/clone';
import { machinesFolder } from '../../sync/exchange';
import { unpublish } from '../../sync/former';
import { copyFolder, mergedFolder } from '../../sync/received';
import {
  pendingFormer,
  readState,
  stateFile,
  withFolder,
  withFormer,
  withoutFormer,
  withPending,
  writeState,
  type Removal,
} from '../../sync/state';
import { removeBranch } from './engine';

export interface Left {
  folder: string;
  removedFiles: number;
  /** Where this machine's published files remain. */
  remainsIn: string[];
  /** Former folders and git repositories from which purged data was not removed yet. */
  pendingFormer: string[];
}

/**
 * Stops removing purged data from a former folder or git repository. `remove` also deletes this machine's
 * published files there.
 */
export async function leaveFormer(context: Context, wanted: string, remove: boolean): Promise<Left> {
  const { folder, deps, locked } = await openSync(context);
  const { engine } = (await context.loadConfig()).config.user.sync;
  const { others: known = {} } = withFolder(readState(deps.state), folder);
  const path = resolve(expandHome(wanted, processHost().home));
  const former = [wanted, path].find((key) => known[key] !== undefined);
  if (former === undefined) {
    throw new StewardError('not_found', `${JSON.stringify(wanted)} is not a former folder or repository.`, {
      hint: `Known: ${Object.keys(known).join(', ') || 'none'}. To leave the current folder: steward sync leave`,
    });
  }
  const removedFiles = remove ? await unpublishFrom(context, former) : 0;
  if (engine !== 'git') await removeClone(context);
  return locked(() => {
    const state = withoutFormer(withFolder(readState(deps.state), folder), [former]);
    writeState(deps.state, state);
    return { folder: former, removedFiles, remainsIn: [], pendingFormer: pendingFormer(state) };
  });
}

/**
 * Deletes what this machine published to an exchange folder or a git repository. Returns the number of deleted
 * files, or 0 for a repository.
 */
export async function unpublishFrom(context: Context, place: string): Promise<number> {
  const { deps, locked } = await openSync(context);
  const abandoned = abandonedIds(context.area.root, context.area.host);
  if (isAbsolute(place)) return locked(() => unpublish({ ...deps, folder: place }, abandoned));
  for (const id of [context.machineId, ...abandoned]) await removeBranch(context, place, id);
  return 0;
}

/** A folder or git repository to which this machine published. */
export interface PublishedPlace {
  place: string;
  /** This machine's folder or branch in it. */
  path: string;
  isReachable: boolean;
}

/** Returns the folders and git repositories that may contain what this machine published. */
export async function publishedPlaces(context: Context): Promise<PublishedPlace[]> {
  const id = knownMachineId();
  if (id === undefined) return [];
  const { folder, others = {} } = readState(stateFile(context.area));
  // An invalid configuration must not prevent an uninstall.
  const { repo = [] } = (await openGitPlace(context).catch(undefinedIf('config'))) ?? {};
  const places = new Set([folder ?? [], repo, Object.keys(others)].flat());
  return [...places].flatMap((place): PublishedPlace[] => {
    if (!isAbsolute(place)) return [{ place, path: `branch machine-${id} in ${place}`, isReachable: true }];
    const isReachable = kindOf(machinesFolder(place)) === 'folder';
    const path = join(machinesFolder(place), id);
    return isReachable && !exists(path) ? [] : [{ place, path, isReachable }];
  });
}

/** Deletes everything that this machine published. Returns what could not be deleted, and why. */
export async function unpublishAll(context: Context): Promise<{ what: string; why: string }[]> {
  const left: { what: string; why: string }[] = [];
  for (const { place, path } of await publishedPlaces(context)) {
    try {
      await unpublishFrom(context, place);
    } catch (error) {
      const why = `${throwIfBug(error).message} Delete this yourself.`;
      left.push({ what: `published files, ${path}`, why });
    }
  }
  return left;
}

/** Returns the former folders and git repositories from which purged data was not removed yet. */
export async function pendingFormerOf(context: Context): Promise<string[]> {
  const { folder } = (await context.loadConfig()).config.user.sync;
  const { repo } = await openGitPlace(context);
  const pending = pendingFormer(withFolder(readState(stateFile(context.area)), folder));
  // The next exchange removes purged data from the current repository.
  return pending.filter((former) => former !== repo);
}

/**
 * Deletes local data, then the published copies. Records the removal first, so that a later run can complete
 * it.
 */
export async function withRemoval<T>(
  context: Context,
  removal: Removal,
  work: () => Promise<T>,
  say: (problem: string) => void,
): Promise<T> {
  const { folder, engine, repo } = (await context.loadConfig()).config.user.sync;
  if (folder === undefined && readState(stateFile(context.area)).others === undefined) return work();
  const { deps, locked } = await openSync(context);
  await locked(() => {
    const state = withFolder(readState(deps.state), folder);
    const withRepo = engine === 'git' && repo !== undefined ? withFormer(state, repo) : state;
    writeState(deps.state, withPending(withRepo, removal));
  });
  const value = await work();
  const copy = copyFolder(context.area.machine);
  removeFolder(mergedFolder(copy));
  removeFolder(join(machinesFolder(copy), context.machineId));
  const problems: string[] = [];
  try {
    await purgeClone(context);
    await publishNow(context);
  } catch (error) {
    const { message } = throwIfBug(error);
    problems.push(`Published files not removed; steward will retry. ${message}`);
  }
  problems.push(...formerTexts(await pendingFormerOf(context)));
  if (problems.length > 0) say(problems.join('\n'));
  return value;
}
