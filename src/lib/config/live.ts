import { toStewardError } from '../errors';
import { configPaths } from './files';
import { marksOf } from '../platform/files/stat';
import type { LoadedConfig } from './load';
import type { Config } from './schema';
import type { Machine } from './user-area';

/**
 * Returns the configuration of a long-running process, which reloads when its files change. Keeps the last valid configuration while the
 * files are invalid.
 */
export function liveConfig(
  context: Pick<Machine, 'area'> & { loadConfig: () => Promise<LoadedConfig> },
  loaded: Config,
) {
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
  /** Reloads the files if they have changed. Never throws. */
  const refresh = (): Promise<void> => context.loadConfig().then(accept, reject);
  return {
    current: () => current,
    /** Returns why the files are invalid, or undefined if they are valid. */
    problem: () => problem,
    refresh,
    /** Reloads changed files. Returns whether the files have changed since the last call. */
    async changed() {
      const { text } = marksOf(files);
      if (text === marks) return false;
      marks = text;
      await refresh();
      return true;
    },
  };
}

export type LiveConfig = ReturnType<typeof liveConfig>;
