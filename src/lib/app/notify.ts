import { dirname, join } from 'node:path';

import { claudeCode } from '../assistant/claude-code';
import { type LiveConfig, liveConfig } from '../config/live';
import type { Config } from '../config/schema';
import { resolveSecret, secretSources } from '../config/secret';
import { ensureUserArea } from '../config/user-area';
import { askDaemon } from '../daemon/client';
import { type AcceptDeps, type Accepted } from '../notify/accept';
import { allChannels } from '../notify/channels';
import { maySpeak } from '../notify/consent';
import type { DeliverDeps } from '../notify/deliver';
import { noteFault } from '../notify/history';
import { checkOutbox } from '../notify/outbox';
import { phaseEffect } from '../notify/phase';
import { mute, muteState, type MuteState } from '../notify/routing';
import type { Sender } from '../notify/send';
import type { Voice } from '../notify/speech/voice';
import { loadedOnce } from '../platform/files/file-cache';
import { ensureFolder } from '../platform/files/folder';
import { definedOnly } from '../platform/files/json-object';
import { processHost } from '../platform/files/paths';
import { startDetached } from '../platform/process/own-process';
import { readWhen } from '../work/due';
import { type Context, zonedNow } from './context';
import { openPushes } from './pushes';
import { openPhase } from './sessions';
import { voiceOf } from './speech';

export interface NotifyContext extends Sender {
  deps: AcceptDeps & DeliverDeps;
  voiceId: string | undefined;
  /** The assistant's skills folder. */
  skills: string;
}

interface NotifyParts {
  /** The daemon's voice, reused across calls. */
  voice?: Voice;
  wake?: AcceptDeps['wake'];
  lastBreak?: DeliverDeps['lastBreak'];
  settings?: LiveConfig;
  report?: DeliverDeps['report'];
}

/** Mutes for a duration or until a time, such as `1h` or `until 14:00`; without words, until `unmute`. */
export async function openMute(context: Context, words: string): Promise<MuteState> {
  const { deps } = await openNotify(context);
  if (words === '') return mute(deps, undefined);
  const now = await zonedNow(context);
  return mute(deps, (await readWhen(words.replace(/^until\s+/i, ''), now)) - now.nowMs);
}

export async function openNotify(context: Context, parts: NotifyParts = {}): Promise<NotifyContext> {
  const { config: loaded } = await context.loadConfig();
  const live = parts.settings ?? liveConfig(context, loaded);
  const { area, clock, machineId, run } = context;
  ensureUserArea(area);
  ensureFolder(area.state);
  checkOutbox(area);
  const { platform, env } = processHost();
  const settings = (): Config['settings']['notifications'] => live.current().settings.notifications;
  const report = parts.report ?? ((error: unknown): void => noteFault(deps, error));
  const muteDeps = { clock, mute: area.mute };
  const deps: NotifyContext['deps'] = {
    ...muteDeps,
    machineId,
    outbox: area.outbox,
    history: area.notifyLog,
    locks: area.machine,
    settings: () => ({
      routing: settings().routing,
      spoken: settings().voice.events,
      ...settings().thresholds,
      quietHours: live.current().user.notify.quietHours,
      zone: live.current().user.timezone,
    }),
    cronVoice: env['DAEMON_CRON_VOICE'] === '1',
    maySpeak: () => maySpeak(area.maySpeak) === true,
    channels: allChannels({
      clock,
      platform,
      env,
      run,
      settings,
      http: loadedOnce(async () => (await import('../platform/net/origin-client')).loadHttp()),
      secret: (from) => resolveSecret(from, secretSources()),
      voice: parts.voice ?? voiceOf(context, live, report),
      muted: () => muteState(muteDeps).muted,
      banners: join(area.machine, 'banners.json'),
      pushes: openPushes(context, parts.wake !== undefined),
      smsCommand: () => live.current().user.notify.smsCommand,
    }),
    random: Math.random,
    report,
    phaseEffect: phaseEffect(() => openPhase(context), report),
    ...definedOnly({ wake: parts.wake, lastBreak: parts.lastBreak }),
    settingsChanged: live.changed,
  };
  return {
    deps,
    voiceId: loaded.user.da.voices.main.voiceId,
    skills: join(dirname(claudeCode.path(processHost())), 'skills'),
    post: (body) => askDaemon<Accepted>(context, { method: 'POST', path: '/notify', body }),
    deliverLater: () => startDetached(['notify', 'deliver'], area.root),
  };
}
