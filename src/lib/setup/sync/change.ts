import { join, resolve } from 'node:path';

import type { Context } from '../../app/context';
import { openOwnRows } from '../../app/elsewhere';
import { openSharing } from '../../app/sharing';
import { openSync, publishNow } from '../../app/sync';
import { exchangeThrough, openGit } from '../../app/sync-git';
import { isCleanText } from '../../config/leaf';
import { setKeys } from '../../config/write';
import { orElse, StewardError, throwIfBug, toStewardError } from '../../errors';
import { exists, removeFile, removeFolder } from '../../platform/files/folder';
import { definedOnly } from '../../platform/files/json-object';
import { knownMachineId } from '../../platform/files/machine';
import { expandHome, processHost } from '../../platform/files/paths';
import { cleanLine } from '../../platform/terminal/terminal';
import { localTimes } from '../../platform/time/day-words';
import { purgeClone, removeClone, withClone } from '../../sync/clone';
import { engineStatus } from '../../sync/engine';
import { checkFolder, inFolder, noFolder, prepareFolder } from '../../sync/folder';
import { markLeft } from '../../sync/former';
import { checkRepository } from '../../sync/git';
import { liveFile } from '../../sync/live';
import { MAX_NAME } from '../../sync/name';
import {
  machineFolderOf,
  plannedFile,
  planFiles,
  type PlannedFile,
  type PublishResult,
  type SyncContext,
} from '../../sync/publish';
import { copyFolder, keepCopy } from '../../sync/received';
import { planShared, SHARED_FILE, KNOWN_FILE } from '../../sync/settings';
import { readState, stateFile, withFolder, withoutFormer, writeState } from '../../sync/state';
import { findMachine, syncStatus, type SyncStatus } from '../../sync/status';
import { planOf, type SyncPlan } from '../../sync/view';
import { forgetInGit, leaveRepo } from './engine';
import { pendingFormerOf, unpublishFrom, type Left } from './leave';

/** Where machines that use git have their exchange folder, unless they chose another one. */
const GIT_FOLDER = '~/steward-exchange';

export interface SyncChange extends PublishResult {
  folder: string | null;
  details: boolean;
  /** Why the saved change hasn't been published yet. */
  problem?: string;
  hint?: string;
}

/** Returns `published`, or why the saved change hasn't been published yet. */
export function publishedText({ problem, hint = '' }: SyncChange, published: string): string {
  return problem === undefined ? published : `Saved, but not published yet: ${problem}\n${hint}`.trimEnd();
}

/** Sets the exchange folder, or keeps the current one, and publishes to it. */
export async function setUp(
  context: Context,
  wanted: string | undefined,
  details: boolean | undefined,
  mayCreate: (folder: string) => Promise<boolean>,
): Promise<SyncChange & { before: string | null; pendingFormer: string[] }> {
  const before = (await openSync(context)).folder;
  const folder = folderAt(wanted ?? before);
  if (folder === undefined) throw noFolder();
  const ownFolders = [context.area.root, context.area.machine];
  if (wanted !== undefined) checkFolder(folder, ownFolders);
  if (wanted !== undefined && !exists(folder) && !(await mayCreate(folder))) {
    throw new StewardError('usage', `The folder ${folder} does not exist.`, {
      hint: 'Check its name, or wait until your tool has synced it. To create it, add --create.',
    });
  }
  if (wanted !== undefined) inFolder(folder, () => prepareFolder(folder, ownFolders));
  await setKeys(context, {
    'sync.folder': folder,
    ...(details !== undefined && { 'sync.details': details }),
  });
  if (details === false) await purgeClone(context);
  await compareAll(context);
  const change = { ...(await republish(context)), before: before === folder ? null : (before ?? null) };
  return { ...change, pendingFormer: await pendingFormerOf(context) };
}

function folderAt(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  if (path.trim() === '' || !isCleanText(path)) {
    throw new StewardError('usage', `Invalid folder ${JSON.stringify(path)}.`, {
      hint: 'Use a non-empty path without line breaks.',
    });
  }
  const { home } = processHost();
  return resolve(path === '~' ? home : expandHome(path, home));
}

/** Makes the next publishing run compare every published file and repair damaged files. */
async function compareAll(context: Context): Promise<void> {
  const { folder, deps, locked } = await openSync(context);
  await locked(() => {
    const state = withFolder(readState(deps.state), folder);
    delete state.checked;
    writeState(deps.state, state);
  });
}

export async function rename(context: Context, wanted: string): Promise<SyncChange & { name: string }> {
  const name = cleanLine(wanted, Infinity);
  if (name === '' || name.length > MAX_NAME) {
    const found = name === '' ? 'The name is empty.' : `The name has more than ${MAX_NAME} characters.`;
    throw new StewardError('usage', found, { hint: 'Use a name such as laptop.' });
  }
  const { deps, locked } = await openSync(context);
  await locked(() => writeState(deps.state, { ...readState(deps.state), name }));
  return { ...(await republish(context)), name };
}

/**
 * Stops publishing and exchanging data, and turns off the publishing of details. `remove` also deletes this
 * machine's published files.
 */
export async function leave(context: Context, remove: boolean): Promise<Left> {
  const published = await openSync(context);
  const { folder } = published;
  if (folder === undefined) throw noFolder(Object.keys(readState(published.deps.state).others ?? {}));
  const repo = await leaveRepo(context);
  if (remove && repo !== null) await unpublishFrom(context, repo);
  const removedFiles = remove ? await unpublishFrom(context, folder) : 0;
  const keys = ['details', 'folder', 'engine', 'repo'].map((name) => [`sync.${name}`, undefined]);
  await setKeys(context, Object.fromEntries(keys) as Record<string, undefined>);
  if (!remove) {
    // Without the folder or the repository, the others see only that no more days come.
    await published.locked(() => orElse(undefined, () => markLeft(published.deps)));
    if (repo !== null) await exchangeThrough(context, folder, repo).catch(throwIfBug);
  }
  await removeClone(context);
  const { deps, locked } = await openSync(context);
  await locked(() => {
    removeFolder(copyFolder(context.area.machine));
    removeFile(liveFile(folder, context.machineId));
    removeFile(join(context.area.machine, KNOWN_FILE));
    const state = withFolder(readState(deps.state), undefined);
    writeState(deps.state, remove ? withoutFormer(state, [folder, repo ?? '']) : state);
  });
  const remainsIn = remove ? [] : [folder, ...(repo === null ? [] : [repo])];
  return { folder, removedFiles, remainsIn, pendingFormer: await pendingFormerOf(context) };
}

/**
 * Switches the exchange folder to git, and runs the first exchange. Without an exchange folder, creates one in the home
 * folder. Checks the repository before it changes anything. `before` is another repository that was used until now.
 */
export async function useGit(context: Context, repo: string) {
  const { folder: known, repo: current } = (await context.loadConfig()).config.user.sync;
  if (current !== repo) {
    await withClone(context, async () => checkRepository(await openGit(context, '', repo), repo));
    // The clone has the branches of the repository used until now.
    await removeClone(context);
  }
  const wanted = known === undefined ? GIT_FOLDER : undefined;
  const { folder } = await setUp(context, wanted, undefined, () => Promise.resolve(wanted !== undefined));
  const result = await exchangeThrough(context, folder ?? '', repo);
  const before = await leaveRepo(context, repo);
  await setKeys(context, { 'sync.engine': 'git', 'sync.repo': repo });
  return { ...result, folder, before };
}

/** Removes the published files of another machine. In a dry run, returns the machine that would be removed. */
export async function forget(context: Context, wanted: string, dryRun: boolean) {
  const { folder, locked } = await openSync(context);
  if (folder === undefined) throw noFolder();
  const found = findMachine(folder, wanted, knownMachineId());
  if (dryRun) return { ...found, dryRun };
  // Delete from the git repository first; otherwise the next exchange would restore the files.
  await forgetInGit(context, found.id);
  await locked(() => {
    removeFolder(found.path);
    keepCopy(folder, copyFolder(context.area.machine));
  });
  return { ...found, dryRun };
}

/**
 * Returns the files that publishing with these settings would write. Also returns the file
 * that `show` names.
 */
export async function plan(
  context: Context,
  { folder: path, details: wantsDetails }: { folder?: string | undefined; details?: boolean | undefined },
  show: string | undefined,
): Promise<{ plan: SyncPlan; file: { path: string; text: string } | undefined }> {
  const at = folderAt(path);
  if (at !== undefined) checkFolder(at, [context.area.root, context.area.machine]);
  const wanted = definedOnly({ folder: at, details: wantsDetails });
  const { folder, details, deps } = await openSync(context, wanted);
  const rows = await openOwnRows(context, details);
  const text = JSON.stringify(rows);
  const live = { path: 'live.json', text, bytes: Buffer.byteLength(text), change: 'new' as const };
  const settings = readState(deps.state).settings === true ? [await planSettings(context, deps)] : [];
  // The daemon writes live.json while sessions run.
  const files = [...planFiles(deps), ...settings, ...(rows.length === 0 ? [] : [live])];
  const machine = `machines/${deps.machine.id}`;
  const name = show?.replaceAll('\\', '/').replace(`${machine}/`, '');
  const file = files.find(({ path }) => path === name);
  if (name !== undefined && file === undefined) {
    throw new StewardError('not_found', `File ${JSON.stringify(show)} not found in the plan.`, {
      hint: `Use a path that "steward sync setup --dry-run" lists, such as machine.json.`,
    });
  }
  return {
    plan: planOf(files, { folder: folder ?? null, machine, details }),
    file: file && { path: file.path, text: file.text },
  };
}

async function planSettings(context: Context, deps: SyncContext['deps']): Promise<PlannedFile> {
  const { text } = await planShared(await openSharing(context, deps.folder).open());
  return plannedFile(machineFolderOf(deps), SHARED_FILE, text);
}

/** Returns the sync status. `isDeep` also reads every file in the exchange folder. */
export async function status(context: Context, isDeep: boolean): Promise<SyncStatus> {
  const { user } = (await context.loadConfig()).config;
  const found = syncStatus({
    ...user.sync,
    timezone: user.timezone,
    isDeep,
    nowMs: context.clock.now(),
    shared: join(context.area.machine, KNOWN_FILE),
    state: withFolder(readState(stateFile(context.area)), user.sync.folder),
    ownId: knownMachineId(),
  });
  const pendingFormer = await pendingFormerOf(context);
  const localTime = localTimes(context.clock, user.timezone);
  return { ...found, pendingFormer, engine: await engineStatus(context, user.sync, isDeep, localTime) };
}

/** Publishes a saved change. If the exchange folder is unavailable, a later run publishes the change. */
async function republish(context: Context): Promise<SyncChange> {
  const { folder = null, details } = (await context.loadConfig()).config.user.sync;
  const none = { files: 0, bytes: 0 };
  try {
    return { ...((await publishNow(context)) ?? none), folder, details };
  } catch (error) {
    const { kind, message, hint } = toStewardError(error);
    if (kind !== 'unavailable') throw error;
    return { ...none, folder, details, problem: message, ...(hint === undefined ? {} : { hint }) };
  }
}
