import { dirname, join } from 'node:path';

import type { LoadedConfig } from '../config/load';
import { checkedArea, type Machine } from '../config/user-area';
import { machineId } from '../platform/files/machine';
import { processHost } from '../platform/files/paths';
import type { Run } from '../platform/process/process';
import { foldFor } from '../platform/terminal/fold';
import { writeErr } from '../platform/terminal/stdio';
import { systemClock } from '../platform/time/clock';
import type { ZonedNow } from '../platform/time/day-words';
import type { Desktop } from '../sense/front-app/adapter';

/** The dependencies of library functions. Each is created on first use, to keep commands fast. */
export interface Context extends Machine {
  /** Loads the configuration, again if its files have changed. `flags` are overrides by dotted key. */
  loadConfig: (flags?: Readonly<Record<string, unknown>>) => Promise<LoadedConfig>;
  run: Run;
  desktop: Desktop;
  templates: string;
}

/** @param root the folder with package.json */
export function createContext(root: string): Context {
  const clock = lazy(systemClock);
  const area = lazy(checkedArea);
  let stored: (() => Promise<LoadedConfig>) | undefined;
  return {
    templates: join(root, 'templates'),
    get clock() {
      return clock();
    },
    get area() {
      return area();
    },
    get machineId() {
      // A publication may change the id, and the daemon continues after it.
      return machineId();
    },
    tell: (text) => writeErr(`${foldFor('stderr', text)}\n`),
    async loadConfig(flags = {}) {
      const { loadConfig } = await import('../config/load');
      const { configPaths } = await import('../config/files');
      const load = (): Promise<LoadedConfig> => loadConfig({ area: area(), flags });
      if (Object.keys(flags).length > 0) return load();
      const { cachedLoader } = await import('../platform/files/file-cache');
      stored ??= cachedLoader(clock(), configPaths(area()), load);
      return stored();
    },
    run: async (file, args, options) => {
      const { run } = await import('../platform/process/process');
      return run(file, args, options);
    },
    get desktop() {
      const { platform, env } = processHost();
      const { run } = this;
      return {
        platform,
        env,
        run,
        async terminals() {
          const { lastTerminalInput } = await import('../sessions/terminal-input');
          return lastTerminalInput({ run, env });
        },
      };
    },
  };
}

/** Returns the current time and the configured time zone, in which periods are read. */
export async function zonedNow(context: Pick<Context, 'clock' | 'loadConfig'>): Promise<ZonedNow> {
  const { timezone } = (await context.loadConfig()).config.user;
  return { nowMs: context.clock.now(), zone: timezone };
}

function lazy<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** Returns the folder with steward's package.json. */
export function productRoot({ templates }: Pick<Context, 'templates'>): string {
  return dirname(templates);
}

export function installerDeps(context: Context) {
  const { area, clock, run } = context;
  return {
    area,
    clock,
    run,
    host: processHost(),
    product: { root: productRoot(context), node: process.execPath },
    get machineId() {
      return context.machineId;
    },
  };
}
