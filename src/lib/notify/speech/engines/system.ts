import { dirname, join } from 'node:path';

import { StewardError } from '../../../errors';
import { powerShellArgs } from '../../../platform/process/windows';
import { withTempFile } from '../../../platform/files/system-files';
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

/** macOS. */
export function sayEngine(): SpeechEngine {
  return {
    id: 'say',
    detect: (machine) => machine.platform === 'darwin' && machine.find('say') !== undefined,
    async speak(machine, order) {
      await runStep(machine, order, 'say', ['-f', '-'], { input: withoutCommands(order.text) });
    },
  };
}

/** Base64 by stdin: whatever code page the console has. */
const SPEAK_ON_WINDOWS =
  '$t = [Text.Encoding]::UTF8.GetString([Convert]::FromBase64String([Console]::In.ReadToEnd()));' +
  'Add-Type -AssemblyName System.Speech;' +
  '(New-Object System.Speech.Synthesis.SpeechSynthesizer).Speak($t)';

/** Windows' own speech. */
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

/** Through a player where there is one, since its own output knows fewer sound systems. */
export function espeakEngine(): SpeechEngine {
  return {
    id: 'espeak-ng',
    detect: ({ platform, find }) => platform !== 'win32' && find('espeak-ng') !== undefined,
    async speak(machine, order) {
      const input = withoutCommands(order.text);
      // UTF-8, whatever the locale.
      const args = ['-b', '1', '--stdin'];
      if (!canPlay(machine, 'wav')) {
        const said = await runStep(machine, order, 'espeak-ng', args, { input });
        // Its exit code is 0 whatever became of the sound.
        if (/^error: /m.test(said)) throw soundError(`espeak-ng: ${lastWords(said)}.`);
        return;
      }
      await withTempFile('speech.wav', '', async (wav) => {
        await runStep(machine, order, 'espeak-ng', [...args, '-w', wav], { input, mostMs: SYNTHESIS_MS });
        await play(machine, order, wav, 'wav');
      });
    },
  };
}

/** Its clearest voice; one that was built without it takes its default. */
export function fliteEngine(): SpeechEngine {
  return fileEngine('flite', 'flite', (text, wav) => ['-voice', 'slt', '-f', text, '-o', wav]);
}

/** Needs a voice beside it (Debian: festvox-kallpc16k); without one it fails and says so. */
export function festivalEngine(): SpeechEngine {
  return fileEngine('festival', 'text2wave', (text, wav) => ['-o', wav, text]);
}

/** A program that makes a file of sound of a file of text. */
function fileEngine(
  id: string,
  program: string,
  args: (text: string, wav: string) => readonly string[],
): SpeechEngine {
  return {
    id,
    detect: (machine) =>
      machine.platform !== 'win32' && machine.find(program) !== undefined && canPlay(machine, 'wav'),
    speak: (machine, order) =>
      withTempFile('speech.txt', `${order.text}\n`, async (text) => {
        const wav = join(dirname(text), 'speech.wav');
        await runStep(machine, order, program, args(text, wav), { mostMs: SYNTHESIS_MS });
        await play(machine, order, wav, 'wav');
      }),
  };
}

/** speech-dispatcher plays by itself. It reads lines, of which a long one would be cut anywhere. */
export function spdEngine(): SpeechEngine {
  let wasHeard = false;
  return {
    id: 'spd-say',
    detect: (machine) => machine.platform === 'linux' && machine.find('spd-say') !== undefined,
    async speak(machine, order) {
      if (!wasHeard) await checkService(machine, order);
      wasHeard = false;
      // A line that begins with !-! would be a command.
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
 * A service without sound takes every text, says nothing of that, and never ends: so it is asked first for nothing but
 * a space, which one that has sound has said at once. It is started by that where it does not run.
 */
async function checkService(machine: SpeechMachine, order: SpeechOrder): Promise<void> {
  const late = new StewardError('unavailable', 'speech-dispatcher runs, and gets nothing said.', {
    hint: 'Check that `spd-say --wait hello` is heard, and ends: it may have no sound, or be busy.',
  });
  await runStep(machine, order, 'spd-say', ['--wait', '--', ' '], { mostMs: SPACE_MS, late });
}

const START_MS = 8000;
/** Less than what has an engine left out for long: it may be busy with what another program says. */
const SPACE_MS = 2500;
/** A slow voice, at its slowest. */
const CHARACTER_MS = 150;
