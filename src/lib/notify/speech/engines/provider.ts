import { StewardError } from '../../../errors';
import { withTempFile } from '../../../platform/system-files';
import { PCM_RATE, soundOf, type Sound } from './audio';
import { stopped, SYNTHESIS_MS, type SpeechEngine, type SpeechOrder } from './engine';
import { canPlay, play } from './players';
import { hidden, refusal, unreachable } from './provider-errors';

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
const MAX_ERROR_BYTES = 8 * 1024;
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
  const { Agent, request } = await import('undici');
  // Follows no redirect, and keeps no connection: the key goes to this server, now, and nowhere else.
  const dispatcher = new Agent({ connect: { timeout: CONNECT_MS }, maxResponseSize: MAX_SOUND_BYTES });
  const timeout = AbortSignal.timeout(Math.max(1, Math.min(order.remainingMs(), SYNTHESIS_MS)));
  try {
    const answer = await request(addressOf(settings.url, voiceId, format), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'audio/*',
        ...(key === undefined ? {} : { 'xi-api-key': key }),
      },
      body: JSON.stringify({
        text: order.text,
        ...(settings.model === undefined ? {} : { model_id: settings.model }),
        ...(Object.keys(settings.settings).length === 0 ? {} : { voice_settings: settings.settings }),
      }),
      dispatcher,
      signal: AbortSignal.any([order.signal, timeout]),
    });
    if (answer.statusCode !== 200) {
      throw refusal(answer.statusCode, await beginningOf(answer.body), voiceId, key);
    }
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    return soundOf(bytes, String(answer.headers['content-type'] ?? ''));
  } catch (error) {
    if (order.signal.aborted) throw stopped();
    if (error instanceof StewardError) throw error;
    throw unreachable(error, {
      url: settings.url,
      isLate: timeout.aborted,
      shown: (text) => hidden(text, key),
    });
  } finally {
    await dispatcher.destroy();
  }
}

function addressOf(base: string, voiceId: string, format: string): string {
  const root = base.replace(/\/+$/, '').replace(/\/v1$/, '');
  return `${root}/v1/text-to-speech/${encodeURIComponent(voiceId)}?output_format=${format}`;
}

async function beginningOf(body: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of body) {
    parts.push(part);
    size += part.length;
    if (size >= MAX_ERROR_BYTES) break;
  }
  return Buffer.concat(parts).subarray(0, MAX_ERROR_BYTES).toString('utf8');
}
