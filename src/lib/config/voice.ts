import { SPEECH_PROVIDER_URL, type Config, type UserConfig } from './schema';
import { resolveSecret, secretSources } from './secret';

/** Returns a function that reads the settings of speech, the same object until the configuration changes. */
export function voiceSettings(current: () => Config) {
  let last: { user: UserConfig; settings: ReturnType<typeof settingsOf> } | undefined;
  return () => {
    const { user } = current();
    if (last?.user !== user) last = { user, settings: settingsOf(user) };
    return last.settings;
  };
}

function settingsOf({ notify: { voice }, da }: UserConfig) {
  const { url, apiKey } = voice.provider;
  const provider = {
    url,
    // A self-hosted server may not need an API key.
    isConfigured: apiKey.isSet || url !== SPEECH_PROVIDER_URL,
    apiKey: () => resolveSecret(apiKey, secretSources()),
    voiceId: da.voices.main.voiceId,
  };
  return { engine: voice.engine, provider };
}
