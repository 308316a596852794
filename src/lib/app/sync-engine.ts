import { join, relative } from 'node:path';

import { StewardError, toStewardError, throwIfBug } from '../errors';
import { readText, replaceFile } from '../platform/files/atomic-file';
import { isObject, parseObject, textOf } from '../platform/files/json-object';
import { processHost } from '../platform/files/paths';
import { parseIso, toIso } from '../platform/time/clock';
import { damagedText } from '../sync/checks';
import { aboutFolder, noFolder } from '../sync/folder';
import { exchangeByGit, removeFromGit, type GitExchange } from '../sync/git';
import { readState } from '../sync/state';
import {
  connectSyncthing,
  findSyncthing,
  syncthingApi,
  syncthingStatus,
  type Connected,
  type SyncthingApi,
  type SyncthingStatus,
} from '../sync/syncthing';
import type { EngineStatus } from '../sync/status';
import type { Context } from './context';
import { endPurge, endRetirement, noteForeign, noteFormer, prepareAdopted } from './sync';
import { cloneFolder, removeClone, withClone } from '../sync/clone';
import { changeSync, stateFile } from './sync-settings';

const EXCHANGE_MS = 30 * 60_000;

/** Switches the exchange folder to Syncthing. `before` is the git repository used until now. */
export async function useSyncthing(context: Context): Promise<Connected & { before: string | null }> {
  const folder = await folderOf(context);
  const connected = await withSyncthing((api) => connectSyncthing(api, folder));
  const before = await leaveRepo(context);
  await changeSync(context, { engine: 'syncthing', repo: undefined });
  await removeClone(context);
  return { ...connected, before };
}

/** Records the git repository used until now, unless it is `next`, and returns it. */
export async function leaveRepo(context: Context, next?: string): Promise<string | null> {
  const { engine, repo } = (await context.loadConfig()).config.user.sync;
  if (engine !== 'git' || repo === undefined || repo === next) return null;
  await noteFormer(context, repo);
  return repo;
}

/**
 * Switches the exchange folder to git. Checks that the repository is private, and runs the first exchange.
 * `before` is another repository that was used until now.
 */
export async function useGit(
  context: Context,
  repo: string,
): Promise<{ received: string[]; sent: boolean; before: string | null }> {
  const folder = await folderOf(context);
  const result = await exchange(context, folder, repo);
  const before = await leaveRepo(context, repo);
  await changeSync(context, { engine: 'git', repo });
  return { ...result, before };
}

/** Runs an exchange if the engine is git and the last exchange was at least half an hour ago. */
export async function exchangeWhenDue(context: Context): Promise<void> {
  const { folder, repo, engine } = (await context.loadConfig()).config.user.sync;
  if (engine !== 'git' || folder === undefined || repo === undefined) return;
  const last = parseIso(readExchange(context).at ?? '') ?? 0;
  if (Math.abs(context.clock.now() - last) < EXCHANGE_MS) return;
  await exchange(context, folder, repo);
}

/** Returns the sync engine's state, or null if no engine is set. Queries Syncthing only if `mayAsk` is true. */
export async function engineStatus(context: Context, mayAsk: boolean): Promise<EngineStatus | null> {
  const { folder, engine, repo } = (await context.loadConfig()).config.user.sync;
  if (engine === 'none' || folder === undefined) return null;
  if (engine === 'git') {
    const { at, problem, damaged } = readExchange(context);
    const found = [repo ?? '', at === undefined ? 'no exchange yet' : `last exchange ${at}`];
    if (damaged !== undefined) found.push(`not received: ${damaged}`);
    const isWrong = problem !== undefined || damaged !== undefined;
    return { engine, found: problem?.message ?? found.join(', '), problem: isWrong };
  }
  if (!mayAsk) return { engine, found: 'not checked', problem: false };
  try {
    return { engine, ...syncthingWords(await withSyncthing((api) => syncthingStatus(api, folder))) };
  } catch (error) {
    const { message } = throwIfBug(error);
    return { engine, found: message, problem: true };
  }
}

function syncthingWords(status: SyncthingStatus): Pick<EngineStatus, 'found' | 'problem'> {
  const { state, needBytes, errors, connected, devices } = status;
  if (state === null) return { found: 'Syncthing does not share this folder', problem: true };
  const parts = [
    state,
    needBytes === 0 ? 'up to date' : `${needBytes} bytes to receive`,
    `${connected} of ${devices} devices connected`,
    ...(errors === 0 ? [] : [`${errors} errors`]),
  ];
  return { found: parts.join(', '), problem: errors > 0 || state === 'error' };
}

interface Exchange {
  at?: string;
  problem?: { message: string };
  /** The files that the last exchange could not receive. */
  damaged?: string;
}

function readExchange({ area }: Context): Exchange {
  const { at, problem, damaged } = parseObject(readText(exchangeFile(area.machine)) ?? '') ?? {};
  const message = isObject(problem) ? textOf(problem['message']) : undefined;
  return {
    ...(typeof at === 'string' && { at }),
    ...(message !== undefined && { problem: { message } }),
    ...(typeof damaged === 'string' && { damaged }),
  };
}

function exchangeFile(machine: string): string {
  return join(machine, 'exchange.json');
}

/** Deletes a machine's files from the repository, if git is the sync engine. */
export async function forgetInGit(context: Context, id: string): Promise<void> {
  const { sync } = (await context.loadConfig()).config.user;
  if (sync.engine !== 'git' || sync.folder === undefined || sync.repo === undefined) return;
  await removeBranch(context, sync.repo, id);
}

/** Deletes a machine's files from a repository. */
export async function removeBranch(context: Context, repo: string, id: string): Promise<void> {
  const git = await openGit(context, '', repo, { mayBePublic: true });
  await withClone(context, () => removeFromGit(git, id));
}

async function exchange(
  context: Context,
  folder: string,
  repo: string,
): Promise<{ received: string[]; sent: boolean }> {
  const note = (change: Exchange): void =>
    replaceFile(exchangeFile(context.area.machine), `${JSON.stringify(change)}\n`);
  const at = toIso(context.clock.now());
  try {
    const git = await openGit(context, folder, repo);
    const before = readState(stateFile(context.area));
    const adopted = await prepareAdopted(context);
    const damaged: { path: string; reason: string }[] = [];
    const onDamaged = (path: string, reason: string): unknown =>
      damaged.push({ path: relative(folder, path), reason });
    const result = await withClone(context, () =>
      exchangeByGit({ ...git, adopted, onDamaged, onForeign: () => noteForeign(context) }),
    );
    await endRetirement(context, adopted);
    await endPurge(context, repo, before);
    const text = damagedText({ damaged });
    note({ at, ...(text !== undefined && { damaged: text }) });
    return result;
  } catch (error) {
    const known = aboutFolder(folder, error);
    const { kind, message } = toStewardError(known);
    if (kind !== 'internal') note({ at, problem: { message } });
    throw known;
  }
}

async function openGit(
  context: Context,
  folder: string,
  repo: string,
  { mayBePublic = false } = {},
): Promise<GitExchange> {
  const { openWork } = await import('./work');
  const { deps } = await openWork(context);
  const found = await (await deps.host()).repository(repo);
  if (found.visibility !== 'private' && !mayBePublic) {
    throw new StewardError('conflict', `${found.repo} is ${found.visibility}, so nothing was pushed.`, {
      hint: 'Make the repository private, use a different one, or delete the data already published: steward sync leave --remove',
    });
  }
  return {
    git: deps.git,
    remote: await deps.remote(repo),
    folder,
    machineId: context.machineId,
    clone: cloneFolder(context),
  };
}

async function folderOf(context: Context): Promise<string> {
  const { folder } = (await context.loadConfig()).config.user.sync;
  if (folder === undefined) throw noFolder();
  return folder;
}

async function withSyncthing<T>(use: (api: SyncthingApi) => Promise<T>): Promise<T> {
  const access = findSyncthing(processHost());
  if (access === undefined) {
    throw new StewardError('not_found', 'Syncthing not found for this user.', {
      hint: 'Install and start Syncthing (Debian: apt-get install syncthing), then rerun the command.',
    });
  }
  const { openOrigin } = await import('../platform/net/origin-client');
  const words = { name: 'Syncthing at', hint: 'Start Syncthing, then retry.' };
  const client = await openOrigin(access.url, words);
  try {
    return await use(syncthingApi(client, access.apiKey));
  } finally {
    await client.close();
  }
}
