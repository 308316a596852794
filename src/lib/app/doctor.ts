import { dirname } from 'node:path';

import { resolveSecret, secretSources, type Secret } from '../config/secret';
import { hooksStatus } from '../assistant/install-view';
import { rootOf } from '../notify/channels/web';
import { getUrl } from '../platform/net/fetch';
import { processHost } from '../platform/files/paths';
import { findProgram } from '../platform/process/spawn';
import type { JobId } from '../schedule/job';
import { apiUrl } from '../work/host/token';
import type { Context } from './context';
import { findDaemon, installedBuild } from './daemon-client';
import { openHooks } from './hooks';
import { currentScheduler, jobsHere, type JobsHere } from './schedule';
import { openSessions } from './sessions';
import { sharedArea } from '../sense/shared-area';
import { speechSettings } from './speech';
import { VERSION } from './version';
import { openWork } from './work';

/** What the checks of every part are given, but the configuration. `sound`: the voice may be heard. */
export function openDoctor(context: Context, flags: { online: boolean; sound: boolean }) {
  const { area, clock, run, desktop } = context;
  const root = dirname(context.templates);
  const host = processHost();
  let asked: Promise<JobsHere | undefined> | undefined;
  // The scheduler is asked once for all checks.
  const jobs = async () =>
    (await (asked ??= context.loadConfig().then(({ config }) => jobsHere(context, config.sense))))?.jobs;
  const scheduledIn = async (id: JobId) =>
    (await jobs())?.find(({ job, loaded }) => loaded && job === id)?.scheduler;
  return {
    clock,
    area,
    run,
    desktop,
    root,
    host,
    ...flags,
    machineId: () => context.machineId,
    version: VERSION,
    build: installedBuild(context) ?? VERSION,
    find: (name: string) => findProgram(name),
    loadConfig: () => context.loadConfig(),
    jobs,
    sharedArea: () => sharedArea(context),
    capturedBy: async () => (await currentScheduler(context))?.kind ?? (await scheduledIn('sense')),
    isInsightScheduled: async () => (await scheduledIn('insight')) !== undefined,
    hooksStatus: async () => {
      const { deps, assistant } = openHooks(context, root, 'claude-code');
      return hooksStatus(deps, assistant);
    },
    openSessions: () => openSessions(context),
    findDaemon: () => findDaemon(context),
    voice: async () => {
      const { config } = await context.loadConfig();
      return speechSettings(context, { current: () => config });
    },
    secret: (stored: Secret) => resolveSecret(stored, secretSources()),
    askHost: (url: string, headers?: Record<string, string>) => getUrl(host.env, url, headers),
    hostsInUse: async () => {
      const { settings, workRepo } = (await context.loadConfig()).config;
      const { push } = settings.notifications;
      return [
        ...(workRepo.repo === undefined ? [] : [apiUrl(host.env).href]),
        ...(push.enabled && push.topic.isSet ? [rootOf(push.server)] : []),
      ];
    },
    openWork: () => openWork(context),
  };
}
