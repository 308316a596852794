import { join, relative } from 'node:path';

import type { UserConfig } from '../config/schema';
import type { Machine } from '../config/user-area';
import { StewardError, throwIfBug, toStewardError } from '../errors';
import { replaceFile } from '../platform/files/atomic-file';
import { textOf } from '../platform/files/json-object';
import { readObject } from '../platform/files/object-file';
import { processHost } from '../platform/files/paths';
import { parseIso, toIso } from '../platform/time/clock';
import { damagedText } from './checks';
import { withClone } from './clone';
import { aboutFolder } from './folder';
import { exchangeByGit, type GitExchange } from './git';
import { endPurge } from './notes';
import { readState, writeState } from './state';
import { withForeign } from './writer';
import type { SyncContext } from './publish';
import type { EngineStatus } from './status';
import {
  findSyncthing,
  syncthingApi,
  syncthingStatus,
  type SyncthingApi,
  type SyncthingStatus,
} from './syncthing';

const EXCHANGE_MS = 30 * 60_000;

interface ExchangeDeps {
  machine: Machine;
  folder: string;
  repo: string;
  /** Whether the configuration names this repository, and not one that is tried or left. */
  isChosen: boolean;
  sync: () => Promise<SyncContext>;
  git: () => Promise<GitExchange>;
}

/** Returns whether the last exchange through git was at least half an hour ago. */
export function isExchangeDue({ area, clock }: Pick<Machine, 'area' | 'clock'>): boolean {
  const last = parseIso(readExchange(area.machine).at ?? '') ?? 0;
  return Math.abs(clock.now() - last) >= EXCHANGE_MS;
}

/** Exchanges the folder's files through git. Stores when, and any problem, for `steward status`. */
export async function exchange(deps: ExchangeDeps): Promise<{ received: string[]; sent: boolean }> {
  const { machine, folder, repo } = deps;
  const note = (change: Partial<Exchange>): void =>
    replaceFile(exchangeFile(machine.area.machine), `${JSON.stringify(change)}\n`);
  const at = toIso(machine.clock.now());
  try {
    const git = await deps.git();
    const sync = await deps.sync();
    const before = readState(sync.deps.state);
    const damaged: { path: string; reason: string }[] = [];
    const onDamaged = (path: string, reason: string): unknown =>
      damaged.push({ path: relative(folder, path), reason });
    const onForeign = () =>
      sync.locked(() => writeState(sync.deps.state, withForeign(readState(sync.deps.state), Date.parse(at))));
    const result = await withClone(machine, () => exchangeByGit({ ...git, onDamaged, onForeign }));
    // The last exchange with a repository that is left, when no folder is set, doesn't end a purge.
    if (sync.folder !== undefined) await endPurge(sync, repo, before);
    note({ at, damaged: damagedText({ damaged }) });
    return result;
  } catch (error) {
    const known = aboutFolder(folder, error);
    const { kind, message } = toStewardError(known);
    if (kind !== 'internal' && deps.isChosen) note({ at, problem: message });
    throw known;
  }
}

/** Returns the sync engine's state, or null if no engine is set. Queries Syncthing only if `mayAsk` is true. */
export async function engineStatus(
  { area }: Pick<Machine, 'area'>,
  { folder, engine, repo }: UserConfig['sync'],
  mayAsk: boolean,
  localTime: (iso: string) => string,
): Promise<EngineStatus | null> {
  if (engine === 'none' || folder === undefined) return null;
  if (engine === 'git') {
    const { at, problem, damaged } = readExchange(area.machine);
    const found = [repo ?? '', at === undefined ? 'no exchange yet' : `last exchange ${localTime(at)}`];
    if (damaged !== undefined) found.push(`not received: ${damaged}`);
    return { engine, found: problem ?? found.join(', '), problem: (problem ?? damaged) !== undefined };
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

type Exchange = ReturnType<typeof readExchange>;

function readExchange(machine: string) {
  const { at, problem, damaged } = readObject(exchangeFile(machine)) ?? {};
  return { at: textOf(at), problem: textOf(problem), damaged: textOf(damaged) };
}

function exchangeFile(machine: string): string {
  return join(machine, 'exchange.json');
}

/** Opens the API of this user's Syncthing. Throws `not_found` if Syncthing isn't installed. */
export async function withSyncthing<T>(use: (api: SyncthingApi) => Promise<T>): Promise<T> {
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
