import { setTimeout as delay } from 'node:timers/promises';
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { loadConfig, type LoadedConfig } from '../../src/lib/config/load';
import { changeConfig } from '../../src/lib/config/write';
import { systemClock, type Clock } from '../../src/lib/platform/time/clock';
import { run } from '../../src/lib/platform/process/process';
import { readCache } from '../../src/lib/work/cache';
import type { Host } from '../../src/lib/work/host';
import { githubHost } from '../../src/lib/work/host/github';
import { LABEL_SETS, wantedLabels } from '../../src/lib/work/labels';
import type { SessionsState } from '../../src/lib/sessions/session';
import type { SessionRules } from '../../src/lib/work/capture/session';
import type { OpenRepo, WorkDeps } from '../../src/lib/work/deps';
import { setUp } from '../../src/lib/work/setup';
import { testArea, type TestArea } from './area';
import { addLabels, type GitHub } from './github';

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
  const deps: WorkDeps = {
    clock,
    area: at.area,
    paths: at.area.work,
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
    attest: (attestation) => set({ 'WORK.privacy': attestation }),
    choose: (repo, attestation) => set({ 'WORK.repo': repo, 'WORK.privacy': attestation }),
    git: { run, env: process.env, timeoutMs: 30_000 },
    remote: () => Promise.reject(new Error('no remote')),
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
  if (github.repos.includes(repo)) await addLabels(github, repo, await wantedLabels(world.deps));
  await setUp(world.deps, { repo, create: true });
  github.seen.length = 0;
  return world;
}

/** What captures are delivered with, where only these sessions are known: slug → id. */
export function captureOf({ deps, at }: WorkWorld, ids: Readonly<Record<string, string>> = {}): SessionRules {
  const sessions = Object.fromEntries(
    Object.entries(ids).map(([slug, id]) => [slug, { slug, sessionIds: [id], phaseHistory: [] }]),
  );
  const state = { sessions } as unknown as SessionsState;
  return { work: deps, sessions: at.area.sessions, state: () => state };
}

/** The repository of a world, open for those who write. */
export async function opened({ deps }: WorkWorld, repo = 'ann/work'): Promise<OpenRepo> {
  return { deps, host: await deps.host(), repo };
}

/** What the captures have logged, a line each. */
export function capturesLogged({ at }: WorkWorld): Record<string, unknown>[] {
  const lines = readFileSync(join(at.area.observability, 'work-capture.jsonl'), 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}
