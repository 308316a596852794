import { setTimeout as delay } from 'node:timers/promises';

import { rosterFiles } from '../agents/markdown-files';
import { configPaths } from '../config/files';
import { cachedLoader, loadedOnce } from '../platform/files/file-cache';
import { processHost } from '../platform/files/paths';
import { VERSION } from '../platform/version';
import { cacheReader } from '../work/cache';
import type { Attestation, WorkDeps } from '../work/deps';
import type { Host } from '../work/host';
import { agentName } from '../work/label';
import type { WorkTextOptions } from '../work/view';
import type { Context } from './context';

/** The longest rate-limit delay that a terminal command waits for, in ms. A longer delay is an error. */
const MAX_WAIT_MS = 10_000;
/** How long GitHub's issue list may take to show a change, in ms. */
const SETTLE_MS = 10_000;
const GIT_TIMEOUT_MS = 60_000;

const opened = new WeakMap<Context, () => Promise<WorkContext>>();

/**
 * Returns the dependencies of work tracking, the same ones until a configuration file changes. Contacts GitHub
 * only when a function requires it.
 */
export async function openWork(context: Context, maxWaitMs?: number): Promise<WorkContext> {
  if (maxWaitMs !== undefined) return workOf(context, maxWaitMs);
  const { clock, area } = context;
  const open =
    opened.get(context) ?? cachedLoader(clock, configPaths(area), () => workOf(context, MAX_WAIT_MS));
  opened.set(context, open);
  return open();
}

async function workOf(context: Context, maxWaitMs: number) {
  const { area, clock, run, templates } = context;
  const { env } = processHost();
  let loaded = await context.loadConfig();
  const write = async (values: { 'WORK.repo'?: string; 'WORK.privacy': Attestation }): Promise<void> => {
    await (await import('../config/write')).setKeys(context, values);
    loaded = await context.loadConfig();
  };
  const deps: WorkDeps = {
    clock,
    area,
    templates,
    settleMs: SETTLE_MS,
    paths: area.work,
    git: { run, env, timeoutMs: GIT_TIMEOUT_MS },
    cache: cacheReader(area.work.cache),
    sleep: (ms) => delay(ms),
    get config() {
      return loaded.config.work;
    },
    get daName() {
      return loaded.config.user.da.name;
    },
    get yourName() {
      return loaded.config.user.principal.name;
    },
    get agents() {
      const { da, principal } = loaded.config.user;
      return [
        da.name,
        principal.name ?? [],
        rosterFiles(area.agents).map((name) => name.slice(0, -'.md'.length)),
      ].flat();
    },
    get timezone() {
      return loaded.config.user.timezone;
    },
    get machineId() {
      return context.machineId;
    },
    workRepo: () => loaded.config.workRepo,
    host: loadedOnce(() => openHost(context, maxWaitMs)),
    attest: (privacy) => write({ 'WORK.privacy': privacy }),
    choose: (repo, privacy) => write({ 'WORK.repo': repo, 'WORK.privacy': privacy }),
    remote: async (repo) => {
      const { gitRemote } = await import('../work/host/token');
      return gitRemote({ env, run }, repo);
    },
  };
  const shown = <T extends object>(terminal: T): T & Pick<WorkTextOptions, 'timezone' | 'nowMs'> => ({
    ...terminal,
    timezone: deps.timezone,
    nowMs: clock.now(),
  });
  return { deps, user: loaded.config.user, warnings: loaded.warnings, shown };
}

export type WorkContext = Awaited<ReturnType<typeof workOf>>;

/** Returns the name under which you claim issues: your own, or the login of your account. */
export async function yourName({ deps, user }: Pick<WorkContext, 'deps' | 'user'>): Promise<string> {
  return agentName(user.principal.name ?? (await (await deps.host()).login()));
}

async function openHost({ clock, run }: Context, maxWaitMs: number): Promise<Host> {
  const { githubHost } = await import('../work/host/github');
  return githubHost({ clock, env: processHost().env, run, userAgent: `steward/${VERSION}`, maxWaitMs });
}
