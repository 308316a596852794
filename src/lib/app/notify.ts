import { dirname, join } from 'node:path';

import { claudeCodeSettings } from '../assistant/claude-code-settings';
import { resolveSecret, secretSources } from '../config/secret';
import type { Config } from '../config/schema';
import { ensureUserArea } from '../config/user-area';
import { toStewardError } from '../errors';
import { startDetached } from '../platform/process/detached';
import { ensureFolder } from '../platform/files/folder';
import { processHost } from '../platform/files/paths';
import type { HttpLibrary } from '../platform/net/origin-client';
import type { AcceptDeps, Accepted } from '../notify/accept';
import type { Channel } from '../notify/channels/channel';
import { allChannels } from '../notify/channels';
import type { DeliverDeps } from '../notify/deliver';
import { logFault } from '../notify/history';
import { muteState } from '../notify/routing';
import { checkOutbox, outboxRoom } from '../notify/outbox';
import type { Voice } from '../notify/speech/voice';
import type { Context } from './context';
import { askDaemon } from './daemon-client';
import { liveConfig, type LiveConfig } from './live-config';
import { phaseEffect } from './phase';
import { voiceOf } from './speech';

/** What the notify commands, and the daemon, call the library with. */
export interface NotifyContext {
  deps: AcceptDeps & DeliverDeps;
  channels: readonly Channel[];
  /** The voice id of the DA, where one is configured. */
  voiceId: string | undefined;
  /** The folder of the assistant's skills. */
  skills: string;
  /** Posts a body to the daemon; undefined: none runs. */
  post: (body: object) => Promise<Accepted | undefined>;
  /** Has what waits delivered by a process of its own, which nobody waits for. */
  deliverLater: () => void;
}

export interface NotifyParts {
  /** The voice, where it is kept for longer than one call. */
  voice?: Voice;
  wake?: AcceptDeps['wake'];
  /** The configuration, where somebody else follows it already. */
  settings?: LiveConfig;
  report?: DeliverDeps['report'];
}

/** Joins the notifications with the configuration, which they follow as it changes, the machine and the voice. */
export async function openNotify(context: Context, parts: NotifyParts = {}): Promise<NotifyContext> {
  const { config: loaded } = await context.loadConfig();
  const settings = parts.settings ?? liveConfig(context, loaded);
  const { current } = settings;
  const { area, clock } = context;
  ensureUserArea(area);
  ensureFolder(area.state);
  checkOutbox(area);
  const { platform, env } = processHost();
  const muteDeps = { clock, mute: area.mute };
  const notifications = (): Config['settings']['notifications'] => current().settings.notifications;
  const secret: Parameters<typeof allChannels>[0]['push']['secret'] = (from) =>
    resolveSecret(from, secretSources());
  const http = { clock, load: once(loadHttp) };
  const report = parts.report ?? ((error: unknown): void => note(deps, error));
  const voice = parts.voice ?? voiceOf(context, settings, report);
  const channels = allChannels({
    voice: { clock, voice, muted: () => muteState(muteDeps).muted },
    desktop: { platform, run: context.run, env, banners: join(area.machine, 'banners.json') },
    push: { http, secret, settings: () => notifications().push },
    chat: { http, secret, settings: () => notifications().chat },
    sms: { run: context.run, command: () => current().user.notify.smsCommand },
  });
  const byId = new Map(channels.map((channel) => [channel.id, channel]));
  const deps: NotifyContext['deps'] = {
    ...muteDeps,
    machineId: context.machineId,
    outbox: area.outbox,
    room: outboxRoom({ clock, outbox: area.outbox }),
    history: area.notifyLog,
    locks: area.machine,
    settings: () => ({
      routing: notifications().routing,
      spoken: notifications().voice.events,
      longTaskMinutes: notifications().thresholds.longTaskMinutes,
      quietHours: current().user.notify.quietHours,
      zone: current().user.timezone,
      hasSms: current().user.notify.smsCommand.length > 0,
    }),
    off: (channel) => byId.get(channel)?.off()?.reason,
    cronVoice: env['DAEMON_CRON_VOICE'] === '1',
    channels,
    random: Math.random,
    report,
    phaseEffect: phaseEffect(context, report),
    ...(parts.wake === undefined ? {} : { wake: parts.wake }),
    settingsChanged: settings.changed,
  };
  return {
    deps,
    channels,
    voiceId: loaded.user.da.voices.main.voiceId,
    skills: join(dirname(claudeCodeSettings.path(processHost())), 'skills'),
    post: (body) => askDaemon<Accepted>(context, { method: 'POST', path: '/notify', body }),
    deliverLater: () => startDetached(['notify', 'deliver'], area.root),
  };
}

function note(deps: NotifyContext['deps'], error: unknown): void {
  try {
    logFault(deps, toStewardError(error).message);
  } catch {
    // A disk that takes nothing takes no word of it either; what is not delivered stays in the outbox.
  }
}

async function loadHttp(): Promise<HttpLibrary> {
  const http = await import('../platform/net/origin-client');
  return http.loadHttp();
}

/** Loads once; a failure is tried again. */
function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  return () => {
    loaded ??= load().catch((error: unknown) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
}
