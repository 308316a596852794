import { StewardError } from '../../../errors';
import { openOrigin } from '../../../platform/net/origin-client';
import { withTempFile } from '../../../platform/files/system-files';
import { PCM_RATE, soundOf, type Sound } from './audio';
import { stopped, SYNTHESIS_MS, type SpeechEngine, type SpeechOrder } from './engine';
import { canPlay, play } from './players';
import { refusal } from './provider-errors';

/** The speech provider as it is configured (`notify.voice.provider`). */
export interface ProviderSettings {
  /** Where the server is; https, or http to this machine. */
  url: string;
  /** Is it to be used: has it a key, or an address of its own? */
  isConfigured: boolean;
  /** The key, asked for when it is needed; undefined for a server that wants none. */
  apiKey: () => string | undefined;
  /** The voice of whoever names none. */
  voiceId: string | undefined;
  /** The server's own default when left out. */
  model: string | undefined;
  /** Handed on as it is: stability, similarity_boost, speed, … */
  settings: Readonly<Record<string, number | boolean>>;
}

const MAX_SOUND_BYTES = 16 * 1024 * 1024;
const CONNECT_MS = 5000;

/** A text-to-speech server of ElevenLabs's shape. */
export function providerEngine(settings: ProviderSettings): SpeechEngine {
  return {
    id: 'provider',
    detect: (machine) => settings.isConfigured && (canPlay(machine, 'wav') || canPlay(machine, 'mp3')),
    async speak(machine, order) {
      const { kind, bytes } = await soundFrom(
        settings,
        order,
        canPlay(machine, 'wav') ? `pcm_${PCM_RATE}` : 'mp3_44100_128',
      );
      await withTempFile(`speech.${kind}`, bytes, (file) => play(machine, order, file, kind));
    },
  };
}

async function soundFrom(settings: ProviderSettings, order: SpeechOrder, format: string): Promise<Sound> {
  const voiceId = order.voiceId ?? settings.voiceId;
  if (voiceId === undefined || /^\.*$/.test(voiceId)) {
    throw new StewardError('config', 'The speech provider needs a voice, and none is configured.', {
      hint: 'Run `steward config set da.voices.main.voiceId ID`, or send a voice_id.',
    });
  }
  const key = settings.apiKey();
  // Keeps no connection: the key goes to this server, now, and nowhere else.
  const server = await openOrigin(
    settings.url.replace(/(?<!\/)\/+$/, '').replace(/\/v1$/, ''),
    { name: 'The speech provider at', hint: 'Check the connection, and notify.voice.provider.url.' },
    { connectMs: CONNECT_MS },
  );
  try {
    const answer = await server.request({
      method: 'POST',
      path: `/v1/text-to-speech/${encodeURIComponent(voiceId)}`,
      query: [['output_format', format]],
      headers: { accept: 'audio/*', ...(key === undefined ? {} : { 'xi-api-key': key }) },
      body: {
        text: order.text,
        ...(settings.model === undefined ? {} : { model_id: settings.model }),
        ...(Object.keys(settings.settings).length === 0 ? {} : { voice_settings: settings.settings }),
      },
      signal: order.signal,
      timeoutMs: Math.max(1, Math.min(order.remainingMs(), SYNTHESIS_MS)),
      maxBytes: MAX_SOUND_BYTES,
    });
    if (answer.status !== 200) throw refusal(answer.status, answer.text, voiceId, key);
    return soundOf(answer.bytes, answer.headers['content-type'] ?? '');
  } catch (error) {
    if (order.signal.aborted) throw stopped();
    throw error;
  } finally {
    await server.close();
  }
}
