import { marksOf } from '../platform/files/stat';
import { VERSION } from '../platform/version';
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
  /** How much of a matching prompt to store; `off` without work tracking. */
  capture: 'off' | WorkConfig['CAPTURE_PROMPT'];
}

/** Settings for hooks and the status line, cached because loading YAML takes 18 ms. */
interface Mirror {
  /** The marks of the files at load time. */
  marks: string;
  settings: HookSettings;
}

/** Named by the version, because another version may keep other settings. */
const MIRROR = `settings-${VERSION}`;

const DEFAULTS: HookSettings = {
  tab: true,
  tellAssistant: false,
  titles: false,
  daName: 'DA',
  timezone: null,
  capture: 'off',
};

/** Returns the cached settings, or undefined if config.yaml or an older file of work tracking has changed. */
export function cachedHookSettings(area: UserArea): HookSettings | undefined {
  const marks = marksHere(area);
  if (marks === NO_FILES) return DEFAULTS;
  const mirror = readCache<Mirror>(MIRROR, area);
  return mirror?.marks === marks ? mirror.settings : undefined;
}

const NO_FILES = '-\n-\n-\n';

function marksHere(area: UserArea): string {
  return marksOf([area.config, area.work.config, area.work.repo]).text;
}

/**
 * Returns the settings. Reloads them if config.yaml has changed. Throws `config` if the configuration is
 * invalid.
 */
export async function hookSettings(context: { area: UserArea; loadConfig: () => Promise<LoadedConfig> }) {
  const { area, loadConfig } = context;
  const cached = cachedHookSettings(area);
  if (cached !== undefined) return cached;
  // Read the file metadata before the contents, so that a concurrent change invalidates the cache.
  const marks = marksHere(area);
  const { user, work, workRepo } = (await loadConfig()).config;
  const { tab, tellAssistant, titles } = user.sessions;
  const capture = workRepo.repo === undefined || !workRepo.enabled ? 'off' : work.CAPTURE_PROMPT;
  const settings: HookSettings = {
    tab,
    tellAssistant,
    titles,
    capture,
    daName: user.da.name,
    timezone: user.timezone,
  };
  writeCache(MIRROR, area, { marks, settings });
  return settings;
}
