import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { run } from '../../src/lib/platform/process/process';
import { emptyHome, steward, type StewardResult } from './cli';

/** A home folder on whose sound card everything that is played becomes a file. */
export interface SoundHome {
  path: string;
  /** What was played since the last look; undefined when nothing was. */
  played: () => Buffer | undefined;
  /** Writes a file below the user area. */
  write: (name: string, text: string) => void;
  steward: (args: readonly string[], env?: Record<string, string>) => Promise<StewardResult>;
  remove: () => void;
}

export function soundHome(config = ''): SoundHome {
  const { path, remove } = emptyHome();
  const wav = join(path, 'played.wav');
  writeFileSync(
    join(path, '.asoundrc'),
    `pcm.!default { type file slave.pcm "nowhere" file "${wav}" format "wav" }\npcm.nowhere { type null }\n`,
  );
  const write = (name: string, text: string): void => {
    const file = join(path, '.steward', name);
    mkdirSync(join(file, '..'), { recursive: true, mode: 0o700 });
    writeFileSync(file, text, { mode: 0o600 });
  };
  write('config.yaml', config);
  return {
    path,
    write,
    remove,
    played() {
      const sound = existsSync(wav) ? readFileSync(wav) : undefined;
      rmSync(wav, { force: true });
      return sound;
    },
    steward: (args, env = {}) => steward(args, { home: path, env }),
  };
}

/** Length of a WAV file of 16 bits and one channel, in seconds, and its loudest sample. */
export function factsOf(wav: Buffer): { seconds: number; peak: number } {
  const rate = wav.readUInt32LE(24);
  const channels = wav.readUInt16LE(22);
  const data = wav.subarray(44, wav.length - (wav.length % 2));
  let peak = 0;
  for (let at = 0; at + 1 < data.length; at += 2) peak = Math.max(peak, Math.abs(data.readInt16LE(at)));
  return { seconds: data.length / 2 / channels / rate, peak };
}

/** "live" as in "give" and as in "drive" are two words to the recogniser, and nothing else helps it. */
const DICTIONARY = `are AA R
is IH Z
live L IH V
lyve L AY V
now N AW
site S AY T
the DH AH
the(2) DH IY
we W IY
where W EH R
you Y UW
`;
const GRAMMAR = `#JSGF V1.0;
grammar heard;
public <sentence> = [ we are | the site is | where you ] ( live | lyve ) [ now ];
`;

/** What a speech recogniser hears in a WAV file of 16 kHz. */
export async function heardIn(wav: Buffer, folder: string): Promise<string> {
  const file = (name: string, content: string | Buffer): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const args = ['-hmm', '/usr/share/pocketsphinx/model/en-us/en-us', '-logfn', '/dev/null'];
  const { stdout } = await run(
    'pocketsphinx_continuous',
    [
      ...args,
      '-dict',
      file('heard.dict', DICTIONARY),
      '-jsgf',
      file('heard.gram', GRAMMAR),
      '-infile',
      file('heard.wav', wav),
    ],
    { timeoutMs: 60_000 },
  );
  return stdout.trim();
}
