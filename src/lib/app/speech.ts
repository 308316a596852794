import { join } from 'node:path';

import { SPEECH_PROVIDER_URL, type Config, type UserConfig } from '../config/schema';
import { resolveSecret, secretSources } from '../config/secret';
import type { StewardError } from '../errors';
import type { ProviderSettings } from '../notify/speech/engines/provider';
import { makeVoice, type Voice, type VoiceDeps, type VoiceSettings } from '../notify/speech/voice';
import { machineStatePath } from '../platform/files/paths';
import { findProgram } from '../platform/process/spawn';
import { turnsIn } from '../platform/process/turn';
import type { Context } from './context';
import type { LiveConfig } from '../config/live';

type OnProblem = (problem: StewardError) => void;

/** @param onProblem called for an invalid pronunciation file */
export async function openVoice(context: Context, onProblem: OnProblem): Promise<Voice> {
  const { config } = await context.loadConfig();
  return voiceOf(context, { current: () => config }, onProblem);
}

/** The configuration of a voice. If `refresh` is set, the voice follows changes to the configuration. */
type VoiceConfig = Pick<LiveConfig, 'current'> & Partial<Pick<LiveConfig, 'refresh'>>;

/** Returns a voice that loads nothing until it is used. */
export function voiceOf(context: Context, config: VoiceConfig, onProblem: OnProblem): Voice {
  return makeVoice({ ...speechSettings(context, config), onProblem });
}

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
      // User areas share one audio output, so only one of them speaks at a time.
      takeTurn: turnsIn(join(machineStatePath(), 'speech'), () => {
        return { clock, machineId: context.machineId };
      }),
    },
    settings: voiceSettings(current),
    refresh,
    pronunciations: area.pronunciations,
  };
}

function voiceSettings(current: () => Config): () => VoiceSettings {
  let last: { config: Config; settings: VoiceSettings } | undefined;
  return () => {
    const config = current();
    if (last?.config !== config) {
      const { user } = config;
      last = { config, settings: { engine: user.notify.voice.engine, provider: providerSettings(user) } };
    }
    return last.settings;
  };
}

function providerSettings({ notify, da }: UserConfig): ProviderSettings {
  const { url, apiKey } = notify.voice.provider;
  return {
    url,
    // A self-hosted server may not need an API key.
    isConfigured: apiKey.isSet || url !== SPEECH_PROVIDER_URL,
    apiKey: () => resolveSecret(apiKey, secretSources()),
    voiceId: da.voices.main.voiceId,
  };
}
