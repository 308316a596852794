import type { Config } from '../config/schema';
import { toStewardError } from '../errors';
import { cachedLoader } from '../platform/files/file-cache';
import { marksOf } from '../platform/files/stat';
import type { Context } from './context';

/** The configuration for what lives longer than one look at it. */
export interface LiveConfig {
  current: () => Config;
  /** Reads it again where its files have changed; a promise only then. Never throws. */
  refresh: () => Promise<void> | undefined;
  /** The same; have the files changed since this was asked last? */
  changed: () => Promise<boolean>;
  /** What is wrong with the files now. */
  problem: () => string | undefined;
}

/** The configuration as its files say now; a broken one is told of, and the last good one stays. */
export function liveConfig(context: Context, loaded: Config): LiveConfig {
  const { area, clock } = context;
  const files = [area.config, area.settings];
  let current = loaded;
  let problem: string | undefined;
  let seen = marksOf(files).text;
  const read = cachedLoader(clock, files, () => context.loadConfig());
  const take = (config: Config): void => {
    current = config;
    problem = undefined;
  };
  const broken = (error: unknown): void => {
    problem = toStewardError(error).message;
  };
  const refresh = (): Promise<void> | undefined => {
    try {
      const value = read();
      if (value instanceof Promise) return value.then(({ config }) => take(config), broken);
      take(value.config);
    } catch (error) {
      broken(error);
    }
    return undefined;
  };
  return {
    current: () => current,
    problem: () => problem,
    refresh,
    async changed() {
      const { text } = marksOf(files);
      if (text === seen) return false;
      seen = text;
      await refresh();
      return true;
    },
  };
}
