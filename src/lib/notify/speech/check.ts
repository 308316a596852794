import { join } from 'node:path';

import type { SpeechMachine } from './engines/engine';
import { players } from './engines/players';
import { makeVoice, type VoiceDeps } from './voice';
import { readBytes } from '../../platform/files/atomic-file';
import type { Run, RunResult } from '../../platform/process/process';
import { withTempFolder } from '../../platform/files/system-files';
import { failed, off, ok, warning, type Finding } from '../../platform/check';

const TEXT = 'This is a test.';
/** A head alone is no sound. */
const LEAST_BYTES = 2_000;
/** Engines that play by themselves, and whose sound cannot be caught. */
const ALOUD = ['sapi', 'spd-say'];

export interface SpeechDeps extends Omit<VoiceDeps, 'onProblem'> {
  /** May it be heard? */
  sound: boolean;
  /** The provider may be asked. */
  online: boolean;
}

/** Has the engines speak, by the same code as a notification: into a file, or aloud where that is allowed. */
export async function checkSpeech(deps: SpeechDeps): Promise<Finding[]> {
  if (deps.settings().engine === 'none') {
    return [off('notify.voice.engine is none', { mend: 'steward config set notify.voice.engine auto' })];
  }
  const problems: Finding[] = [];
  const caught: Buffer[] = [];
  const { engines, hint } = makeVoice({ ...deps, onProblem: () => undefined }).status();
  const machine = deps.sound ? deps.machine : silentMachine(deps.machine, (sound) => caught.push(sound));
  const voice = makeVoice({
    ...deps,
    machine,
    onProblem: ({ message, hint }) => problems.push(warning(message, hint === undefined ? {} : { hint })),
  });
  const [first] = engines;
  if (first === undefined)
    return [warning('nothing here can speak: what is to be said is shown', { hint: hint ?? '' })];
  const isRemote = first === 'provider';
  if (isRemote && !deps.online) return [ok('a speech provider is set up; not asked: it is another host')];
  if (!deps.sound && ALOUD.includes(first)) {
    return [ok(`${first} is there; it plays by itself, so only \`steward doctor notify --sound\` tries it`)];
  }
  const began = deps.clock.monotonic();
  const spoken = await voice.speech.say({ text: TEXT });
  const ms = Math.round(deps.clock.monotonic() - began);
  if (!spoken.spoken) {
    return [
      ...problems,
      failed(`nothing was spoken: ${spoken.reason ?? 'no reason was given'}`, {
        hint: 'Mend what is named.',
      }),
    ];
  }
  const engine = spoken.engine ?? first;
  if (deps.sound) return [...problems, ok(`spoken aloud with ${engine}, in ${ms} ms`)];
  if (!caught.some((sound) => sound.length > LEAST_BYTES)) {
    return [
      ...problems,
      failed(`${engine} runs, and makes no sound`, { hint: `Check that ${engine} has a voice installed.` }),
    ];
  }
  if (
    !players(deps.machine, 'wav').some((name) => deps.machine.find(name) !== undefined) &&
    engine !== 'say'
  ) {
    return [
      ...problems,
      warning(`${engine} speaks, and no program here plays it`, {
        hint: 'Install a player, on Debian: apt-get install alsa-utils.',
      }),
    ];
  }
  return [
    ...problems,
    ok(
      `${engine} made ${Math.round(Math.max(...caught.map(({ length }) => length)) / 1024)} KiB of sound in ${ms} ms`,
    ),
  ];
}

/**
 * The machine with one player that plays nothing and takes the file: whatever an engine makes is made for real,
 * and nobody hears it.
 */
function silentMachine(machine: SpeechMachine, take: (sound: Buffer) => void): SpeechMachine {
  const names = new Set([...players(machine, 'wav'), ...players(machine, 'mp3')]);
  const player = (name: string): string => `silent player ${name}`;
  const find = (name: string): string | undefined => {
    if (names.has(name)) return player(name);
    return ALOUD.includes(name) ? undefined : machine.find(name);
  };
  const done: RunResult = {
    code: 0,
    signal: null,
    stdout: '',
    stderr: '',
    truncated: false,
    timedOut: false,
  };
  const run: Run = async (file, args, options) => {
    if (file.startsWith('silent player ')) {
      const path = args.findLast((arg) => /[\\/]/.test(arg));
      take((path === undefined ? undefined : readBytes(path)) ?? Buffer.alloc(0));
      return done;
    }
    if (!/[\\/]say$/.test(file)) return machine.run(file, args, options);
    return withTempFolder(async (folder) => {
      const path = join(folder, 'speech.aiff');
      const result = await machine.run(file, [...args, '-o', path], options);
      if (result.code === 0) take(readBytes(path) ?? Buffer.alloc(0));
      return result;
    });
  };
  return { platform: machine.platform, find, run, takeTurn: (_waiter, work) => work() };
}
