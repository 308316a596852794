import { isAbsolute, resolve } from 'node:path';

import { StewardError, toStewardError } from '../errors';
import { formerTexts } from '../sync/checks';
import { pendingFormer, unpublish } from '../sync/former';
import {
  readState,
  withFolder,
  withFormer,
  withoutFormer,
  withPending,
  writeState,
  type Removal,
} from '../sync/state';
import type { Context } from './context';
import { adoptedFolders, openSync, publishNow } from './sync';
import { purgeClone, removeClone } from './sync-clone';
import { removeBranch } from './sync-engine';
import { stateFile } from './sync-settings';

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
  const former = [wanted, resolve(wanted)].find((key) => known[key] !== undefined);
  if (former === undefined) {
    throw new StewardError('not_found', `${JSON.stringify(wanted)} is not a former folder or repository.`, {
      hint: `Known: ${Object.keys(known).join(', ') || 'none'}. To leave the current folder: steward sync leave`,
    });
  }
  const adopted = adoptedFolders(context).map(({ id }) => id);
  if (remove && !isAbsolute(former)) {
    for (const id of [context.machineId, ...adopted]) await removeBranch(context, former, id);
    if (engine !== 'git') await removeClone(context);
  }
  return locked(() => {
    const removedFiles = remove && isAbsolute(former) ? unpublish({ ...deps, folder: former }, adopted) : 0;
    const state = withoutFormer(withFolder(readState(deps.state), folder), [former]);
    writeState(deps.state, state);
    return { folder: former, removedFiles, remainsIn: [], pendingFormer: pendingFormer(state) };
  });
}

/** Returns the former folders and git repositories from which purged data was not removed yet. */
export async function pendingFormerOf(context: Context): Promise<string[]> {
  const { folder, repo, engine } = (await context.loadConfig()).config.user.sync;
  const pending = pendingFormer(withFolder(readState(stateFile(context.area)), folder));
  // The next exchange removes purged data from the current repository.
  return pending.filter((former) => engine !== 'git' || former !== repo);
}

/**
 * Deletes local data, then the published copies. Records the removal first, so that a later run can complete
 * it.
 */
export async function withRemoval<T>(
  context: Context,
  removal: Removal,
  work: () => Promise<T>,
): Promise<{ value: T; problem?: string }> {
  const { folder, engine, repo } = (await context.loadConfig()).config.user.sync;
  if (folder === undefined && readState(stateFile(context.area)).others === undefined)
    return { value: await work() };
  const { deps, locked } = await openSync(context);
  await locked(() => {
    const state = withFolder(readState(deps.state), folder);
    const withRepo = engine === 'git' && repo !== undefined ? withFormer(state, repo) : state;
    writeState(deps.state, withPending(withRepo, { removals: [removal] }));
  });
  const value = await work();
  const problems: string[] = [];
  try {
    await purgeClone(context);
    await publishNow(context);
  } catch (error) {
    const { kind, message } = toStewardError(error);
    if (kind === 'internal') throw error;
    problems.push(`Published files not removed; steward will retry. ${message}`);
  }
  problems.push(...formerTexts(await pendingFormerOf(context)));
  return { value, ...(problems.length > 0 && { problem: problems.join('\n') }) };
}
