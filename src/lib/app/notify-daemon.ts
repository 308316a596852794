import type { DaemonParts, Service } from '../daemon/daemon';
import type { Job } from '../daemon/jobs';
import type { DaemonLog } from '../daemon/log';
import { route, type Route } from '../daemon/route';
import type { Module } from '../daemon/status';
import { acceptNotification, acceptOnce, type Accepted } from '../notify/accept';
import { keepDelivering, type Delivering } from '../notify/deliver';
import { faultsOf, healthOf } from '../notify/checks';
import { outboxStatus } from '../notify/outbox';
import type { Voice } from '../notify/speech/voice';
import { drainTriggers, hasTriggers } from '../notify/triggers';
import { listFolder } from '../platform/files/folder';
import { isObject } from '../platform/files/json-object';
import type { Context } from './context';
import { liveConfig, type LiveConfig } from './live-config';
import { openNotify, type NotifyContext } from './notify';
import { voiceOf } from './speech';
import { openTriggers } from './triggers';

/** The notifications of the daemon: one voice, and one worker that delivers what waits. */
export interface NotifyOfDaemon {
  notify: NotifyContext;
  routes: readonly Route[];
  services: (log: DaemonLog) => readonly Service[];
  /** Makes notifications of what hooks have left. */
  job: Job;
  module: Module;
  outbox: DaemonParts['outbox'];
}

/** Once the daemon is asked to stop, what is being said may end for so long, ms. */
const SPEECH_GRACE_MS = 2_000;
/** For what the end of a speech leaves to be noted, ms. */
const NOTE_GRACE_MS = 1_000;

/**
 * Joins the notifications with the daemon. The routing, the channels and the voice follow the configuration
 * as it changes; a broken configuration leaves the last good one.
 */
export async function openNotifyOfDaemon(context: Context): Promise<NotifyOfDaemon> {
  const { area, clock } = context;
  const { config } = await context.loadConfig();
  const faults = faultsOf(clock);
  const settings = liveConfig(context, config);
  const voice = voiceOf(context, settings, faults.note);
  let delivering: Delivering | undefined;
  const notify = await openNotify(context, {
    voice,
    settings,
    report: faults.note,
    wake: (deliveries) => delivering?.wake(deliveries),
  });
  return {
    notify,
    routes: [notifyRoute(notify, settings)],
    services(log) {
      faults.tell = (message) => log.write('error', 'notify', { message });
      // What the first text would wait for: the patterns, and the terms of the principal.
      voice.preview('live');
      delivering = keepDelivering(notify.deps);
      return [{ close: () => closed(delivering, voice) }];
    },
    job: triggersJob(context, notify, settings),
    module: {
      id: 'notify',
      label: 'Notifications',
      health: () => healthOf(voice, settings.problem() ?? faults.last()),
    },
    outbox() {
      const { waiting, dead } = outboxStatus({ outbox: area.outbox });
      return { waiting, failed: dead };
    },
  };
}

function notifyRoute({ deps }: NotifyContext, settings: LiveConfig): Route {
  return route({
    method: 'POST',
    path: '/notify',
    status: 202,
    // Only a command of this user may choose the id.
    input: ({ body, head }) => ({ body, id: head.isLocal && isObject(body) ? body['id'] : undefined }),
    run: ({ body, id }) => {
      const refreshing = settings.refresh();
      const accept = (): Promise<Accepted> =>
        id === undefined ? acceptNotification(deps, body) : acceptOnce(deps, body, id);
      return refreshing === undefined ? accept() : refreshing.then(accept);
    },
  });
}

function triggersJob(context: Context, notify: NotifyContext, settings: LiveConfig): Job {
  let seen: string | undefined;
  return {
    id: 'triggers',
    everySec: () => 1,
    async run() {
      const names = (): string => listFolder(context.area.spool).join();
      // What is left there for others is not read anew each second.
      if (names() === seen) return undefined;
      await settings.refresh();
      const deps = await openTriggers(context, notify, settings.current);
      await drainTriggers(deps);
      const left = names();
      seen = hasTriggers(deps) ? undefined : left;
      return undefined;
    },
  };
}

async function closed(delivering: Delivering | undefined, voice: Voice): Promise<void> {
  await Promise.all([
    delivering?.close(SPEECH_GRACE_MS + NOTE_GRACE_MS),
    voice.speech.close(SPEECH_GRACE_MS),
  ]);
}
