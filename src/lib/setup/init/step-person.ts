import { parse } from 'node:path';

import { fromText } from '../../config/load';
import { SPEECH_PROVIDER_URL } from '../../config/schema';
import { StewardError, toStewardError } from '../../errors';
import { mute, muteState, unmute } from '../../notify/routing';
import { clean } from '../../platform/terminal/terminal';
import { voiceOf } from '../../app/speech';
import type { Apply, InitFlags, Setup, Step } from './step';

/** Who steward serves. */
export const nameStep: Step = {
  id: 'name',
  shown: ({ config }) => config().user.principal.name ?? 'not set',
  given: (setup, flags) => textFlag(setup, flags, 'name', 'principal.name'),
  async ask(setup, questions) {
    const known = setup.config().user.principal.name ?? (await nameOfGit(setup));
    const answer = await questions.line(`Your name [${known ?? 'none'}]: `);
    const name = answer === '' ? known : answer;
    return name === undefined ? undefined : () => setup.set({ 'principal.name': name });
  },
};

/** What the assistant is called. */
export const daStep: Step = {
  id: 'da',
  shown: ({ config }) => config().user.da.name,
  given: (setup, flags) => textFlag(setup, flags, 'da-name', 'da.name'),
  async ask(setup, questions) {
    const answer = await questions.line(`What your assistant is called [${setup.config().user.da.name}]: `);
    return answer === '' ? undefined : () => setup.set({ 'da.name': answer });
  },
};

const VOICE_CHOICES = ['on', 'mute', 'off'] as const;
type VoiceChoice = (typeof VOICE_CHOICES)[number];

/** Voice is on by the specification; the set-up says so and offers mute (decisions.md 2). */
export const voiceStep: Step = {
  id: 'voice',
  shown(setup) {
    const { da } = setup.config().user;
    const id = da.voices.main.voiceId;
    return `${VOICE_WORDS[voiceNow(setup)]}${id === undefined ? '' : `, voice ${id}`}`;
  },
  given(setup, flags) {
    const voiceId = textFlag(setup, flags, 'voice-id', 'da.voices.main.voiceId');
    const choice = VOICE_CHOICES.find((one) => one === flags.voice);
    if (choice === undefined && voiceId === undefined) return undefined;
    return async () => {
      if (choice !== undefined) await setVoice(setup, choice);
      await voiceId?.();
    };
  },
  async ask(setup, questions) {
    const { engines, hint } = voiceOf(setup.context, { current: setup.config }, () => undefined).status();
    setup.say(
      engines[0] === undefined
        ? `The voice is on, but nothing here can speak. ${hint ?? ''} What would be said is shown.`
        : `The voice is on: steward speaks aloud, with ${engines[0]}. "mute" is silent until "steward notify unmute".`,
    );
    const now = voiceNow(setup);
    const answer = (await questions.line(`Voice: on, mute or off [${now}]: `)).toLowerCase();
    const choice = answer === '' ? now : VOICE_CHOICES.find((one) => one === answer);
    if (choice === undefined) {
      throw new StewardError('usage', 'The voice can be on, mute or off.', {
        hint: 'Write one of these words.',
      });
    }
    const voiceId = hasProvider(setup) ? await askVoiceId(setup, questions.line) : '';
    return async () => {
      await setVoice(setup, choice);
      if (voiceId !== '') await setup.set({ 'da.voices.main.voiceId': voiceId });
    };
  },
};

const VOICE_WORDS: Readonly<Record<VoiceChoice, string>> = { on: 'on', mute: 'muted', off: 'off' };

function voiceNow(setup: Setup): VoiceChoice {
  if (setup.config().user.notify.voice.engine === 'none') return 'off';
  return muteState(muteDeps(setup)).muted ? 'mute' : 'on';
}

async function setVoice(setup: Setup, choice: VoiceChoice): Promise<void> {
  const { engine } = setup.config().user.notify.voice;
  if (choice === 'off' || engine === 'none') {
    await setup.set({ 'notify.voice.engine': choice === 'off' ? 'none' : 'auto' });
  }
  if (choice === 'mute') mute(muteDeps(setup), undefined);
  else if (muteState(muteDeps(setup)).muted) unmute(muteDeps(setup));
}

function muteDeps({ context }: Setup): Parameters<typeof muteState>[0] {
  return { clock: context.clock, mute: context.area.mute };
}

function hasProvider(setup: Setup): boolean {
  const { apiKey, url } = setup.config().user.notify.voice.provider;
  return apiKey.isSet || url !== SPEECH_PROVIDER_URL;
}

function askVoiceId(setup: Setup, line: (question: string) => Promise<string>): Promise<string> {
  const known = setup.config().user.da.voices.main.voiceId;
  return line(`Voice id of your speech provider [${known ?? "the provider's own"}]: `);
}

/** A flag that is one key's value, checked now. */
function textFlag(
  setup: Setup,
  flags: InitFlags,
  flag: 'name' | 'da-name' | 'voice-id',
  key: string,
): Apply | undefined {
  const text = flags[flag];
  if (text === undefined) return undefined;
  const fit = fromText(key, text);
  if ('wrong' in fit) {
    throw new StewardError('usage', `--${flag}${fit.wrong}.`, { hint: 'Nothing was written.' });
  }
  // As it was written: a name of digits is a name.
  return () => setup.set({ [key]: text });
}

/** The name that git knows, as a suggestion; nothing is written of it unasked. */
async function nameOfGit({ context }: Setup): Promise<string | undefined> {
  try {
    const { code, stdout } = await context.run('git', ['config', '--global', '--get', 'user.name'], {
      // The current folder may be gone, and git would fail there.
      cwd: parse(process.cwd()).root,
      timeoutMs: 5_000,
    });
    const name = clean(stdout).trim();
    return code === 0 && name !== '' ? name : undefined;
  } catch (error) {
    // A suggestion: without git there is none.
    if (toStewardError(error).kind === 'internal') throw error;
    return undefined;
  }
}
