import { setTimeout as delay } from 'node:timers/promises';

import { rosterFiles } from '../agents/roster';
import type { UserConfig } from '../config/schema';
import { processHost } from '../platform/files/paths';
import { cacheReader } from '../work/cache';
import type { Attestation, WorkDeps } from '../work/deps';
import type { Host } from '../work/host';
import type { WorkTextOptions } from '../work/view';
import type { Context } from './context';
import { VERSION } from './version';

/** What the work commands, and the daemon, call the library with. */
export interface WorkContext {
  deps: WorkDeps;
  user: UserConfig;
  warnings: readonly string[];
  /** Reads the configuration again: for the daemon, whose owner may change it. */
  reload: () => Promise<void>;
  /** What a view needs beside the terminal. */
  shown: <T extends object>(terminal: T) => T & Pick<WorkTextOptions, 'timezone' | 'nowMs'>;
}

/** A person at a terminal waits so long when the service asks to wait; what comes later is an error with the time. */
const MAX_WAIT_MS = 10_000;
/** GitHub's list lags behind a write by some seconds. */
const SETTLE_MS = 10_000;
const GIT_TIMEOUT_MS = 60_000;

/** Joins work with the configuration, the machine and the service. Nothing is asked of the service yet. */
export async function openWork(context: Context, options: { maxWaitMs?: number } = {}): Promise<WorkContext> {
  const { area, clock, run, templates } = context;
  const { env } = processHost();
  let loaded = await context.loadConfig();
  const reload = async (): Promise<void> => {
    loaded = await context.loadConfig();
  };
  const write = async (values: Readonly<Record<string, unknown>>): Promise<void> => {
    await writeWorkKeys(context, values);
    await reload();
  };
  let host: Promise<Host> | undefined;
  const deps: WorkDeps = {
    ...{ clock, area, templates, settleMs: SETTLE_MS },
    paths: area.work,
    git: { run, env, timeoutMs: GIT_TIMEOUT_MS },
    cache: cacheReader(area.work.cache),
    sleep: async (ms) => {
      await delay(ms);
    },
    get config() {
      return loaded.config.work;
    },
    get daName() {
      return loaded.config.user.da.name;
    },
    get agents() {
      const { da, principal } = loaded.config.user;
      return [da.name, principal.name ?? [], rosterNames(area.agents)].flat();
    },
    get timezone() {
      return loaded.config.user.timezone;
    },
    get machineId() {
      return context.machineId;
    },
    workRepo: () => loaded.config.workRepo,
    // A host that could not be opened (no credential yet) is tried again at the next call.
    host: () =>
      (host ??= openHost(context, options.maxWaitMs).catch((error: unknown) => {
        host = undefined;
        throw error;
      })),
    attest: (attestation) => write(privacyKeys(attestation)),
    choose: (repo, attestation) => write({ repo, ...privacyKeys(attestation) }),
    remote: async (repo) => {
      const { gitRemote } = await import('../work/host/token');
      return gitRemote({ env, run }, repo);
    },
  };
  const { user } = loaded.config;
  const shown: WorkContext['shown'] = (terminal) => ({
    ...terminal,
    timezone: deps.timezone,
    nowMs: clock.now(),
  });
  return { deps, user, warnings: loaded.warnings, reload, shown };
}

async function openHost({ clock, run }: Context, maxWaitMs = MAX_WAIT_MS): Promise<Host> {
  const { githubHost } = await import('../work/host/github');
  return githubHost({ clock, env: processHost().env, run, userAgent: `steward/${VERSION}`, maxWaitMs });
}

async function writeWorkKeys(
  { area, clock, machineId }: Context,
  values: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { changeConfig } = await import('../config/write');
  await changeConfig(
    { area, clock, machineId },
    Object.entries(values).map(([key, value]) => ({ key: `WORK.${key}`, to: () => value })),
  );
}

function rosterNames(folder: string): string[] {
  return rosterFiles(folder).map((name) => name.slice(0, -'.md'.length));
}

function privacyKeys(attestation: Attestation): Record<string, unknown> {
  return Object.fromEntries(Object.entries(attestation).map(([key, value]) => [`privacy.${key}`, value]));
}
