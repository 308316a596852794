import { setTimeout as delay } from 'node:timers/promises';

import type { LoadedConfig } from '../config/load';
import type { UserConfig } from '../config/schema';
import { rosterFiles } from '../agents/roster';
import { processHost } from '../platform/files/paths';
import type { ActionDeps } from '../work/actions';
import type { BoardDeps } from '../work/board';
import { cacheReader } from '../work/cache';
import type { Host } from '../work/host';
import type { Attestation } from '../work/privacy';
import type { SetupDeps } from '../work/setup';
import type { StatusDeps } from '../work/status';
import type { TaskListDeps } from '../work/task-list';
import type { Context } from './context';
import { VERSION } from './version';

/** What the work commands, and the daemon, call the library with. */
export interface WorkContext {
  deps: SetupDeps & ActionDeps & BoardDeps & StatusDeps & TaskListDeps & { daName: string };
  user: UserConfig;
  warnings: readonly string[];
  /** Reads the configuration again: for the daemon, whose owner may change it. */
  reload: () => Promise<void>;
}

/** A person at a terminal waits so long when the service asks to wait; what comes later is an error with the time. */
const MAX_WAIT_MS = 10_000;
/** GitHub's list lags behind a write by some seconds. */
const SETTLE_MS = 10_000;
const GIT_TIMEOUT_MS = 60_000;

/** Joins work with the configuration, the machine and the service. Nothing is asked of the service yet. */
export async function openWork(context: Context, options: { maxWaitMs?: number } = {}): Promise<WorkContext> {
  const { area, clock } = context;
  const { env } = processHost();
  let loaded: LoadedConfig = await context.loadConfig();
  const reload = async (): Promise<void> => {
    loaded = await context.loadConfig();
  };
  let host: Promise<Host> | undefined;
  const openHost = async (): Promise<Host> => {
    const { githubHost } = await import('../work/host/github');
    return githubHost({
      clock,
      env,
      run: context.run,
      userAgent: `steward/${VERSION}`,
      maxWaitMs: options.maxWaitMs ?? MAX_WAIT_MS,
    });
  };
  const write = async (values: Readonly<Record<string, unknown>>): Promise<void> => {
    const { changeConfig } = await import('../config/write');
    const { machineId } = context;
    await changeConfig(
      { area, clock, machineId },
      Object.entries(values).map(([key, value]) => ({ key: `WORK.${key}`, to: () => value })),
    );
    await reload();
  };
  const deps: WorkContext['deps'] = {
    clock,
    area: area.work,
    paths: area.work,
    ledger: area.work.ledger,
    spool: area.spool,
    waiting: area.work.waiting,
    folder: area.work.tasklist,
    templates: context.templates,
    sleep: async (ms) => {
      await delay(ms);
    },
    settleMs: SETTLE_MS,
    get config() {
      return loaded.config.work;
    },
    get daName() {
      return loaded.config.user.da.name;
    },
    get agents() {
      const { da, principal } = loaded.config.user;
      const roster = rosterFiles(area.agents).map((name) => name.slice(0, -'.md'.length));
      return [da.name, principal.name ?? [], roster].flat();
    },
    get timezone() {
      return loaded.config.user.timezone;
    },
    get locks() {
      return area.machine;
    },
    get machineId() {
      return context.machineId;
    },
    workRepo: () => loaded.config.workRepo,
    cache: cacheReader(area.work.cache),
    host: () => {
      // A host that could not be opened (no credential yet) is tried again at the next call.
      host ??= openHost().catch((error: unknown) => {
        host = undefined;
        throw error;
      });
      return host;
    },
    attest: (attestation) => write(privacyKeys(attestation)),
    choose: (repo, attestation) => write({ repo, ...privacyKeys(attestation) }),
    git: { run: context.run, env, timeoutMs: GIT_TIMEOUT_MS },
    remote: async (repo) => {
      const { apiUrl, findCredential, siteOf } = await import('../work/host/token');
      const api = apiUrl(env);
      const { token } = await findCredential({ env, run: context.run }, api);
      const basic = Buffer.from(`x-access-token:${token}`, 'utf8').toString('base64');
      return { url: `${siteOf(api)}/${repo}.git`, authorization: `Basic ${basic}` };
    },
  };
  return { deps, user: loaded.config.user, warnings: loaded.warnings, reload };
}

function privacyKeys(attestation: Attestation): Record<string, unknown> {
  return Object.fromEntries(Object.entries(attestation).map(([key, value]) => [`privacy.${key}`, value]));
}
