import { type ErrorKind, StewardError } from '../../../errors';
import { isObject, parseObject } from '../../../platform/files/json-object';
import { withTempFile } from '../../../platform/files/system-files';
import { openOrigin } from '../../../platform/net/origin-client';
import { clean } from '../../../platform/terminal/terminal';
import { SYNTHESIS_MS, type SpeechEngine, type SpeechOrder, stopped } from './engine';
import { type AudioKind, canPlay, play } from './players';

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

const KEY_HINT =
  'Check notify.voice.provider.apiKey: `steward config set notify.voice.provider.apiKey env:NAME`.';
const LATER = 'It is tried again with a later message; until then another engine speaks, if there is one.';

/** What a status says, and what to do, in plain words. */
const STATUSES: ReadonlyMap<number, readonly [ErrorKind, string, string]> = new Map([
  [
    400,
    [
      'unavailable',
      'does not take the request',
      'Check the voice, notify.voice.provider.model and .settings.',
    ],
  ],
  [401, ['auth', 'refuses the key', KEY_HINT]],
  [
    402,
    [
      'unavailable',
      'wants to be paid for this',
      'Look at your plan there: this voice or model is not in it.',
    ],
  ],
  [403, ['auth', 'does not allow this to the key', KEY_HINT]],
  [
    404,
    ['not_found', 'does not know the voice', 'Check da.voices.main.voiceId, and notify.voice.provider.url.'],
  ],
  [
    422,
    [
      'unavailable',
      'does not take the request',
      'Check the voice, notify.voice.provider.model and .settings.',
    ],
  ],
  [429, ['unavailable', 'has had too many requests, or your quota there is used up', LATER]],
] as const);

/** The error of an answer that is not 200. */
export function refusal(
  status: number,
  body: string,
  voiceId: string,
  key: string | undefined,
): StewardError {
  const [kind, words, hint] = STATUSES.get(status) ?? byClass(status);
  const detail = hidden(detailOf(body), key);
  const voice = status === 404 ? ` ${clean(voiceId)}` : '';
  const told = detail === '' ? '' : `: ${detail}`;
  return new StewardError(kind, `The speech provider ${words}${voice} (${status})${told}.`, { hint });
}

function byClass(status: number): readonly [ErrorKind, string, string] {
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
  const text =
    typeof said === 'string'
      ? clean(said)
          .trim()
          .replace(/(?<!\.)\.+$/, '')
      : '';
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}

/** A server may repeat the key that it refuses. */
function hidden(text: string, key: string | undefined): string {
  return key === undefined || key === '' ? text : text.replaceAll(key, '••••');
}

/** Raw sound as it is asked for: 16 bits, little endian, one channel. Every player plays it once it has a head. */
export const PCM_RATE = 22_050;

export interface Sound {
  kind: AudioKind;
  bytes: Buffer;
}

/**
 * What a provider has sent, as a file that players know. Some servers send WAV or MP3 whatever they are asked
 * for. An answer that is no sound is `unavailable`.
 */
export function soundOf(bytes: Buffer, contentType: string): Sound {
  const type = contentType.toLowerCase();
  if (bytes.length === 0) throw noSound('sent an empty answer');
  if (!/^(?:audio\/|application\/octet-stream|$)/.test(type)) throw noSound('sent no sound');
  if (bytes.subarray(0, 4).toString('latin1') === 'RIFF') return { kind: 'wav', bytes };
  if (bytes.subarray(0, 4).toString('latin1') === 'OggS') throw noSound('sent Ogg, which was not asked for');
  if (bytes.subarray(0, 3).toString('latin1') === 'ID3' || /mpeg|mp3/.test(type))
    return { kind: 'mp3', bytes };
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
