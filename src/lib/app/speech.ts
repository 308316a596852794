import { join } from 'node:path';

import { SPEECH_PROVIDER_URL, type Config, type UserConfig } from '../config/schema';
import { resolveSecret, secretSources } from '../config/secret';
import type { StewardError } from '../errors';
import type { ProviderSettings } from '../notify/speech/engines';
import { makeVoice, type Voice, type VoiceDeps, type VoiceSettings } from '../notify/speech/voice';
import { machineStatePath } from '../platform/files/paths';
import { findProgram } from '../platform/process/spawn';
import { turnsIn } from '../platform/process/turn';
import type { Context } from './context';
import type { LiveConfig } from './live-config';

type OnProblem = (problem: StewardError) => void;

/** Joins the voice with the configuration and the machine. `onProblem` is told of a broken pronunciation file. */
export async function openVoice(context: Context, onProblem: OnProblem): Promise<Voice> {
  const { config } = await context.loadConfig();
  return voiceOf(context, { current: () => config }, onProblem);
}

/** The configuration of a voice; with `refresh` the voice follows it. */
export type VoiceConfig = Pick<LiveConfig, 'current'> & Partial<Pick<LiveConfig, 'refresh'>>;

/** The voice of a configuration that is loaded already. Reads and starts nothing yet. */
export function voiceOf(context: Context, config: VoiceConfig, onProblem: OnProblem): Voice {
  return makeVoice({ ...speechSettings(context, config), onProblem });
}

/** What a voice is made of, as it is configured. */
export function speechSettings(
  context: Context,
  { current, refresh }: VoiceConfig,
): Omit<VoiceDeps, 'onProblem'> {
  const { area, clock, desktop, run } = context;
  return {
    clock,
    machine: {
      platform: desktop.platform,
      find: (name) => findProgram(name),
      run,
      // Of the machine and not of a user area: it has one loudspeaker.
      takeTurn: turnsIn(join(machineStatePath(), 'speech'), () => {
        // Asked for with the first turn only: it is written where there is none yet.
        return { clock, machineId: context.machineId };
      }),
    },
    settings: voiceSettings(current),
    refresh,
    pronunciations: area.pronunciations,
  };
}

/** The same object until the configuration changes. */
function voiceSettings(current: () => Config): () => VoiceSettings {
  let kept: { of: Config; settings: VoiceSettings } | undefined;
  return () => {
    const of = current();
    if (kept?.of !== of) {
      const { user } = of;
      kept = { of, settings: { engine: user.notify.voice.engine, provider: providerSettings(user) } };
    }
    return kept.settings;
  };
}

function providerSettings({ notify, da }: UserConfig): ProviderSettings {
  const { url, apiKey, model, settings } = notify.voice.provider;
  return {
    ...{ url, model, settings },
    // A server of one's own may want no key.
    isConfigured: apiKey.isSet || url !== SPEECH_PROVIDER_URL,
    apiKey: () => resolveSecret(apiKey, secretSources()),
    voiceId: da.voices.main.voiceId,
  };
}
