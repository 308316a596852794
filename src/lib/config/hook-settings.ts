import { throwIfBug } from '../errors';
import { isObject } from '../platform/files/json-object';
import { markOfTarget } from '../platform/files/stat';
import { readCache, writeCache } from './area-cache';
import type { LoadedConfig } from './load';
import type { WorkConfig } from './schema';
import type { UserArea } from './user-area';

/** The settings that hooks and the status line need. */
export interface HookSettings {
  tab: boolean;
  tellAssistant: boolean;
  /** Whether to store the first line of a session's first prompt. */
  titles: boolean;
  /** The assistant's name. The last line of a response may start with this name. */
  daName: string;
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
    return { tab: true, tellAssistant: false, titles: false, daName: 'DA', timezone: null };
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

interface Loader {
  area: UserArea;
  loadConfig: () => Promise<LoadedConfig>;
}

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
  const settings = { tab, tellAssistant, titles, daName: user.da.name, timezone: user.timezone };
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
    hasType('string', 'daName') &&
    (value['timezone'] === null || hasType('string', 'timezone'))
  );
}
