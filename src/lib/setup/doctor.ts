import { productRoot, type Context } from '../app/context';
import { currentScheduler } from '../app/schedule';
import { openSessions } from '../app/sessions';
import { speechSettings } from '../app/speech';
import { openWork } from '../app/work';
import { resolveSecret, secretSources, type Secret } from '../config/secret';
import { findDaemon, installedBuild } from '../daemon/client';
import type { StewardError } from '../errors';
import { rootOf } from '../notify/channels/web';
import { processHost } from '../platform/files/paths';
import { getUrl } from '../platform/net/fetch';
import { findProgram } from '../platform/process/spawn';
import { VERSION } from '../platform/version';
import { sharedArea } from '../sense/shared-area';
import { apiUrl } from '../work/host/token';
import { hooksStatusHere } from './install/assistants';
import { jobsHere, type JobsHere } from './jobs';
import { status as syncStatusNow } from './sync/change';

/** Returns the dependencies of the doctor's checks. `sound` allows checks to play audio. */
export function openDoctor(context: Context, flags: { online: boolean; sound: boolean }) {
  const { area, clock, run, desktop } = context;
  const host = processHost();
  const config = async () => (await context.loadConfig()).config;
  let queried: Promise<JobsHere | undefined> | undefined;
  const jobs = async () => (await (queried ??= config().then(({ sense }) => jobsHere(context, sense))))?.jobs;
  return {
    clock,
    area,
    run,
    desktop,
    host,
    ...flags,
    jobs,
    version: VERSION,
    root: productRoot(context),
    build: installedBuild(context) ?? VERSION,
    machineId: () => context.machineId,
    find: (name: string) => findProgram(name),
    loadConfig: () => context.loadConfig(),
    sharedArea: () => sharedArea(context),
    capturedBy: async () => (await currentScheduler(context))?.kind,
    hooksStatus: (onFailure: (error: StewardError) => void) => hooksStatusHere(context, undefined, onFailure),
    openSessions: () => openSessions(context),
    findDaemon: () => findDaemon(context),
    voice: async () => {
      const current = await config();
      return speechSettings(context, { current: () => current });
    },
    secret: (stored: Secret) => resolveSecret(stored, secretSources()),
    askHost: (url: string, headers?: Record<string, string>) => getUrl(host.env, url, headers),
    hostsInUse: async () => {
      const { settings, workRepo } = await config();
      const { push } = settings.notifications;
      return [
        ...(workRepo.repo === undefined ? [] : [apiUrl(host.env).href]),
        ...(push.enabled && push.topic.isSet ? [rootOf(push.server)] : []),
      ];
    },
    openWork: () => openWork(context),
    syncStatus: () => syncStatusNow(context, true),
  };
}
