import { StewardError } from '../../../errors';
import { lstatOf } from '../../../platform/files/folder';
import { powerShellArgs } from '../../../platform/process/windows';
import { readSystemBytes } from '../../../platform/files/system-files';
import { runStep, SoundError, type SpeechMachine, type SpeechOrder } from './engine';

export type AudioKind = 'wav' | 'mp3';

/** A program that plays a file of sound to its end. */
interface Player {
  program: string;
  platforms: readonly NodeJS.Platform[];
  plays: readonly AudioKind[];
  /** The file is an absolute path that steward made, so it is no flag. */
  args: (file: string) => readonly string[];
  /** What the player reads, where the file is not among its arguments. */
  input?: (file: string) => string;
}

/** The path comes by stdin: PowerShell's arguments are a script. */
const PLAY_ON_WINDOWS =
  '$p = [Text.Encoding]::UTF8.GetString([Convert]::FromBase64String([Console]::In.ReadToEnd()));' +
  '(New-Object System.Media.SoundPlayer $p).PlaySync()';

const LINUX: readonly NodeJS.Platform[] = ['linux', 'freebsd', 'openbsd', 'netbsd'];

/** In the order to try. */
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

/** The programs that could play this kind of sound on this system, installed or not. */
export function players({ platform }: Pick<SpeechMachine, 'platform'>, kind: AudioKind): string[] {
  return playersOn(platform, kind).map(({ program }) => program);
}

/** Is there a player for this kind of sound? Starts nothing. */
export function canPlay(machine: SpeechMachine, kind: AudioKind): boolean {
  return playersFor(machine, kind).length > 0;
}

/**
 * Plays a file to its end, with the first player that can: one without its sound server fails at once. One that takes
 * far longer than the sound waits for a server that hangs, as the others would.
 */
export async function play(
  machine: SpeechMachine,
  order: SpeechOrder,
  file: string,
  kind: AudioKind,
): Promise<void> {
  const failures: string[] = [];
  const lengthMs = kind === 'wav' ? wavMs(file) : Infinity;
  for (const { program, args, input } of playersFor(machine, kind)) {
    const late = new SoundError(
      'unavailable',
      `The sound server or the sound card hangs: ${program} did not end.`,
      { hint: 'Restart PipeWire or PulseAudio in your session.' },
    );
    const more = input === undefined ? {} : { input: input(file) };
    try {
      await runStep(machine, order, program, args(file), { ...more, mostMs: lengthMs + HANGS_MS, late });
      return;
    } catch (error) {
      if (!(error instanceof StewardError) || error.kind === 'canceled' || error === late) throw error;
      failures.push(error.message);
    }
  }
  if (failures.length > 0) throw soundError(failures.join(' '));
  throw new StewardError('unavailable', `No program plays ${kind} files here.`, { hint: PLAYER_HINT });
}

/** Longer than a player takes to begin and to end, also on a busy machine. */
const HANGS_MS = 8_000;
/** How the libraries of PulseAudio, PipeWire and ALSA say that nobody listens. */
const NO_SERVER = /connection (?:refused|failure|terminated)|host is down|unable to connect/i;
const PLAYER_HINT = 'Install a player and check that it plays a file, such as aplay (Debian: alsa-utils).';

/** What is wrong with the sound, of what the players said. */
export function soundError(said: string): SoundError {
  if (!NO_SERVER.test(said)) {
    return new SoundError('unavailable', `The sound could not be played. ${said}`, { hint: PLAYER_HINT });
  }
  return new SoundError('unavailable', `The sound server is not running. ${said}`, {
    hint: 'Start PipeWire or PulseAudio in your session.',
  });
}

/** The length of a WAV file. */
function wavMs(file: string): number {
  const head = readSystemBytes(file, 44) ?? Buffer.alloc(0);
  const bytesPerSecond = head.length < 44 ? 0 : head.readUInt32LE(28);
  return bytesPerSecond === 0 ? 0 : ((lstatOf(file)?.size ?? 0) / bytesPerSecond) * 1000;
}

function playersOn(platform: NodeJS.Platform, kind: AudioKind): Player[] {
  return PLAYERS.filter(({ platforms, plays }) => platforms.includes(platform) && plays.includes(kind));
}

function playersFor({ platform, find }: SpeechMachine, kind: AudioKind): Player[] {
  return playersOn(platform, kind).filter(({ program }) => find(program) !== undefined);
}
