import { liveConfig } from '../config/live';
import type { Service } from '../daemon/daemon';
import type { DaemonLog } from '../daemon/log';
import { keepPresence, notifyRoute, triggersJob } from '../daemon/notify-jobs';
import { historyRoutes } from '../daemon/notify-routes';
import { pushesJob } from '../daemon/pushes-job';
import { faultsOf, voiceFinding } from '../notify/checks';
import { keepDelivering, type Delivering } from '../notify/deliver';
import { outboxStatus } from '../notify/outbox';
import type { Voice } from '../notify/speech/voice';
import { openBreaks } from './breaks';
import type { Context } from './context';
import { openNotify } from './notify';
import { openPushes } from './pushes';
import { voiceOf } from './speech';
import { openSurroundings } from './surroundings';
import { openTriggers } from './triggers';

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
  const presence = keepPresence(openSurroundings(context));
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
    routes: [notifyRoute(notify.deps, settings.refresh), ...historyRoutes({ ...notify.deps, voice })],
    services(log: DaemonLog): Service[] {
      faults.tell = (message) => log.write('error', 'notify', { message });
      // Preload the redaction patterns and pronunciations, so that they don't delay the first spoken text.
      voice.preview('live');
      delivering = keepDelivering(notify.deps);
      return [{ close: () => closed(delivering, voice) }, presence];
    },
    jobs: [
      triggersJob(area.spool, async () => {
        await settings.refresh();
        return openTriggers(context, notify, settings.current);
      }),
      // One job a channel: a server that hangs must not delay the others.
      ...notify.deps.channels
        .filter(({ end }) => end !== undefined)
        .map((channel) => pushesJob(context, openPushes(context, true), channel)),
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

async function closed(delivering: Delivering | undefined, voice: Voice): Promise<void> {
  await Promise.all([
    delivering?.close(SPEECH_GRACE_MS + NOTE_GRACE_MS),
    voice.speech.close(SPEECH_GRACE_MS),
  ]);
}
