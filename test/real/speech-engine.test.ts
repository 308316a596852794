import { expect } from 'chai';

import { VOICE_ENGINES } from '../../src/lib/config/schema';
import { installHint, speechEngines, usableEngines } from '../../src/lib/notify/speech/engines';
import { espeakEngine } from '../../src/lib/notify/speech/engines/system';
import { rejection } from '../helpers/errors';
import { scratch } from '../helpers/scratch';
import { machineWith, orderOf, script } from '../helpers/speech';
import { speechEngineContract, type SpeechSituation } from '../contracts/speech-engine';

const HOMES: Record<string, SpeechSituation> = {
  say: { platform: 'darwin', programs: ['say'] },
  sapi: { platform: 'win32', programs: ['powershell.exe'] },
  'espeak-ng': { platform: 'linux', programs: ['espeak-ng', 'aplay'] },
  flite: { platform: 'linux', programs: ['flite', 'aplay'] },
  festival: { platform: 'linux', programs: ['text2wave', 'paplay'] },
  'spd-say': { platform: 'linux', programs: ['spd-say'] },
};

const none = {
  url: 'http://127.0.0.1:1',
  isConfigured: false,
  apiKey: () => undefined,
  voiceId: undefined,
  model: undefined,
  settings: {},
};

describe('the contract of speech engines', () => {
  const box = scratch();
  const engines = speechEngines(none);

  it('is kept by every engine of the family, and each can be configured', () => {
    const ids = engines.map(({ id }) => id);
    // The provider's own suite is beside its tests: it has no programs.
    expect(ids).to.deep.equal(['provider', ...Object.keys(HOMES)]);
    expect(VOICE_ENGINES).to.deep.equal(['auto', 'none', ...ids]);
  });

  it('are chosen in their order, or one alone, or none', () => {
    const machine = machineWith({ flite: '/f', 'espeak-ng': '/e', aplay: '/a', 'spd-say': '/s' });
    const ids = (choice: string, list = engines): string[] =>
      usableEngines(list, choice, machine).map(({ id }) => id);
    expect(ids('auto')).to.deep.equal(['espeak-ng', 'flite', 'spd-say']);
    expect(ids('auto', speechEngines({ ...none, isConfigured: true }))[0]).to.equal('provider');
    expect(ids('flite')).to.deep.equal(['flite']);
    expect(ids('festival')).to.deep.equal([]);
    expect(ids('none')).to.deep.equal([]);
  });

  it('say what to do where there is none', () => {
    for (const choice of VOICE_ENGINES) {
      for (const platform of ['linux', 'darwin', 'win32'] as const) {
        expect(installHint(choice, platform)).to.match(/^[A-Z].+\.$/);
      }
    }
    expect(installHint('auto', 'linux')).to.match(/espeak-ng alsa-utils/);
  });

  it('do not say that espeak-ng was heard where it found no sound', async function () {
    if (process.platform === 'win32') this.skip();
    // As it does without a sound card: words on stderr, and an exit code of 0.
    const deaf = script(
      box.path('espeak-ng'),
      'cat; echo "ALSA lib: no card" >&2; echo "error: No such file" >&2',
    );
    const error = await rejection(espeakEngine().speak(machineWith({ 'espeak-ng': deaf }), orderOf('Hi')));
    expect(error.message).to.equal('The sound could not be played. espeak-ng: error: No such file.');
  });

  for (const engine of engines) {
    const home = HOMES[engine.id];
    if (home !== undefined) speechEngineContract(engine, home);
  }
});
