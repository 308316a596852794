import { StewardError } from '../../../errors';
import type { AudioKind } from './players';

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
