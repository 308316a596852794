import { join } from 'node:path';

import { type Check, type Finding, failed, off, ok, warning } from '../../platform/check';
import { readBytes } from '../../platform/files/atomic-file';
import { withTempFolder } from '../../platform/files/system-files';
import type { Run } from '../../platform/process/process';
import type { NotifyChecked } from '../checks';
import { muteState } from '../routing';
import { type SpeechMachine, players } from '../speech/engines';
import { makeVoice } from '../speech/voice';
import type { Channel, ChannelDeps } from './channel';

/** Nobody wants to hear what waited longer. */
const STALE_MS = 60_000;

/** The voice: a text that cannot be spoken, whatever the reason, is shown. */
export function voiceChannel({
  clock,
  voice,
  muted,
}: Pick<ChannelDeps, 'clock' | 'voice' | 'muted'>): Channel {
  return {
    id: 'voice',
    keepMs: 15 * 60_000,
    off() {
      if (!voice.isOff()) return undefined;
      return { reason: 'switched off', hint: voice.status().hint ?? '' };
    },
    trouble() {
      const { reason, hint } = voice.status();
      return reason === undefined ? undefined : { reason: `${reason}.`, hint: hint ?? '' };
    },
    async send({ acceptedMs, message: text, voiceId }) {
      // What was accepted before the mute is shown, too.
      if (muted()) return { outcome: 'show', reason: 'muted' };
      // An earlier time means the clock moved back: it has waited, too.
      if (Math.abs(clock.now() - acceptedMs) > STALE_MS) {
        return { outcome: 'show', reason: 'it waited for longer than a minute' };
      }
      const { spoken, reason } = await voice.speech.say(voiceId === undefined ? { text } : { text, voiceId });
      return spoken
        ? { outcome: 'delivered' }
        : { outcome: 'show', reason: reason ?? 'it could not be spoken' };
    },
  };
}

const TEXT = 'This is a test.';
/** A head alone is no sound. */
const LEAST_BYTES = 2_000;
/** Engines that play by themselves, and whose sound cannot be caught. */
const ALOUD = ['sapi', 'spd-say'];

/** Has the engines speak, by the same code as a notification: into a file, or aloud where that is allowed. */
export const voiceCheck: Check<NotifyChecked> = {
  id: 'notify.voice',
  title: 'the voice',
  needsConfig: true,
  limitMs: 40_000,
  async run(at) {
    const findings = await checkSpeech(at);
    const { muted, until } = muteState({ clock: at.clock, mute: at.area.mute });
    if (!muted) return findings;
    const words = `muted ${until === null ? 'until it is taken back' : `until ${until}`}`;
    return [...findings, warning(words, { mend: 'steward notify unmute' })];
  },
};

async function checkSpeech({ clock, online, sound, voice: voiceDeps }: NotifyChecked): Promise<Finding[]> {
  const deps = await voiceDeps();
  const quiet = { ...deps, onProblem: () => undefined };
  if (deps.settings().engine === 'none') {
    return [off('notify.voice.engine is none', { mend: 'steward config set notify.voice.engine auto' })];
  }
  const { engines, hint = '' } = makeVoice(quiet).status();
  const [first] = engines;
  if (first === undefined) return [warning('nothing here can speak: what is to be said is shown', { hint })];
  if (first === 'provider' && !online) {
    return [ok('a speech provider is set up; not checked: add --online')];
  }
  if (!sound && ALOUD.includes(first)) {
    return [ok(`${first} is there; it plays by itself, so only \`steward doctor notify --sound\` tries it`)];
  }
  const problems: Finding[] = [];
  const caught: number[] = [];
  const voice = makeVoice({
    ...deps,
    machine: sound ? deps.machine : silentMachine(deps.machine, (bytes) => caught.push(bytes)),
    onProblem: ({ message, hint: what }) =>
      problems.push(warning(message, what === undefined ? {} : { hint: what })),
  });
  const began = clock.monotonic();
  const { spoken, engine = first, reason = 'no reason was given' } = await voice.speech.say({ text: TEXT });
  const ms = Math.round(clock.monotonic() - began);
  if (!spoken) return [...problems, failed(`nothing was spoken: ${reason}`, { hint: 'Mend what is named.' })];
  if (sound) return [...problems, ok(`spoken aloud with ${engine}, in ${ms} ms`)];
  return [...problems, judgeSound(deps.machine, engine, Math.max(0, ...caught), ms)];
}

function judgeSound(machine: SpeechMachine, engine: string, bytes: number, ms: number): Finding {
  if (bytes <= LEAST_BYTES) {
    const hint = `Check that ${engine} has a voice installed.`;
    return failed(`${engine} runs, and makes no sound`, { hint });
  }
  const canPlay = players(machine, 'wav').some((name) => machine.find(name) !== undefined);
  if (!canPlay && engine !== 'say') {
    const hint = 'Install a player, on Debian: apt-get install alsa-utils.';
    return warning(`${engine} speaks, and no program here plays it`, { hint });
  }
  return ok(`${engine} made ${Math.round(bytes / 1024)} KiB of sound in ${ms} ms`);
}

/**
 * The machine with one player that plays nothing and measures the file: whatever an engine makes is made for real, and
 * nobody hears it.
 */
function silentMachine(machine: SpeechMachine, take: (bytes: number) => void): SpeechMachine {
  const names = new Set([...players(machine, 'wav'), ...players(machine, 'mp3')]);
  const measure = (path: string | undefined): void =>
    take((path === undefined ? undefined : readBytes(path))?.length ?? 0);
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
