import { dirname, join } from 'node:path';

import { StewardError } from '../../../errors';
import { withTempFile } from '../../../platform/files/system-files';
import { powerShellArgs } from '../../../platform/process/windows';
import {
  lastWords,
  runStep,
  SYNTHESIS_MS,
  withoutCommands,
  type SpeechEngine,
  type SpeechMachine,
  type SpeechOrder,
} from './engine';
import { canPlay, play, soundError } from './players';

/** Returns the engines of the system in order of preference. */
export function systemEngines(): SpeechEngine[] {
  return [sayEngine(), sapiEngine(), espeakEngine(), fliteEngine(), festivalEngine(), spdEngine()];
}

export function sayEngine(): SpeechEngine {
  return {
    id: 'say',
    detect: (machine) => machine.platform === 'darwin' && machine.find('say') !== undefined,
    async speak(machine, order) {
      await runStep(machine, order, 'say', ['-f', '-'], { input: withoutCommands(order.text) });
    },
  };
}

/**
 * Passes the text to PowerShell as base64, because the console's code page may lack some of the characters.
 */
const SPEAK_ON_WINDOWS =
  '$t = [Text.Encoding]::UTF8.GetString([Convert]::FromBase64String([Console]::In.ReadToEnd()));' +
  'Add-Type -AssemblyName System.Speech;' +
  '(New-Object System.Speech.Synthesis.SpeechSynthesizer).Speak($t)';

export function sapiEngine(): SpeechEngine {
  return {
    id: 'sapi',
    detect: (machine) => machine.platform === 'win32' && machine.find('powershell.exe') !== undefined,
    async speak(machine, order) {
      const input = Buffer.from(order.text, 'utf8').toString('base64');
      await runStep(machine, order, 'powershell.exe', powerShellArgs(SPEAK_ON_WINDOWS), { input });
    },
  };
}

/** Prefers an external player, since espeak's own output supports fewer sound systems. */
export function espeakEngine(): SpeechEngine {
  const isInstalled = ({ platform, find }: SpeechMachine): boolean =>
    platform !== 'win32' && find('espeak-ng') !== undefined;
  return {
    id: 'espeak-ng',
    detect: isInstalled,
    lacksPlayer: (machine) => isInstalled(machine) && !canPlay(machine, 'wav'),
    async speak(machine, order) {
      const input = withoutCommands(order.text);
      // The option `-b 1` selects UTF-8 in any locale.
      const args = ['-b', '1', '--stdin'];
      if (!canPlay(machine, 'wav')) {
        const stderr = await runStep(machine, order, 'espeak-ng', args, { input });
        // espeak-ng exits with code 0 even if it can't play sound.
        if (/^error: /m.test(stderr)) throw soundError(`espeak-ng: ${lastWords(stderr)}.`);
        return;
      }
      await withTempFile('speech.wav', '', async (wav) => {
        await runStep(machine, order, 'espeak-ng', [...args, '-w', wav], { input, mostMs: SYNTHESIS_MS });
        await play(machine, order, wav, 'wav');
      });
    },
  };
}

/** Requests flite's clearest voice; flite falls back to its default if the voice is missing. */
export function fliteEngine(): SpeechEngine {
  return fileEngine('flite', 'flite', (text, wav) => ['-voice', 'slt', '-f', text, '-o', wav]);
}

/** Creates an engine that uses Festival, which needs a voice package such as Debian's festvox-kallpc16k. */
export function festivalEngine(): SpeechEngine {
  return fileEngine('festival', 'text2wave', (text, wav) => ['-o', wav, text]);
}

/** Creates an engine whose program converts a text file to an audio file. */
function fileEngine(
  id: string,
  program: string,
  args: (text: string, wav: string) => readonly string[],
): SpeechEngine {
  const isInstalled = ({ platform, find }: SpeechMachine): boolean =>
    platform !== 'win32' && find(program) !== undefined;
  return {
    id,
    detect: (machine) => isInstalled(machine) && canPlay(machine, 'wav'),
    lacksPlayer: (machine) => isInstalled(machine) && !canPlay(machine, 'wav'),
    speak: (machine, order) =>
      withTempFile('speech.txt', `${order.text}\n`, async (text) => {
        const wav = join(dirname(text), 'speech.wav');
        await runStep(machine, order, program, args(text, wav), { mostMs: SYNTHESIS_MS });
        await play(machine, order, wav, 'wav');
      }),
  };
}

/**
 * Creates an engine that sends short lines, because speech-dispatcher splits long lines at arbitrary points.
 */
export function spdEngine(): SpeechEngine {
  let wasHeard = false;
  return {
    id: 'spd-say',
    detect: (machine) => machine.platform === 'linux' && machine.find('spd-say') !== undefined,
    async speak(machine, order) {
      if (!wasHeard) await checkService(machine, order);
      wasHeard = false;
      // spd-say interprets a line that starts with `!-!` as a command.
      const text = withoutCommands(order.text).replace(/!(?=-!)/g, '! ');
      const lines = text.match(/.{1,200}(?= |$)|.{1,200}/gu) ?? [];
      await runStep(machine, order, 'spd-say', ['--pipe-mode', '--wait'], {
        input: `${lines.join('\n')}\n`,
        mostMs: START_MS + order.text.length * CHARACTER_MS,
      });
      wasHeard = true;
    },
  };
}

/**
 * Checks the service by speaking a space. If sound isn't working, the service accepts text but never finishes.
 * Listing its modules starts it, so that a slow start doesn't count as missing sound.
 */
async function checkService(machine: SpeechMachine, order: SpeechOrder): Promise<void> {
  const late = new StewardError('unavailable', 'speech-dispatcher is not working.', {
    hint: 'Check that `spd-say --wait hello` is audible and exits.',
  });
  await runStep(machine, order, 'spd-say', ['--list-output-modules'], { mostMs: START_MS, late });
  await runStep(machine, order, 'spd-say', ['--wait', '--', ' '], { mostMs: SPACE_MS, late });
}

const START_MS = 8000;
/**
 * Timeout for the test. It is shorter than `slowMs`, because the queue skips an engine for minutes after a
 * slower failure.
 */
const SPACE_MS = 2500;
/** Speaking time per character at the slowest speed. */
const CHARACTER_MS = 150;
