import { StewardError } from '../../../errors';
import { lstatOf } from '../../../platform/files/folder';
import { readSystemBytes } from '../../../platform/files/system-files';
import { powerShellArgs } from '../../../platform/process/windows';
import { runStep, SoundError, type SpeechMachine, type SpeechOrder } from './engine';

export type AudioKind = 'wav' | 'mp3';

interface Player {
  program: string;
  platforms: readonly NodeJS.Platform[];
  plays: readonly AudioKind[];
  /** Returns the player's arguments. `file` is an absolute path, so that it can't be parsed as a flag. */
  args: (file: string) => readonly string[];
  /** Returns the player's input on stdin, if the file isn't passed as an argument. */
  input?: (file: string) => string;
}

/** Reads the path from stdin, because PowerShell would execute a path passed as an argument. */
const PLAY_ON_WINDOWS =
  '$p = [Text.Encoding]::UTF8.GetString([Convert]::FromBase64String([Console]::In.ReadToEnd()));' +
  '(New-Object System.Media.SoundPlayer $p).PlaySync()';

const LINUX: readonly NodeJS.Platform[] = ['linux', 'freebsd', 'openbsd', 'netbsd'];

const PLAYERS: readonly Player[] = [
  { program: 'afplay', platforms: ['darwin'], plays: ['wav', 'mp3'], args: (file) => [file] },
  { program: 'pw-play', platforms: LINUX, plays: ['wav'], args: (file) => [file] },
  { program: 'paplay', platforms: LINUX, plays: ['wav'], args: (file) => [file] },
  { program: 'aplay', platforms: LINUX, plays: ['wav'], args: (file) => ['-q', file] },
  { program: 'mpg123', platforms: LINUX, plays: ['mp3'], args: (file) => ['-q', file] },
  {
    program: 'ffplay',
    platforms: [...LINUX, 'darwin', 'win32'],
    plays: ['wav', 'mp3'],
    args: (file) => ['-nodisp', '-autoexit', '-nostdin', '-loglevel', 'error', '-i', file],
  },
  {
    program: 'powershell.exe',
    platforms: ['win32'],
    plays: ['wav'],
    args: () => powerShellArgs(PLAY_ON_WINDOWS),
    input: (file) => Buffer.from(file, 'utf8').toString('base64'),
  },
];

function playersOn(platform: NodeJS.Platform, kind: AudioKind): Player[] {
  return PLAYERS.filter(({ platforms, plays }) => platforms.includes(platform) && plays.includes(kind));
}

/** Returns the programs that can play this kind of file on this operating system, whether installed or not. */
export function players({ platform }: Pick<SpeechMachine, 'platform'>, kind: AudioKind): string[] {
  return playersOn(platform, kind).map(({ program }) => program);
}

export function canPlay({ platform, find }: SpeechMachine, kind: AudioKind): boolean {
  return playersOn(platform, kind).some(({ program }) => find(program) !== undefined);
}

/**
 * Plays a file with the first player that works. Gives up if a player runs far longer than the audio, because
 * that means that the sound server is not responding.
 */
export async function play(machine: SpeechMachine, order: SpeechOrder, file: string, kind: AudioKind) {
  const failures: string[] = [];
  const lengthMs = kind === 'wav' ? wavMs(file) : Infinity;
  for (const { program, args, input } of playersOn(machine.platform, kind)) {
    if (machine.find(program) === undefined) continue;
    const late = new SoundError(
      'unavailable',
      `The sound server or sound card is not responding: ${program} timed out.`,
      { hint: 'Restart PipeWire or PulseAudio.' },
    );
    const more = input === undefined ? {} : { input: input(file) };
    try {
      await runStep(machine, order, program, args(file), { ...more, mostMs: lengthMs + HANG_MS, late });
      return;
    } catch (error) {
      if (!(error instanceof StewardError) || error.kind === 'canceled' || error === late) throw error;
      failures.push(error.message);
    }
  }
  if (failures.length > 0) throw soundError(failures.join(' '));
  throw new StewardError('unavailable', `No installed program can play ${kind} files.`, {
    hint: PLAYER_HINT,
  });
}

/** How long a player may run beyond the length of the audio, in ms. */
const HANG_MS = 8_000;
/** Errors from PulseAudio, PipeWire and ALSA when no server is running. */
const NO_SERVER = /connection (?:refused|failure|terminated)|host is down|unable to connect/i;
/** Errors from ALSA, and from engines that use it, on a machine without a sound card. */
const NO_DEVICE = /error: no such (?:file or directory|device)|cannot find card/i;
export const PLAYER_HINT = 'Install a player such as aplay (Debian: alsa-utils), and test it with a file.';

/** Returns the error that describes a player's error output. */
export function soundError(output: string): SoundError {
  if (NO_DEVICE.test(output)) {
    return new SoundError('unavailable', 'No sound card and no sound server found.', {
      hint: 'Speak on a machine with sound, or run `steward config set notify.voice.engine none`.',
    });
  }
  if (!NO_SERVER.test(output)) {
    return new SoundError('unavailable', `Could not play the audio. ${output}`, { hint: PLAYER_HINT });
  }
  return new SoundError('unavailable', `The sound server is not running. ${output}`, {
    hint: 'Start PipeWire or PulseAudio.',
  });
}

function wavMs(file: string): number {
  const head = readSystemBytes(file, 44) ?? Buffer.alloc(0);
  const bytesPerSecond = head.length < 44 ? 0 : head.readUInt32LE(28);
  return bytesPerSecond === 0 ? 0 : ((lstatOf(file)?.size ?? 0) / bytesPerSecond) * 1000;
}
