import type { DaemonParts, Service } from '../daemon/daemon';
import type { Job } from '../daemon/jobs';
import type { DaemonLog } from '../daemon/log';
import { route, type Route } from '../daemon/route';
import type { Module, ModuleHealth } from '../daemon/status';
import { toStewardError } from '../errors';
import { acceptNotification, type Accepted, acceptOnce } from '../notify/accept';
import { keepDelivering, type Delivering } from '../notify/deliver';
import { drainTriggers, hasTriggers } from '../notify/triggers';
import { outboxStatus } from '../notify/outbox';
import type { Voice } from '../notify/speech/voice';
import { listFolder } from '../platform/files/folder';
import { isObject } from '../platform/files/json-object';
import type { Context } from './context';
import { liveConfig } from './live-config';
import { openNotify, type NotifyContext } from './notify';
import { voiceOf } from './speech';
import { openTriggers } from './triggers';

/** The notifications of the daemon: one voice, and one worker that delivers what waits. */
export interface NotifyOfDaemon {
  notify: NotifyContext;
  routes: readonly Route[];
  services: (log: DaemonLog) => readonly Service[];
  /** Tells of what hooks have left. */
  job: Job;
  module: Module;
  outbox: DaemonParts['outbox'];
}

/** Once the daemon is asked to stop, what is being said may end for so long (decisions.md 8), ms. */
const SPEECH_GRACE_MS = 2_000;
/** For what the end of a speech leaves to be noted, ms. */
const NOTE_GRACE_MS = 1_000;
const SAME_FAULT_MS = 60_000;

/**
 * Joins the notifications with the daemon. The routing, the channels and the voice follow the configuration
 * as it changes; a broken configuration leaves the last good one.
 */
export async function openNotifyOfDaemon(context: Context): Promise<NotifyOfDaemon> {
  const { area, clock } = context;
  const { config } = await context.loadConfig();
  const faults = faultsOf(context);
  const settings = liveConfig(context, config);
  const voice = voiceOf(context, settings, faults.note);
  let delivering: Delivering | undefined;
  let seen: string | undefined;
  const notify = await openNotify(context, {
    voice,
    settings,
    report: faults.note,
    wake: (deliveries) => delivering?.wake(deliveries),
  });
  return {
    notify,
    routes: [
      route({
        method: 'POST',
        path: '/notify',
        status: 202,
        // Only a command of this user may choose the id.
        input: ({ body, head }) => ({
          body,
          id: head.isLocal && isObject(body) ? body['id'] : undefined,
        }),
        run: ({ body, id }) => {
          const refreshing = settings.refresh();
          const accept = (): Promise<Accepted> =>
            id === undefined ? acceptNotification(notify.deps, body) : acceptOnce(notify.deps, body, id);
          return refreshing === undefined ? accept() : refreshing.then(accept);
        },
      }),
    ],
    services(log) {
      faults.tell = (message) => log.write('error', 'notify', { message });
      // What the first text would wait for: the patterns, and the terms of the principal.
      voice.preview('live');
      delivering = keepDelivering(notify.deps);
      return [{ close: () => closed(delivering, voice) }];
    },
    job: {
      id: 'triggers',
      everySec: () => 1,
      async run() {
        // What is left there for others is not read anew each second.
        if (listFolder(area.spool).join() === seen) return undefined;
        await settings.refresh();
        const deps = await openTriggers(context, notify, settings.current);
        await drainTriggers(deps);
        const names = listFolder(area.spool).join();
        seen = hasTriggers(deps) ? undefined : names;
        return undefined;
      },
    },
    module: {
      id: 'notify',
      label: 'Notifications',
      health: () => healthOf(voice, settings.problem() ?? faults.last(clock.monotonic())),
    },
    outbox() {
      const { waiting, dead } = outboxStatus({ outbox: area.outbox });
      return { waiting, failed: dead };
    },
  };
}

async function closed(delivering: Delivering | undefined, voice: Voice): Promise<void> {
  await Promise.all([
    delivering?.close(SPEECH_GRACE_MS + NOTE_GRACE_MS),
    voice.speech.close(SPEECH_GRACE_MS),
  ]);
}

/** What nobody foresaw, logged once a minute where it is the same. */
function faultsOf({ clock }: Context): {
  note: (error: unknown) => void;
  tell: (message: string) => void;
  /** What went wrong within the last minute. */
  last: (nowMs: number) => string | undefined;
} {
  let last: { message: string; toldMs: number; seenMs: number } | undefined;
  const faults = {
    tell: (_message: string): void => undefined,
    note(error: unknown): void {
      const { message, hint } = toStewardError(error);
      const text = hint === undefined ? message : `${message} ${hint}`;
      const nowMs = clock.monotonic();
      const isSame = last?.message === text && nowMs - last.toldMs < SAME_FAULT_MS;
      last = { message: text, toldMs: isSame ? (last?.toldMs ?? nowMs) : nowMs, seenMs: nowMs };
      if (!isSame) faults.tell(text);
    },
    last: (nowMs: number) =>
      last !== undefined && nowMs - last.seenMs < SAME_FAULT_MS ? last.message : undefined,
  };
  return faults;
}

function healthOf(voice: Voice, problem: string | undefined): ModuleHealth {
  if (problem !== undefined) return { state: 'error', reason: problem };
  if (voice.isOff()) return { state: 'ok', reason: 'The voice is switched off.' };
  const { engines, hint } = voice.status();
  if (engines.length > 0) return { state: 'ok' };
  const reason = `Nothing here can speak; what is said is shown. ${hint ?? ''}`.trim();
  return { state: 'needs-you', reason, fix: 'steward notify test' };
}
