import { dirname, join } from 'node:path';

import type { LoadedConfig } from '../config/load';
import type { WorkConfig } from '../config/schema';
import type { UserArea } from '../config/user-area';
import { toStewardError } from '../errors';
import { readText, replaceFile, sweepTemps } from '../platform/files/atomic-file';
import { systemClock } from '../platform/time/clock';
import { ensureFolder } from '../platform/files/folder';
import { parseObject } from '../platform/files/json-object';
import { cachePath } from '../platform/files/paths';
import { shortHash } from '../platform/files/short-hash';
import { markOfTarget } from '../platform/files/stat';
import type { Context } from './context';

/** No run writes its file for so long. */
const TEMPS_STALE_MS = 60_000;

/** The few values of config.yaml that a hook or a status line needs. */
export interface HookSettings {
  tab: boolean;
  tellAssistant: boolean;
  /** Is the first line of a session's first prompt kept? */
  titles: boolean;
  /** Folder of the artifacts. */
  sessions: string;
  workEvents: string;
  /** Null: the system's. */
  timezone: string | null;
}

/** How much of a prompt is kept in which something matched. */
export type PromptSetting = WorkConfig['CAPTURE_PROMPT'];

/** The one copy of settings that is kept for runs without the configuration's loader, whose YAML library costs 18 ms. */
interface Mirror {
  /** The marks of config.yaml and work/config.yaml when they were loaded; null where there is none. */
  user: string | null;
  work: string | null;
  settings: HookSettings;
  prompt: PromptSetting;
}

const MIRROR = 'settings';

/** The settings as they were kept; undefined when config.yaml has changed since: then the loader is asked. */
export function keptHookSettings(area: UserArea): HookSettings | undefined {
  const mark = markOfTarget(area.config);
  if (mark === undefined) {
    const { sessions, workEvents } = area;
    return { tab: true, tellAssistant: false, titles: false, sessions, workEvents, timezone: null };
  }
  const kept = readKept<Mirror>(MIRROR, area);
  return kept?.user === mark && isSettings(kept.settings) ? kept.settings : undefined;
}

/** The same of work/config.yaml. */
export function keptPromptSetting(area: UserArea): PromptSetting | undefined {
  const mark = markOfTarget(area.work.config);
  if (mark === undefined) return 'line';
  const { work, prompt } = readKept<Mirror>(MIRROR, area) ?? {};
  return work === mark && (prompt === 'line' || prompt === 'whole') ? prompt : undefined;
}

type Loading = Pick<Context, 'area' | 'loadConfig'>;

/** The settings, from the loader where config.yaml has changed since they were kept. A broken one is `config`. */
export async function hookSettings(context: Loading): Promise<HookSettings> {
  return keptHookSettings(context.area) ?? (await loadedMirror(context)).settings;
}

/** The same; where the loader cannot read the configuration, the line is enough. */
export async function promptSetting(context: Loading): Promise<PromptSetting> {
  try {
    return keptPromptSetting(context.area) ?? (await loadedMirror(context)).prompt;
  } catch (error) {
    if (toStewardError(error).kind === 'internal') throw error;
    return 'line';
  }
}

/** Loads the configuration and keeps what hooks need of it. */
async function loadedMirror(context: Loading): Promise<Mirror> {
  const { area } = context;
  // Before the files are read: what is written meanwhile makes the mirror stale.
  const marks = {
    user: markOfTarget(area.config) ?? null,
    work: markOfTarget(area.work.config) ?? null,
  };
  const mirror = { ...marks, ...mirrored((await context.loadConfig()).config) };
  keep(MIRROR, area, mirror);
  return mirror;
}

function mirrored({ user, work }: LoadedConfig['config']): Pick<Mirror, 'settings' | 'prompt'> {
  const { sessions, paths, timezone } = user;
  return {
    settings: {
      tab: sessions.tab,
      tellAssistant: sessions.tellAssistant,
      titles: sessions.titles,
      sessions: paths.sessions,
      workEvents: paths.workEvents,
      timezone,
    },
    prompt: work.CAPTURE_PROMPT,
  };
}

function isSettings(value: unknown): value is HookSettings {
  if (typeof value !== 'object' || value === null) return false;
  const { tab, tellAssistant, titles, sessions, workEvents, timezone } = value as Partial<HookSettings>;
  return (
    typeof tab === 'boolean' &&
    typeof tellAssistant === 'boolean' &&
    typeof titles === 'boolean' &&
    typeof sessions === 'string' &&
    typeof workEvents === 'string' &&
    (timezone === null || typeof timezone === 'string')
  );
}

/** Something of the user area in the cache folder; undefined when it is not there, unreadable, or no JSON. */
export function readKept<T>(name: string, area: UserArea): Partial<T> | undefined {
  try {
    return parseObject(readText(fileOf(name, area), { maxBytes: 64 * 1024 }) ?? '') as Partial<T> | undefined;
  } catch (error) {
    // The same as for writing: what it was made of is asked again.
    if (toStewardError(error).kind === 'internal') throw error;
    return undefined;
  }
}

/** Keeps it for the next run. Where the cache folder cannot be written, the next run makes it again. */
export function keep(name: string, area: UserArea, value: object): void {
  try {
    const path = fileOf(name, area);
    ensureFolder(dirname(path));
    sweepTemps(dirname(path), TEMPS_STALE_MS, systemClock().now());
    replaceFile(path, `${JSON.stringify(value)}\n`);
  } catch (error) {
    // A cache is worth some milliseconds: a hook must not lose its event for it, nor a line of status its line.
    if (toStewardError(error).kind === 'internal') throw error;
  }
}

function fileOf(name: string, area: UserArea): string {
  return join(cachePath(), `${name}-${shortHash(area.root)}.json`);
}
