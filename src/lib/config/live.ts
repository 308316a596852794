import { toStewardError } from '../errors';
import { configPaths } from './files';
import { marksOf } from '../platform/files/stat';
import type { LoadedConfig } from './load';
import type { Config } from './schema';
import type { Machine } from './user-area';

/** The configuration of a long-running process. */
export interface LiveConfig {
  current: () => Config;
  /** Reloads the files if they have changed. Never throws. */
  refresh: () => Promise<void>;
  /** Reloads changed files. Returns whether the files have changed since the last call. */
  changed: () => Promise<boolean>;
  /** Returns why the files are invalid, or undefined if they are valid. */
  problem: () => string | undefined;
}

/**
 * Returns a configuration that reloads when its files change. Keeps the last valid configuration while the
 * files are invalid.
 */
export function liveConfig(
  context: Pick<Machine, 'area'> & { loadConfig: () => Promise<LoadedConfig> },
  loaded: Config,
): LiveConfig {
  const files = configPaths(context.area);
  let current = loaded;
  let problem: string | undefined;
  let marks = marksOf(files).text;
  const accept = ({ config }: LoadedConfig): void => {
    current = config;
    problem = undefined;
  };
  const reject = (error: unknown): void => {
    problem = toStewardError(error).message;
  };
  const refresh = (): Promise<void> => context.loadConfig().then(accept, reject);
  return {
    current: () => current,
    problem: () => problem,
    refresh,
    async changed() {
      const { text } = marksOf(files);
      if (text === marks) return false;
      marks = text;
      await refresh();
      return true;
    },
  };
}
