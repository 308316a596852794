import { join } from 'node:path';

import { StewardError } from '../errors';
import type { PathHost } from '../platform/files/paths';
import { parseObject, isObject, textOf } from '../platform/files/json-object';
import { realPath } from '../platform/files/stat';
import { readSystemText } from '../platform/files/system-files';
import type { OriginClient } from '../platform/net/origin-client';
import { forShell } from '../platform/process/spawn';
import { cleanLine } from '../platform/terminal/terminal';

/** The folder's id in Syncthing, which is the same on all machines. */
const FOLDER_ID = 'steward-exchange';
const MAX_CONFIG_BYTES = 1024 * 1024;
const LIMITS = { timeoutMs: 10_000, maxBytes: 4 * 1024 * 1024 };

/** Reads Syncthing's URL and API key from its configuration file. Returns undefined if they are missing. */
export function findSyncthing({ platform, env, home }: PathHost) {
  const folders = [
    env['STHOMEDIR'],
    env['STCONFDIR'],
    platform === 'darwin' ? join(home, 'Library', 'Application Support', 'Syncthing') : undefined,
    platform === 'win32' ? join(env['LOCALAPPDATA'] ?? home, 'Syncthing') : undefined,
    join(env['XDG_STATE_HOME'] ?? join(home, '.local', 'state'), 'syncthing'),
    join(env['XDG_CONFIG_HOME'] ?? join(home, '.config'), 'syncthing'),
  ];
  for (const folder of folders) {
    if (folder === undefined || folder === '') continue;
    const text = readSystemText(join(folder, 'config.xml'), MAX_CONFIG_BYTES) ?? '';
    const gui = text.split('<gui ')[1]?.split('</gui>')[0] ?? '';
    const address = /<address>([^<]+)<\/address>/.exec(gui)?.[1];
    const apiKey = /<apikey>([\w-]+)<\/apikey>/.exec(gui)?.[1];
    if (address === undefined || apiKey === undefined) continue;
    const scheme = gui.split('>')[0]?.includes('tls="true"') === true ? 'https' : 'http';
    return { url: `${scheme}://${address.replace(/^(?:0\.0\.0\.0|\[::\])?:/, '127.0.0.1:')}`, apiKey };
  }
  return undefined;
}

export type SyncthingApi = ReturnType<typeof syncthingApi>;

export function syncthingApi(client: Pick<OriginClient, 'request'>, apiKey: string) {
  const headers = { 'x-api-key': apiKey };
  const call = async (
    method: 'GET' | 'POST',
    path: string,
    query: Readonly<Record<string, string>> = {},
    body?: unknown,
  ): Promise<string> => {
    const request = { method, path: `/rest/${path}`, query: Object.entries(query), headers, ...LIMITS };
    const answer = await client.request({ ...request, ...(body !== undefined && { body }) });
    if (answer.status === 200) return answer.text;
    throw new StewardError(
      'unavailable',
      `Syncthing returned status ${answer.status}: ${cleanLine(answer.text, 200)}`,
      { hint: "Check in Syncthing's web interface that its version is 1.12 or later." },
    );
  };
  return {
    get: (path: string, query?: Readonly<Record<string, string>>) => call('GET', path, query),
    post: (path: string, body: unknown, query?: Readonly<Record<string, string>>) =>
      call('POST', path, query, body),
  };
}

interface FolderConfig {
  id: string;
  path: string;
  devices: string[];
}

async function foldersOf(api: SyncthingApi): Promise<FolderConfig[]> {
  return list(await api.get('config/folders')).flatMap((folder) => {
    const [id, path] = [textOf(folder['id']), textOf(folder['path'])];
    if (id === undefined || path === undefined) return [];
    const devices = Array.isArray(folder['devices']) ? (folder['devices'] as unknown[]) : [];
    return [
      { id, path, devices: devices.flatMap((one) => (isObject(one) ? (textOf(one['deviceID']) ?? []) : [])) },
    ];
  });
}

function list(text: string): Record<string, unknown>[] {
  const value: unknown = JSON.parse(text);
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function folderFor(folders: readonly FolderConfig[], path: string): FolderConfig | undefined {
  const real = realPath(path) ?? path;
  return folders.find((folder) => {
    const root = realPath(folder.path) ?? folder.path;
    return real === root || real.startsWith(join(root, '/'));
  });
}

export type Connected = Awaited<ReturnType<typeof connectSyncthing>>;

/**
 * Adds the exchange folder to Syncthing unless it is already synced. Shares the folder with all known
 * devices, and syncs only files that steward writes.
 */
export async function connectSyncthing(api: SyncthingApi, path: string) {
  const me = textOf(parseObject(await api.get('system/status'))?.['myID']);
  const devices = list(await api.get('config/devices')).filter(({ deviceID }) => deviceID !== me);
  const folders = await foldersOf(api);
  const synced = folderFor(folders, path);
  const namesOf = (ids: readonly string[]): string[] =>
    devices
      .filter(({ deviceID }) => ids.includes(String(deviceID)))
      .map(({ name, deviceID }) => cleanLine(textOf(name) ?? String(deviceID).slice(0, 7), 60));
  if (synced !== undefined) return { folder: synced.id, devices: namesOf(synced.devices), added: false };
  const taken = folders.find(({ id }) => id === FOLDER_ID);
  if (taken !== undefined) {
    throw new StewardError('conflict', `Syncthing already uses the id ${FOLDER_ID} for ${taken.path}.`, {
      hint: `Remove that folder in Syncthing, or use it: steward sync setup ${forShell(taken.path)}`,
    });
  }
  const ids = devices.map(({ deviceID }) => String(deviceID));
  const folder = { id: FOLDER_ID, label: 'steward', path, fsWatcherEnabled: true, fsWatcherDelayS: 5 };
  const shared = [...(me === undefined ? [] : [me]), ...ids].map((deviceID) => ({ deviceID }));
  await api.post('config/folders', { ...folder, devices: shared });
  const ignore = ['(?d).*.tmp', '!/machines', '*'];
  await api.post('db/ignores', { ignore }, { folder: FOLDER_ID });
  return { folder: FOLDER_ID, devices: namesOf(ids), added: true };
}

export type SyncthingStatus = Awaited<ReturnType<typeof syncthingStatus>>;

export async function syncthingStatus(api: SyncthingApi, path: string) {
  const none = { state: null, needBytes: 0, errors: 0, connected: 0, devices: 0 };
  const synced = folderFor(await foldersOf(api), path);
  if (synced === undefined) return none;
  const status = parseObject(await api.get('db/status', { folder: synced.id }));
  const { connections } = parseObject(await api.get('system/connections')) ?? {};
  const me = textOf(parseObject(await api.get('system/status'))?.['myID']);
  const peers = Object.entries(isObject(connections) ? connections : {}).filter(
    ([id]) => id !== me && synced.devices.includes(id),
  );
  return {
    state: textOf(status?.['state']) ?? 'unknown',
    needBytes: Number(status?.['needBytes'] ?? 0),
    errors: Number(status?.['errors'] ?? 0),
    connected: peers.filter(([, peer]) => isObject(peer) && peer['connected'] === true).length,
    devices: peers.length,
  };
}
