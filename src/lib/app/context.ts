import { join } from 'node:path';

import type { LoadedConfig } from '../config/load';
import { userArea, type UserArea } from '../config/user-area';
import { systemClock, type Clock } from '../platform/time/clock';
import { machineId } from '../platform/files/machine';
import type { Run } from '../platform/process/process';
import type { Desktop } from '../sense/front-app/adapter';
import { processHost } from '../platform/files/paths';

/** What the library functions need of the machine and of the other features, joined in one place. */
export interface Context {
  clock: Clock;
  area: UserArea;
  machineId: string;
  /** Loads the configuration; flags, by dotted key, stand over it. */
  loadConfig: (flags?: Readonly<Record<string, unknown>>) => Promise<LoadedConfig>;
  run: Run;
  desktop: Desktop;
  /** The folder of the templates that the package brings. */
  templates: string;
}

/**
 * Each part is made when it is first asked for: a command pays for what it uses only.
 *
 * @param root the folder of package.json
 */
export function createContext(root: string): Context {
  return {
    templates: join(root, 'templates'),
    get clock() {
      return keep(this, 'clock', systemClock());
    },
    get area() {
      return keep(this, 'area', userArea());
    },
    get machineId() {
      return keep(this, 'machineId', machineId());
    },
    async loadConfig(flags = {}) {
      const { loadConfig } = await import('../config/load');
      return loadConfig({ area: this.area, flags });
    },
    run: async (file, args, options) => {
      const { run } = await import('../platform/process/process');
      return run(file, args, options);
    },
    get desktop() {
      const { platform, env } = processHost();
      return keep(this, 'desktop', { platform, env, run: this.run });
    },
  };
}

/** Replaces the getter by its value. */
function keep<K extends keyof Context>(context: Context, key: K, value: Context[K]): Context[K] {
  Object.defineProperty(context, key, { value });
  return value;
}
