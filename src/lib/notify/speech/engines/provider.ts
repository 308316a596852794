import { StewardError, type ErrorKind } from '../../../errors';
import { isObject, parseObject } from '../../../platform/files/json-object';
import { withTempFile } from '../../../platform/files/system-files';
import { openOrigin } from '../../../platform/net/origin-client';
import { clean } from '../../../platform/terminal/terminal';
import { stopped, SYNTHESIS_MS, type SpeechEngine, type SpeechOrder } from './engine';
import { canPlay, play, type AudioKind } from './players';

/** The speech provider as it is configured (`notify.voice.provider`). */
export interface ProviderSettings {
  /** Where the server is; https, or http to this machine. */
  url: string;
  /** Is it to be used: has it a key, or an address of its own? */
  isConfigured: boolean;
  /** The key, asked for when it is needed; undefined for a server that wants none. */
  apiKey: () => string | undefined;
  /** The voice where an utterance names none. */
  voiceId: string | undefined;
  /** The server's own default when left out. */
  model: string | undefined;
  /** Handed on as it is: stability, similarity_boost, speed, … */
  settings: Readonly<Record<string, number | boolean>>;
}

const MAX_SOUND_BYTES = 16 * 1024 * 1024;
const CONNECT_MS = 5000;
/** Raw sound as it is asked for: 16 bits, little endian, one channel. Every player plays it once it has a head. */
const PCM_RATE = 22_050;

/** A text-to-speech server of ElevenLabs's shape. */
export function providerEngine(settings: ProviderSettings): SpeechEngine {
  return {
    id: 'provider',
    detect: (machine) => settings.isConfigured && (canPlay(machine, 'wav') || canPlay(machine, 'mp3')),
    async speak(machine, order) {
      const format = canPlay(machine, 'wav') ? `pcm_${PCM_RATE}` : 'mp3_44100_128';
      const { kind, bytes } = await soundFrom(settings, order, format);
      await withTempFile(`speech.${kind}`, bytes, (file) => play(machine, order, file, kind));
    },
  };
}

async function soundFrom(
  { url, apiKey, voiceId: usual, model, settings }: ProviderSettings,
  { text, voiceId = usual, signal, remainingMs }: SpeechOrder,
  format: string,
): Promise<Sound> {
  if (voiceId === undefined || /^\.*$/.test(voiceId)) {
    throw new StewardError('config', 'The speech provider needs a voice, and none is configured.', {
      hint: 'Run `steward config set da.voices.main.voiceId ID`, or send a voice_id.',
    });
  }
  const key = apiKey();
  // Keeps no connection: the key goes to this server, now, and nowhere else.
  const server = await openOrigin(
    url.replace(/(?<!\/)\/+$/, '').replace(/\/v1$/, ''),
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
        text,
        model_id: model,
        voice_settings: Object.keys(settings).length === 0 ? undefined : settings,
      },
      signal,
      timeoutMs: Math.max(1, Math.min(remainingMs(), SYNTHESIS_MS)),
      maxBytes: MAX_SOUND_BYTES,
    });
    if (answer.status !== 200) throw refusal(answer.status, answer.text, voiceId, key);
    return soundOf(answer.bytes, answer.headers['content-type'] ?? '');
  } catch (error) {
    throw signal.aborted ? stopped() : error;
  } finally {
    await server.close();
  }
}

type Refusal = readonly [ErrorKind, words: string, hint: string];

const KEY_HINT =
  'Check notify.voice.provider.apiKey: `steward config set notify.voice.provider.apiKey env:NAME`.';
const LATER = 'It is tried again with a later message; until then another engine speaks, if there is one.';
const BAD: Refusal = [
  'unavailable',
  'does not take the request',
  'Check the voice, notify.voice.provider.model and .settings.',
];
const STATUSES: Readonly<Record<number, Refusal>> = {
  400: BAD,
  401: ['auth', 'refuses the key', KEY_HINT],
  402: [
    'unavailable',
    'wants to be paid for this',
    'Look at your plan there: this voice or model is not in it.',
  ],
  403: ['auth', 'does not allow this to the key', KEY_HINT],
  404: [
    'not_found',
    'does not know the voice',
    'Check da.voices.main.voiceId, and notify.voice.provider.url.',
  ],
  422: BAD,
  429: ['unavailable', 'has had too many requests, or your quota there is used up', LATER],
};

/** The error of an answer that is not 200. */
function refusal(status: number, body: string, voiceId: string, key: string | undefined): StewardError {
  const [kind, words, hint] = STATUSES[status] ?? byClass(status);
  const detail = detailOf(body);
  // A server may repeat the key that it refuses.
  const told = key === undefined || key === '' ? detail : detail.replaceAll(key, '••••');
  const voice = status === 404 ? ` ${clean(voiceId)}` : '';
  const end = told === '' ? '' : `: ${told}`;
  return new StewardError(kind, `The speech provider ${words}${voice} (${status})${end}.`, { hint });
}

function byClass(status: number): Refusal {
  if (status >= 300 && status < 400) {
    const hint = 'Set notify.voice.provider.url to the address that it redirects to, if you trust that.';
    return ['unavailable', 'answers with a redirect, which is not followed with a key', hint];
  }
  if (status >= 500) return ['unavailable', 'has a fault of its own', LATER];
  return ['unavailable', 'does not answer as expected', 'Check notify.voice.provider.url.'];
}

/** What the provider says itself: {"detail": {"message": …}}, {"detail": …} or {"message": …}. */
function detailOf(body: string): string {
  const answer = parseObject(body);
  const detail = answer?.['detail'];
  const said = isObject(detail) ? detail['message'] : (detail ?? answer?.['message']);
  const text = typeof said === 'string' ? clean(said).trim() : '';
  const bare = text.replace(/(?<!\.)\.+$/, '');
  return bare.length > 200 ? `${bare.slice(0, 199)}…` : bare;
}

interface Sound {
  kind: AudioKind;
  bytes: Buffer;
}

/**
 * What a provider has sent, as a file that players know. Some servers send WAV or MP3 whatever they are asked
 * for. An answer that is no sound is `unavailable`.
 */
function soundOf(bytes: Buffer, contentType: string): Sound {
  const type = contentType.toLowerCase();
  const head = bytes.subarray(0, 4).toString('latin1');
  if (bytes.length === 0) throw noSound('sent an empty answer');
  if (!/^(?:audio\/|application\/octet-stream|$)/.test(type)) throw noSound('sent no sound');
  if (head === 'RIFF') return { kind: 'wav', bytes };
  if (head === 'OggS') throw noSound('sent Ogg, which was not asked for');
  if (head.startsWith('ID3') || /mpeg|mp3/.test(type)) return { kind: 'mp3', bytes };
  return { kind: 'wav', bytes: wavOf(bytes.subarray(0, bytes.length - (bytes.length % 2))) };
}

function noSound(what: string): StewardError {
  return new StewardError('unavailable', `The speech provider ${what}.`, {
    hint: "Check notify.voice.provider.url: it has to be a text-to-speech server of ElevenLabs's shape.",
  });
}

function wavOf(pcm: Buffer): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(36 + pcm.length, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(PCM_RATE, 24);
  head.writeUInt32LE(PCM_RATE * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(pcm.length, 40);
  return Buffer.concat([head, pcm]);
}
