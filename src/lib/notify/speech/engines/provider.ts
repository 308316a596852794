import { StewardError, type ErrorKind } from '../../../errors';
import { isObject, parseObject } from '../../../platform/files/json-object';
import { withTempFile } from '../../../platform/files/system-files';
import { openOrigin } from '../../../platform/net/origin-client';
import { clean } from '../../../platform/terminal/terminal';
import { short } from '../../text';
import { stopped, SYNTHESIS_MS, type SpeechEngine, type SpeechMachine, type SpeechOrder } from './engine';
import { canPlay, play, type AudioKind } from './players';

/** The `notify.voice.provider` settings. */
export interface ProviderSettings {
  /** The server's https URL, or an http URL on localhost. */
  url: string;
  /** Whether a key or a custom URL is set. */
  isConfigured: boolean;
  /** Returns the key, or undefined if the server doesn't need one. */
  apiKey: () => string | undefined;
  voiceId: string | undefined;
}

const MAX_SOUND_BYTES = 16 * 1024 * 1024;
const CONNECT_MS = 5000;
/**
 * The sample rate to request, in Hz. The server returns raw 16-bit mono PCM, and steward adds a WAV header.
 */
const PCM_RATE = 22_050;

/** A text-to-speech server with the ElevenLabs API. */
export function providerEngine(settings: ProviderSettings): SpeechEngine {
  const hasPlayer = (machine: SpeechMachine): boolean => canPlay(machine, 'wav') || canPlay(machine, 'mp3');
  return {
    id: 'provider',
    detect: (machine) => settings.isConfigured && hasPlayer(machine),
    lacksPlayer: (machine) => settings.isConfigured && !hasPlayer(machine),
    async speak(machine, order) {
      const format = canPlay(machine, 'wav') ? `pcm_${PCM_RATE}` : 'mp3_44100_128';
      const { kind, bytes } = await soundFrom(settings, order, format);
      await withTempFile(`speech.${kind}`, bytes, (file) => play(machine, order, file, kind));
    },
  };
}

async function soundFrom(
  { url, apiKey, voiceId: defaultVoice }: ProviderSettings,
  { text, voiceId = defaultVoice, signal, remainingMs }: SpeechOrder,
  format: string,
): Promise<Sound> {
  if (voiceId === undefined || /^\.*$/.test(voiceId)) {
    throw new StewardError('config', 'No voice is set for the speech provider.', {
      hint: 'Run `steward config set da.voices.main.voiceId ID`, or pass a `voice_id` with the message.',
    });
  }
  const key = apiKey();
  // Use a separate client, so that the key is sent only to this server.
  const server = await openOrigin(
    url.replace(/(?<!\/)\/+$/, '').replace(/\/v1$/, ''),
    { name: 'The speech provider at', hint: 'Check the connection and notify.voice.provider.url.' },
    { connectMs: CONNECT_MS },
  );
  try {
    const answer = await server.request({
      method: 'POST',
      path: `/v1/text-to-speech/${encodeURIComponent(voiceId)}`,
      query: [['output_format', format]],
      headers: { accept: 'audio/*', ...(key === undefined ? {} : { 'xi-api-key': key }) },
      body: { text },
      signal,
      timeoutMs: Math.max(1, Math.min(remainingMs(), SYNTHESIS_MS)),
      maxBytes: MAX_SOUND_BYTES,
    });
    if (answer.status !== 200) throw errorOf(answer.status, answer.text, voiceId, key);
    return soundOf(answer.bytes, answer.headers['content-type'] ?? '');
  } catch (error) {
    throw signal.aborted ? stopped() : error;
  } finally {
    await server.close();
  }
}

type Rejection = readonly [ErrorKind, words: string, hint: string];

const KEY_HINT = 'Check the key: `steward config set notify.voice.provider.apiKey env:NAME`.';
const LATER = 'No action needed: steward is using another engine for now.';
const REJECTED: Rejection = [
  'unavailable',
  'rejected the request',
  'Check da.voices.main.voiceId and notify.voice.provider.url.',
];
const STATUSES: Readonly<Record<number, Rejection>> = {
  400: REJECTED,
  401: ['auth', 'rejected the key', KEY_HINT],
  402: ['unavailable', 'requires a paid plan', 'Check that your plan includes this voice and model.'],
  403: ['auth', 'denied access', KEY_HINT],
  404: ['not_found', 'has no voice', 'Check da.voices.main.voiceId and notify.voice.provider.url.'],
  422: REJECTED,
  429: ['unavailable', 'rejected the request: rate limit or quota reached', LATER],
};

function errorOf(status: number, body: string, voiceId: string, key: string | undefined): StewardError {
  const [kind, words, hint] = STATUSES[status] ?? byClass(status);
  const detail = detailOf(body);
  // Redact the key, which the error text may contain.
  const safe = key === undefined || key === '' ? detail : detail.replaceAll(key, '••••');
  const voice = status === 404 ? ` ${clean(voiceId)}` : '';
  const end = safe === '' ? '' : `: ${safe}`;
  return new StewardError(kind, `The speech provider ${words}${voice} (${status})${end}.`, { hint });
}

function byClass(status: number): Rejection {
  if (status >= 300 && status < 400) {
    const hint = 'Set notify.voice.provider.url to the new address, if you trust it.';
    return ['unavailable', 'returned a redirect, which steward does not follow', hint];
  }
  if (status >= 500) return ['unavailable', 'returned a server error', LATER];
  return ['unavailable', 'sent an unexpected response', 'Check notify.voice.provider.url.'];
}

/** Extracts the error message from the response's `detail.message`, `detail` or `message` field. */
function detailOf(body: string): string {
  const answer = parseObject(body);
  const detail = answer?.['detail'];
  const words = isObject(detail) ? detail['message'] : (detail ?? answer?.['message']);
  return short(typeof words === 'string' ? clean(words).replace(/(?<!\.)\.+$/, '') : '', 200);
}

interface Sound {
  kind: AudioKind;
  bytes: Buffer;
}

/**
 * Detects the audio format, because some servers ignore the requested format. Throws `unavailable` if the
 * response is not audio.
 */
function soundOf(bytes: Buffer, contentType: string): Sound {
  const type = contentType.toLowerCase();
  const head = bytes.subarray(0, 4).toString('latin1');
  if (bytes.length === 0) throw noSound('sent an empty response');
  if (!/^(?:audio\/|application\/octet-stream|$)/.test(type)) throw noSound('sent no audio');
  if (head === 'RIFF') return { kind: 'wav', bytes };
  if (head === 'OggS') throw noSound('sent Ogg audio, which steward cannot play');
  if (head.startsWith('ID3') || /mpeg|mp3/.test(type)) return { kind: 'mp3', bytes };
  return { kind: 'wav', bytes: wavOf(bytes.subarray(0, bytes.length - (bytes.length % 2))) };
}

function noSound(words: string): StewardError {
  return new StewardError('unavailable', `The speech provider ${words}.`, {
    hint: 'Set notify.voice.provider.url to a text-to-speech server with the ElevenLabs API.',
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
