import { dirname, join } from 'node:path';

import type { UserConfig } from '../config/schema';
import type { UserArea } from '../config/user-area';
import { toStewardError } from '../errors';
import { readText, replaceFile, sweepTemps } from '../platform/files/atomic-file';
import { systemClock } from '../platform/time/clock';
import { ensureFolder } from '../platform/files/folder';
import { parseObject } from '../platform/files/json-object';
import { cachePath } from '../platform/files/paths';
import { shortHash } from '../platform/files/short-hash';
import { markOfTarget } from '../platform/files/stat';

/** No run writes its file for so long. */
const TEMPS_STALE_MS = 60_000;

/** The few values of the configuration that a hook or a status line needs. */
export interface HookSettings {
  tab: boolean;
  tellAssistant: boolean;
  /** Folder of the artifacts. */
  sessions: string;
  workEvents: string;
  /** Null: the system's. */
  timezone: string | null;
}

/**
 * The settings without the configuration's loader, which would cost a hook more than all else: the defaults
 * where there is no config.yaml, else what `keepHookSettings` has kept of just this one. Undefined when it
 * has changed since: then the loader is asked.
 */
export function keptHookSettings(area: UserArea): HookSettings | undefined {
  const mark = markOfTarget(area.config);
  if (mark === undefined) {
    return {
      tab: true,
      tellAssistant: false,
      sessions: area.sessions,
      workEvents: area.workEvents,
      timezone: null,
    };
  }
  const kept = readKept<{ mark: string; settings: HookSettings }>('hooks', area);
  return kept?.mark === mark && isSettings(kept.settings) ? kept.settings : undefined;
}

/** Keeps the settings of the configuration that was read when config.yaml had this mark. */
export function keepHookSettings(area: UserArea, mark: string | undefined, config: UserConfig): HookSettings {
  const settings: HookSettings = {
    tab: config.sessions.tab,
    tellAssistant: config.sessions.tellAssistant,
    sessions: config.paths.sessions,
    workEvents: config.paths.workEvents,
    timezone: config.timezone,
  };
  if (mark !== undefined) keep('hooks', area, { mark, settings });
  return settings;
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

function isSettings(value: unknown): value is HookSettings {
  if (typeof value !== 'object' || value === null) return false;
  const { tab, tellAssistant, sessions, workEvents, timezone } = value as Partial<HookSettings>;
  return (
    typeof tab === 'boolean' &&
    typeof tellAssistant === 'boolean' &&
    typeof sessions === 'string' &&
    typeof workEvents === 'string' &&
    (timezone === null || typeof timezone === 'string')
  );
}
