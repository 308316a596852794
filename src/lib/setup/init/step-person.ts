import { parse } from 'node:path';

import { voiceOf } from '../../app/speech';
import { fromText } from '../../config/load';
import { SPEECH_PROVIDER_URL } from '../../config/schema';
import { StewardError, throwIfBug } from '../../errors';
import { maySpeak, storeMaySpeak } from '../../notify/consent';
import { mute, muteState, unmute } from '../../notify/routing';
import { clean } from '../../platform/terminal/terminal';
import type { Apply, InitFlags, Setup, Step } from './step';

export const nameStep: Step = {
  id: 'name',
  shown: ({ config }) => config().user.principal.name ?? 'not set',
  given: (setup, flags) => textFlag(setup, flags, 'name', 'principal.name'),
  async ask(setup, questions) {
    const known = setup.config().user.principal.name ?? (await nameOfGit(setup));
    const name = (await questions.line(`Your name [${known ?? 'none'}]: `)) || known;
    return name === undefined ? undefined : () => setup.set({ 'principal.name': name });
  },
};

export const daStep: Step = {
  id: 'da',
  shown: ({ config }) => config().user.da.name,
  given: (setup, flags) => textFlag(setup, flags, 'da-name', 'da.name'),
  async ask(setup, questions) {
    const name = await questions.line(`Your assistant's name [${setup.config().user.da.name}]: `);
    return name === '' ? undefined : () => setup.set({ 'da.name': name });
  },
};

const VOICE_CHOICES = ['on', 'mute', 'off'] as const;
type VoiceChoice = (typeof VOICE_CHOICES)[number];

export const voiceStep: Step = {
  id: 'voice',
  shown(setup) {
    const { voiceId } = setup.config().user.da.voices.main;
    return `${voiceWords(setup)}${voiceId === undefined ? '' : `, voice ${voiceId}`}`;
  },
  given(setup, flags) {
    const setId = textFlag(setup, flags, 'voice-id', 'da.voices.main.voiceId');
    const choice = voiceChoice(flags.voice ?? '');
    if (choice === undefined && setId === undefined) return undefined;
    return async () => {
      if (choice !== undefined) await setVoice(setup, choice);
      await setId?.();
    };
  },
  async ask(setup, questions) {
    const { engines, hint } = voiceOf(setup.context, { current: setup.config }, () => undefined).status();
    setup.say(
      engines[0] === undefined
        ? `No speech engine is installed, so messages are shown instead. ${hint ?? ''}`
        : `With "on", steward speaks aloud with ${engines[0]} when something happens. "mute" silences it until you run "steward notify unmute".`,
    );
    const now = voiceNow(setup);
    const choice = voiceChoice(
      (await questions.line(`May steward speak? on, mute or off [${now}]: `)) || now,
    );
    if (choice === undefined) {
      throw new StewardError('usage', 'Invalid answer.', { hint: 'Enter on, mute or off.' });
    }
    const known = setup.config().user.da.voices.main.voiceId ?? "the provider's default";
    const { apiKey, url } = setup.config().user.notify.voice.provider;
    const hasProvider = apiKey.isSet || url !== SPEECH_PROVIDER_URL;
    const voiceId = hasProvider
      ? await questions.line(`Voice id from your speech provider [${known}]: `)
      : '';
    return async () => {
      await setVoice(setup, choice);
      if (voiceId !== '') await setup.set({ 'da.voices.main.voiceId': voiceId });
    };
  },
};

function voiceChoice(text: string): VoiceChoice | undefined {
  return VOICE_CHOICES.find((choice) => choice === text.toLowerCase());
}

function voiceNow(setup: Setup): VoiceChoice {
  if (setup.config().user.notify.voice.engine === 'none') return 'off';
  return muteState(muteDeps(setup)).muted ? 'mute' : 'on';
}

function voiceWords(setup: Setup): string {
  const now = voiceNow(setup);
  if (now === 'mute') return 'muted';
  return now === 'off' || maySpeak(setup.context.area.maySpeak) === true ? now : 'only what you send';
}

async function setVoice(setup: Setup, choice: VoiceChoice): Promise<void> {
  const isOff = setup.config().user.notify.voice.engine === 'none';
  if (choice === 'off' || isOff)
    await setup.set({ 'notify.voice.engine': choice === 'off' ? 'none' : 'auto' });
  storeMaySpeak(setup.context.area.maySpeak, choice !== 'off');
  if (choice === 'mute') mute(muteDeps(setup), undefined);
  else if (muteState(muteDeps(setup)).muted) unmute(muteDeps(setup));
}

function muteDeps({ context }: Setup): Parameters<typeof muteState>[0] {
  return { clock: context.clock, mute: context.area.mute };
}

function textFlag(
  setup: Setup,
  flags: InitFlags,
  flag: 'name' | 'da-name' | 'voice-id',
  key: string,
): Apply | undefined {
  const text = flags[flag];
  if (text === undefined) return undefined;
  const fit = fromText(key, text);
  if ('wrong' in fit) throw new StewardError('usage', `--${flag}${fit.wrong}.`, { hint: 'Nothing changed.' });
  // Store the text without parsing it, because a name may consist of digits.
  return () => setup.set({ [key]: text });
}

async function nameOfGit({ context }: Setup): Promise<string | undefined> {
  try {
    // Run git in the root folder, because git fails if the current folder has been deleted.
    const options = { cwd: parse(process.cwd()).root, timeoutMs: 5_000 };
    const { code, stdout } = await context.run('git', ['config', '--global', '--get', 'user.name'], options);
    return code === 0 ? clean(stdout).trim() || undefined : undefined;
  } catch (error) {
    throwIfBug(error);
    return undefined;
  }
}
