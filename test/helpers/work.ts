import { setTimeout as delay } from 'node:timers/promises';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { loadConfig, type LoadedConfig } from '../../src/lib/config/load';
import { changeConfig } from '../../src/lib/config/write';
import { systemClock, type Clock } from '../../src/lib/platform/time/clock';
import { run } from '../../src/lib/platform/process/process';
import type { ActionDeps } from '../../src/lib/work/actions';
import type { BoardDeps } from '../../src/lib/work/board';
import { readCache } from '../../src/lib/work/cache';
import type { Host } from '../../src/lib/work/host';
import { githubHost } from '../../src/lib/work/host/github';
import { LABEL_SETS } from '../../src/lib/work/labels';
import { setUp, type SetupDeps } from '../../src/lib/work/setup';
import type { StatusDeps } from '../../src/lib/work/status';
import { testArea, type TestArea } from './area';
import type { GitHub } from './github';

export type WorkDeps = SetupDeps & ActionDeps & BoardDeps & StatusDeps;

export interface WorkWorld {
  at: TestArea;
  deps: WorkDeps;
  /** Milliseconds that the clock is ahead of the real one. */
  ahead: (ms: number) => void;
  /** What was waited for, ms. */
  slept: number[];
  set: (key: string, value: unknown) => Promise<void>;
  remove: () => void;
}

export const TEMPLATES = resolve(__dirname, '..', '..', 'templates');

/** A user area, and what the work functions need to work on one repository of the emulator. */
export async function workWorld(github: GitHub, options: { settleMs?: number } = {}): Promise<WorkWorld> {
  const at = testArea();
  const real = systemClock();
  let aheadMs = 0;
  const clock: Clock = { now: () => real.now() + aheadMs, monotonic: real.monotonic };
  const load = (): Promise<LoadedConfig> => loadConfig({ area: at.area, env: {}, home: at.home });
  let loaded = await load();
  let host: Promise<Host> | undefined;
  const slept: number[] = [];
  const set = async (values: Readonly<Record<string, unknown>>): Promise<void> => {
    await changeConfig(
      at.deps,
      Object.entries(values).map(([key, value]) => ({ key, to: () => value })),
    );
    loaded = await load();
  };
  const privacy = (attestation: object): Record<string, unknown> =>
    Object.fromEntries(Object.entries(attestation).map(([key, value]) => [`WORK.privacy.${key}`, value]));
  const deps: WorkDeps = {
    clock,
    area: at.area.work,
    paths: at.area.work,
    ledger: at.area.work.ledger,
    spool: at.area.spool,
    waiting: at.area.work.waiting,
    locks: at.area.machine,
    machineId: at.deps.machineId,
    templates: TEMPLATES,
    daName: 'Nova',
    agents: ['Nova', 'Ann Lee', 'kai'],
    timezone: 'Europe/Berlin',
    settleMs: options.settleMs ?? 0,
    sleep: async (ms) => {
      slept.push(ms);
      await delay(Math.min(ms, 5));
    },
    get config() {
      return loaded.config.work;
    },
    workRepo: () => loaded.config.workRepo,
    cache: (repo) => readCache(at.area.work.cache, repo),
    host: () =>
      (host ??= githubHost({
        clock,
        run,
        env: { GITHUB_API_URL: github.url, GH_TOKEN: github.token },
        userAgent: 'steward/test',
        maxWaitMs: 50,
        writesPerMinute: 1_000_000,
        secondMs: 1,
      })),
    attest: (attestation) => set(privacy(attestation)),
    choose: (repo, attestation) => set({ 'WORK.repo': repo, ...privacy(attestation) }),
  };
  return {
    at,
    deps,
    slept,
    ahead: (ms) => {
      aheadMs = ms;
    },
    set: (key, value) => set({ [key]: value }),
    remove: at.remove,
  };
}

/** A world whose repository is set up. */
export async function readyWorld(
  github: GitHub,
  repo = 'ann/work',
  options: { settleMs?: number } = {},
): Promise<WorkWorld> {
  const world = await workWorld(github, options);
  // With properties.
  mkdirSync(world.at.area.work.root, { recursive: true });
  copyFileSync(join(TEMPLATES, 'work', LABEL_SETS.original), world.at.area.work.labels);
  await setUp(world.deps, { repo, create: true });
  github.seen.length = 0;
  return world;
}
