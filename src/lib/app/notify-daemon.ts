import type { Service } from '../daemon/daemon';
import type { DaemonJob } from '../daemon/jobs';
import type { DaemonLog } from '../daemon/log';
import { historyRoutes } from '../daemon/notify-routes';
import { route, type Route } from '../daemon/route';
import { acceptNotification, acceptOnce } from '../notify/accept';
import { keepDelivering, type Delivering } from '../notify/deliver';
import { faultsOf, voiceFinding } from '../notify/checks';
import { outboxStatus } from '../notify/outbox';
import type { Voice } from '../notify/speech/voice';
import { keepPresenceFile, presenceFiles } from '../notify/presence-file';
import { drainTriggers, hasTriggers } from '../notify/triggers';
import { readText } from '../platform/files/atomic-file';
import { processHost } from '../platform/files/paths';
import { runningSessions } from '../sessions/state';
import { claudeCode } from '../assistant/claude-code';
import { listFolder } from '../platform/files/folder';
import { isObject, parseObject } from '../platform/files/json-object';
import type { Context } from './context';
import { liveConfig, type LiveConfig } from '../config/live';
import { openBreaks } from './breaks';
import { openNotify, type NotifyContext } from './notify';
import { pushesJob } from './pushes';
import { voiceOf } from './speech';
import { openSessions } from './sessions';
import { openTriggers, presenceOf } from './triggers';

/** How long speech may continue after a stop request, in ms. */
const SPEECH_GRACE_MS = 2_000;
/** Extra time for recording the result of a delivery, in ms. */
const NOTE_GRACE_MS = 1_000;

export async function openNotifyOfDaemon(context: Context) {
  const { area, clock } = context;
  const { config } = await context.loadConfig();
  const faults = faultsOf(clock);
  const settings = liveConfig(context, config);
  const voice = voiceOf(context, settings, faults.note);
  const presence = presenceOfDaemon(context);
  let delivering: Delivering | undefined;
  const breaks = openBreaks(context, () => delivering?.atBreak() ?? []);
  const notify = await openNotify(context, {
    voice,
    settings,
    report: faults.note,
    wake: (deliveries) => delivering?.wake(deliveries),
    lastBreak: breaks.last,
  });
  return {
    notify,
    routes: [notifyRoute(notify, settings), ...historyRoutes({ ...notify.deps, voice })],
    services(log: DaemonLog): Service[] {
      faults.tell = (message) => log.write('error', 'notify', { message });
      // Preload the redaction patterns and pronunciations, so that they don't delay the first spoken text.
      voice.preview('live');
      delivering = keepDelivering(notify.deps);
      return [{ close: () => closed(delivering, voice) }, presence];
    },
    jobs: [
      triggersJob(context, notify, settings),
      // One job a channel: a server that hangs must not delay the others.
      ...notify.deps.channels
        .filter(({ end }) => end !== undefined)
        .map((channel) => pushesJob(context, channel)),
      presence.job,
      breaks.job,
    ],
    module: {
      id: 'notify',
      label: 'Notifications',
      health: () => voiceFinding(voice, settings.problem() ?? faults.last()),
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
    // Only requests over the local socket may choose the notification id.
    input: ({ body, head }) => ({ body, id: head.isLocal && isObject(body) ? body['id'] : undefined }),
    run: async ({ body, id }) => {
      await settings.refresh();
      return id === undefined ? acceptNotification(deps, body) : acceptOnce(deps, body, id);
    },
  });
}

/** Keeps the files that tell Claude Code that you are at the desk; removes them when the daemon stops. */
function presenceOfDaemon(context: Context): Service & { job: DaemonJob } {
  const kept = new Set<string>();
  const keep = (isAtDesk: boolean): void => {
    for (const path of kept) keepPresenceFile(path, isAtDesk);
  };
  const run = async (): Promise<string | undefined> => {
    if (!context.area.sense.isSetUp) return undefined;
    const host = processHost();
    const { sessions } = runningSessions(await openSessions(context));
    const settings = parseObject(readText(claudeCode.path(host), { followLink: true }) ?? '');
    for (const path of presenceFiles(host.env, Object.values(sessions), settings)) kept.add(path);
    if (kept.size > 0) keep(['desk', 'front'].includes(await presenceOf(context, undefined)));
    return undefined;
  };
  return {
    job: { id: 'presence', everySec: () => 10, run },
    close: () => Promise.resolve(keep(false)),
  };
}

/** Turns queued hook events into notifications. */
function triggersJob(context: Context, notify: NotifyContext, settings: LiveConfig): DaemonJob {
  let seen: string | undefined;
  return {
    id: 'triggers',
    everySec: () => 1,
    async run() {
      const names = (): string => listFolder(context.area.spool).join();
      // If the queue hasn't changed, it contains only files for other consumers.
      if (names() === seen) return undefined;
      await settings.refresh();
      const deps = await openTriggers(context, notify, settings.current);
      await drainTriggers(deps);
      const unchanged = names();
      seen = hasTriggers(deps) ? undefined : unchanged;
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
