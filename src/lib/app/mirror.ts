import { dirname, join } from 'node:path';

import type { WorkConfig } from '../config/schema';
import type { UserArea } from '../config/user-area';
import { StewardError, type ErrorBody, throwIfBug, orElse } from '../errors';
import { readText, replaceFile, sweepTemps } from '../platform/files/atomic-file';
import { ensureFolder } from '../platform/files/folder';
import { isObject, parseObject } from '../platform/files/json-object';
import { cachePath } from '../platform/files/paths';
import { shortHash } from '../platform/files/short-hash';
import { markOfTarget } from '../platform/files/stat';
import type { LocalAnswer, LocalRequest } from '../platform/net/local-http';
import { systemClock } from '../platform/time/clock';
import type { Context } from './context';

/** The settings that hooks and the status line need. */
export interface HookSettings {
  tab: boolean;
  tellAssistant: boolean;
  /** Whether to store the first line of a session's first prompt. */
  titles: boolean;
  /** The assistant's name. The last line of a response may start with this name. */
  daName: string;
  /** The folder with the session files. */
  sessions: string;
  workEvents: string;
  /** The configured time zone; null for the system's time zone. */
  timezone: string | null;
}

/** How much of a matching prompt to store. */
export type PromptSetting = WorkConfig['CAPTURE_PROMPT'];

/** Settings for hooks and the status line, cached because loading YAML takes 18 ms. */
interface Mirror {
  /**
   * Inode, size and modification time of config.yaml and work/config.yaml at load time; null for a missing
   * file.
   */
  user: string | null;
  work: string | null;
  settings: HookSettings;
  prompt: PromptSetting;
}

const MIRROR = 'settings';

/** Returns the cached settings, or undefined if config.yaml has changed. */
export function cachedHookSettings(area: UserArea): HookSettings | undefined {
  const mark = markOfTarget(area.config);
  if (mark === undefined) {
    const { sessions, workEvents } = area;
    return {
      tab: true,
      tellAssistant: false,
      titles: false,
      daName: 'DA',
      sessions,
      workEvents,
      timezone: null,
    };
  }
  const mirror = readCache<Mirror>(MIRROR, area);
  return mirror?.user === mark && isSettings(mirror.settings) ? mirror.settings : undefined;
}

/** Returns the cached prompt setting, or undefined if work/config.yaml has changed. */
export function cachedPromptSetting(area: UserArea): PromptSetting | undefined {
  const mark = markOfTarget(area.work.config);
  if (mark === undefined) return 'line';
  const { work, prompt } = readCache<Mirror>(MIRROR, area) ?? {};
  return work === mark && (prompt === 'line' || prompt === 'whole') ? prompt : undefined;
}

type Loader = Pick<Context, 'area' | 'loadConfig'>;

/**
 * Returns the settings. Reloads them if config.yaml has changed. Throws `config` if the configuration is
 * invalid.
 */
export async function hookSettings(context: Loader): Promise<HookSettings> {
  return cachedHookSettings(context.area) ?? (await loadMirror(context)).settings;
}

/** Returns the prompt setting, or `line` if the configuration is invalid. */
export async function promptSetting(context: Loader): Promise<PromptSetting> {
  try {
    return cachedPromptSetting(context.area) ?? (await loadMirror(context)).prompt;
  } catch (error) {
    throwIfBug(error);
    return 'line';
  }
}

async function loadMirror(context: Loader): Promise<Mirror> {
  const { area } = context;
  // Read the file metadata before the contents, so that a concurrent change invalidates the cache.
  const marks = { user: markOfTarget(area.config) ?? null, work: markOfTarget(area.work.config) ?? null };
  const { user, work } = (await context.loadConfig()).config;
  const { tab, tellAssistant, titles } = user.sessions;
  const { sessions, workEvents } = user.paths;
  const settings = {
    tab,
    tellAssistant,
    titles,
    daName: user.da.name,
    sessions,
    workEvents,
    timezone: user.timezone,
  };
  const mirror = { ...marks, settings, prompt: work.CAPTURE_PROMPT };
  writeCache(MIRROR, area, mirror);
  return mirror;
}

function isSettings(value: unknown): value is HookSettings {
  if (!isObject(value)) return false;
  const hasType = (type: string, ...keys: string[]): boolean =>
    keys.every((key) => typeof value[key] === type);
  return (
    hasType('boolean', 'tab', 'tellAssistant', 'titles') &&
    hasType('string', 'daName', 'sessions', 'workEvents') &&
    (value['timezone'] === null || hasType('string', 'timezone'))
  );
}

/** Age in ms after which a temp file in the cache folder is deleted as abandoned. */
const TEMPS_STALE_MS = 60_000;

/** Reads the user area's cache entry, or returns undefined if the entry is missing or unreadable. */
export function readCache<T>(name: string, area: UserArea): Partial<T> | undefined {
  return orElse(
    undefined,
    () => parseObject(readText(fileOf(name, area), { maxBytes: 64 * 1024 }) ?? '') as Partial<T> | undefined,
  );
}

/** Stores a cache entry for later runs. Ignores write errors: the hook must still store its event. */
export function writeCache(name: string, area: UserArea, value: object): void {
  orElse(undefined, () => {
    const path = fileOf(name, area);
    ensureFolder(dirname(path));
    sweepTemps(dirname(path), TEMPS_STALE_MS, systemClock().now());
    replaceFile(path, `${JSON.stringify(value)}\n`);
  });
}

function fileOf(name: string, area: UserArea): string {
  return join(cachePath(), `${name}-${shortHash(area.own)}.json`);
}

/** Caches the path of the daemon's socket, because computing it takes longer than a request. */
export function cacheSocket(area: UserArea, socket: string): void {
  writeCache('daemon', area, { root: area.root, socket });
}

/** Returns the socket path of the user area's last daemon, which may no longer be running. */
export function cachedSocket(area: UserArea): string | undefined {
  const { root, socket } = readCache<{ root: string; socket: string }>('daemon', area) ?? {};
  return root === area.root && typeof socket === 'string' ? socket : undefined;
}

const TIMEOUT_MS = 5_000;

/** Sends a request to the daemon. Returns undefined if no daemon responds. Rethrows the daemon's errors. */
export async function askAt<T>(
  ask: (request: LocalRequest) => Promise<LocalAnswer | undefined>,
  socket: string,
  request: Pick<LocalRequest, 'method' | 'path' | 'body'>,
): Promise<T | undefined> {
  const answer = await ask({ socket, timeoutMs: TIMEOUT_MS, ...request });
  if (answer === undefined) return undefined;
  if (answer.status < 400) return answer.json as T;
  const { kind, message, hint } = (answer.json as ErrorBody).error;
  throw new StewardError(kind, message, hint === undefined ? {} : { hint });
}
