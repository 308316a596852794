import { join } from 'node:path';

import { type Check, type Finding, failed, off, ok, warning } from '../../platform/check';
import { hasSound } from '../../platform/desktop/sound';
import { readBytes } from '../../platform/files/atomic-file';
import { withTempFolder } from '../../platform/files/system-files';
import type { Run } from '../../platform/process/process';
import { localTimes } from '../../platform/time/day-words';
import type { NotifyChecked } from './channel';
import { muteState } from '../routing';
import type { SpeechMachine } from '../speech/engines/engine';
import { players } from '../speech/engines/players';
import { makeVoice } from '../speech/voice';
import type { Channel, ChannelDeps } from './channel';

const STALE_MS = 60_000;

/** The voice channel. Messages that can't be spoken are shown on the desktop instead. */
export function voiceChannel(deps: Pick<ChannelDeps, 'clock' | 'voice' | 'muted'>): Channel {
  const { clock, voice, muted } = deps;
  return {
    id: 'voice',
    keepMs: 15 * 60_000,
    off() {
      const { engines, reason = '', hint = '' } = voice.status();
      if (voice.isOff()) return { reason: 'switched off', hint };
      return engines.length > 0 ? undefined : { reason: reason.replace(/^No/, 'no'), hint };
    },
    trouble() {
      const { reason, hint } = voice.status();
      return reason === undefined ? undefined : { reason: `${reason}.`, hint: hint ?? '' };
    },
    async send({ acceptedMs, message: text, voiceId }) {
      if (muted()) return { outcome: 'show', reason: 'muted' };
      if (Math.abs(clock.now() - acceptedMs) > STALE_MS) {
        return { outcome: 'show', reason: 'older than a minute' };
      }
      const utterance = voiceId === undefined ? { text } : { text, voiceId };
      const { spoken, isStopped, reason } = await voice.speech.say(utterance);
      if (spoken) return { outcome: 'delivered' };
      const hint = 'No action needed: steward tries again when it runs.';
      if (isStopped === true) return { outcome: 'again', reason: 'Stopped while speaking.', hint };
      return { outcome: 'show', reason: reason ?? 'not spoken' };
    },
  };
}

const TEXT = 'This is a test.';
/** Audio files of at most this many bytes are treated as empty. */
const MIN_BYTES = 2_000;
/** Engines that play the audio themselves and can't write it to a file. */
const ALOUD = ['sapi', 'spd-say'];

/** Writes a spoken test message to a file, or plays it aloud with `--sound`. */
export const voiceCheck: Check<NotifyChecked> = {
  id: 'notify.voice',
  title: 'voice',
  needsConfig: true,
  async run(at) {
    const findings = await checkSpeech(at);
    const { muted, until } = muteState({ clock: at.clock, mute: at.area.mute });
    if (!muted) return findings;
    return [
      ...findings,
      warning(until === null ? 'muted' : `muted until ${localTimes(at.clock)(until)}`, {
        fix: 'steward notify unmute',
      }),
    ];
  },
};

async function checkSpeech({ clock, online, sound, voice: voiceDeps }: NotifyChecked): Promise<Finding[]> {
  const deps = await voiceDeps();
  if (deps.settings().engine === 'none') {
    return [off('switched off', { fix: 'steward config set notify.voice.engine auto' })];
  }
  const { engines, reason: missing, hint = '' } = makeVoice({ ...deps, onProblem: () => undefined }).status();
  const [first] = engines;
  if (first === undefined) return [off(missing ?? '', { hint })];
  if (first === 'provider' && !online) return [ok('speech provider set up; add --online to check it')];
  if (!sound && ALOUD.includes(first)) {
    return [ok(`${first} found; only \`steward doctor notify --sound\` can test it`)];
  }
  const problems: Finding[] = [];
  const sizes: number[] = [];
  const voice = makeVoice({
    ...deps,
    machine: sound ? deps.machine : silentMachine(deps.machine, (bytes) => sizes.push(bytes)),
    onProblem: ({ message, hint: fix }) =>
      problems.push(warning(message, fix === undefined ? {} : { hint: fix })),
  });
  const startMs = clock.monotonic();
  const { spoken, engine = first, reason = 'unknown reason' } = await voice.speech.say({ text: TEXT });
  const ms = Math.round(clock.monotonic() - startMs);
  if (!spoken) return [...problems, failed(`speech failed: ${reason}`)];
  if (sound) return [...problems, ok(`spoken aloud with ${engine} in ${ms} ms`)];
  const bytes = Math.max(0, ...sizes);
  if (missing !== undefined && bytes > MIN_BYTES) return [...problems, warning(missing, { hint })];
  return [...problems, judgeSound(engine, bytes, ms)];
}

function judgeSound(engine: string, bytes: number, ms: number): Finding {
  const unheard = hasSound() ? '' : '; this machine has no sound device to play it';
  if (bytes > MIN_BYTES)
    return ok(`${engine} produced ${Math.round(bytes / 1024)} KiB of audio in ${ms} ms${unheard}`);
  return failed(`${engine} runs but produces no audio`, {
    hint: `Check that ${engine} has a voice installed.`,
  });
}

/** Returns a `SpeechMachine` that measures audio files instead of playing them. */
function silentMachine(machine: SpeechMachine, onSound: (bytes: number) => void): SpeechMachine {
  const names = new Set([...players(machine, 'wav'), ...players(machine, 'mp3')]);
  const measure = (path: string | undefined): void =>
    onSound((path === undefined ? undefined : readBytes(path))?.length ?? 0);
  const find = (name: string): string | undefined => {
    if (names.has(name)) return `silent player ${name}`;
    return ALOUD.includes(name) ? undefined : machine.find(name);
  };
  const run: Run = async (file, args, options) => {
    if (file.startsWith('silent player ')) {
      measure(args.findLast((arg) => /[\\/]/.test(arg)));
      return { code: 0, signal: null, stdout: '', stderr: '', truncated: false, timedOut: false };
    }
    if (!/[\\/]say$/.test(file)) return machine.run(file, args, options);
    return withTempFolder(async (folder) => {
      const path = join(folder, 'speech.aiff');
      const result = await machine.run(file, [...args, '-o', path], options);
      if (result.code === 0) measure(path);
      return result;
    });
  };
  return { platform: machine.platform, find, run, takeTurn: (_waiter, work) => work() };
}
