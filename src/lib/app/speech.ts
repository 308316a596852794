import { join } from 'node:path';

import { SPEECH_PROVIDER_URL, type Config, type UserConfig } from '../config/schema';
import { resolveSecret, secretSources } from '../config/secret';
import { StewardError } from '../errors';
import type { ProviderSettings } from '../notify/speech/engines';
import type { Transformed } from '../notify/speech/transform';
import { makeVoice, type Voice, type VoiceDeps, type VoiceSettings } from '../notify/speech/voice';
import { machineStatePath } from '../platform/files/paths';
import { findProgram } from '../platform/process/program';
import { stoppable } from '../platform/terminal/stdio';
import { turnsIn } from '../platform/process/turn';
import type { Context } from './context';
import type { LiveConfig } from './live-config';

/** Joins the voice with the configuration and the machine. `onProblem` is told of a broken pronunciation file. */
async function openVoice(context: Context, onProblem: (problem: StewardError) => void): Promise<Voice> {
  const { config } = await context.loadConfig();
  return voiceOf(context, { current: () => config }, onProblem);
}

/** The configuration of a voice; with `refresh` the voice follows it. */
export type VoiceConfig = Pick<LiveConfig, 'current'> & Partial<Pick<LiveConfig, 'refresh'>>;

/** The voice of a configuration that is loaded already. Reads and starts nothing yet. */
export function voiceOf(
  context: Context,
  config: VoiceConfig,
  onProblem: (problem: StewardError) => void,
): Voice {
  return makeVoice({ ...speechSettings(context, config), onProblem });
}

/** What a voice is made of, as it is configured. */
export function speechSettings(
  context: Context,
  { current, refresh }: VoiceConfig,
): Omit<VoiceDeps, 'onProblem'> {
  const { clock } = context;
  return {
    clock,
    machine: {
      platform: context.desktop.platform,
      find: (name) => findProgram(name),
      run: context.run,
      // Of the machine and not of a user area: it has one loudspeaker.
      takeTurn: turnsIn(join(machineStatePath(), 'speech'), () => ({ clock, machineId: context.machineId })),
    },
    settings: voiceSettings(current),
    ...(refresh === undefined ? {} : { refresh }),
    pronunciations: context.area.pronunciations,
  };
}

/** The same object until the configuration changes. */
function voiceSettings(current: () => Config): () => VoiceSettings {
  let kept: { of: Config; settings: VoiceSettings } | undefined;
  return () => {
    const config = current();
    if (kept?.of !== config) {
      const { user } = config;
      const settings = { engine: user.notify.voice.engine, provider: providerSettings(user) };
      kept = { of: config, settings };
    }
    return kept.settings;
  };
}

function providerSettings({ notify, da }: UserConfig): ProviderSettings {
  const { url, apiKey, model, settings } = notify.voice.provider;
  return {
    url,
    // A server of one's own may want no key.
    isConfigured: apiKey.isSet || url !== SPEECH_PROVIDER_URL,
    apiKey: () => resolveSecret(apiKey, secretSources()),
    voiceId: da.voices.main.voiceId,
    model,
    settings,
  };
}

export interface SpeakInput {
  text: string;
  voiceId?: string | undefined;
  /** Only say what would be spoken. */
  dryRun: boolean;
}

/** What was spoken, or would be: `engine` where it was. */
export type SpeakResult = Transformed & { engine?: string };

const MAX_CHARACTERS = 4000;

/**
 * Speaks one text now, or only shows it after the transforms (decisions.md 2, 5). An empty or over-long text is
 * `usage`; one that could not be spoken `unavailable`, and `canceled` when it was interrupted.
 */
export async function speakNow(
  context: Context,
  input: SpeakInput,
  onProblem: (problem: StewardError) => void,
): Promise<SpeakResult> {
  checkText(input.text);
  const voice = await openVoice(context, onProblem);
  const { text, spoken, problem } = voice.preview(input.text);
  if (input.dryRun) {
    if (problem !== undefined) onProblem(problem);
    return { text, spoken };
  }
  let interrupted = false;
  const stop = (): void => {
    interrupted = true;
    void voice.speech.close(0);
  };
  const { voiceId } = input;
  const answer = await stoppable(stop, () =>
    voice.speech.say({ text, ...(voiceId === undefined ? {} : { voiceId }) }),
  );
  if (answer.spoken)
    return { text, spoken, ...(answer.engine === undefined ? {} : { engine: answer.engine }) };
  if (interrupted) throw new StewardError('canceled', 'It was interrupted.', { hint: 'Run it again.' });
  throw new StewardError('unavailable', `It was not spoken. ${answer.reason ?? ''}`.trim(), {
    hint: 'Mend what is named, or see what would be said with --dry-run.',
  });
}

function checkText(text: string): void {
  if (text.trim() === '') {
    throw new StewardError('usage', 'The text is empty.', {
      hint: 'Give a text: steward notify speak "Done."',
    });
  }
  const length = [...text].length;
  if (length <= MAX_CHARACTERS) return;
  throw new StewardError(
    'usage',
    `The text has ${length} characters; at most ${MAX_CHARACTERS} are spoken.`,
    {
      hint: 'Speak a summary of it.',
    },
  );
}
