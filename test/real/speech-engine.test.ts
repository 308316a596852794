import { expect } from 'chai';

import { VOICE_ENGINES } from '../../src/lib/config/schema';
import { espeakEngine } from '../../src/lib/notify/speech/engines/system';
import { speechEngines } from '../../src/lib/notify/speech/voice';
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
};

describe('the contract of speech engines', () => {
  const box = scratch();
  const engines = speechEngines(none);

  it('covers every engine, and each can be configured', () => {
    const ids = engines.map(({ id }) => id);
    // The provider has its own suite, since it runs no program.
    expect(ids).to.deep.equal(['provider', ...Object.keys(HOMES)]);
    expect(VOICE_ENGINES).to.deep.equal(['auto', 'none', ...ids]);
  });

  it('reports that espeak-ng found no sound device', async function () {
    if (process.platform === 'win32') this.skip();
    // Without a sound card it writes to stderr and exits with 0.
    const deaf = script(
      box.path('espeak-ng'),
      'cat; echo "ALSA lib: no card" >&2; echo "error: No such file or directory" >&2',
    );
    const error = await rejection(espeakEngine().speak(machineWith({ 'espeak-ng': deaf }), orderOf('Hi')));
    expect(error.message).to.equal('No sound card and no sound server found.');
  });

  for (const engine of engines) {
    const home = HOMES[engine.id];
    if (home !== undefined) speechEngineContract(engine, home);
  }
});
