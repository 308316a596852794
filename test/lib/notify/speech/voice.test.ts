import { expect } from 'chai';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { VOICE_ENGINES } from '../../../../src/lib/config/schema';
import {
  makeVoice,
  type Voice,
  type VoiceDeps,
  type VoiceSettings,
} from '../../../../src/lib/notify/speech/voice';
import { systemClock } from '../../../../src/lib/platform/time/clock';
import { scratch } from '../../../helpers/scratch';
import { machineWith, script, pcm, speechServer, status } from '../../../helpers/speech';
import { long } from '../../../helpers/long';

describe('notify/speech: voice', () => {
  const box = scratch();
  let problems: string[];
  const write = (text: string): void => {
    mkdirSync(dirname(box.path('principal', 'p.json')), { recursive: true });
    writeFileSync(box.path('principal', 'p.json'), text);
  };
  const PROVIDER = { url: 'http://127.0.0.1:1', isConfigured: false, apiKey: () => undefined, voiceId: undefined }; // prettier-ignore
  const fixed = (engine: string): (() => VoiceSettings) => {
    const settings = { engine, provider: PROVIDER };
    return () => settings;
  };
  const voiceOf = (engine = 'auto', programs: Record<string, string> = {}, other: Partial<VoiceDeps> = {}): Voice =>
    makeVoice({
      clock: systemClock(),
      machine: machineWith(programs),
      settings: fixed(engine),
      pronunciations: box.path('principal', 'p.json'),
      onProblem: ({ message }) => problems.push(message),
      ...other,
    }); // prettier-ignore

  before(function () {
    if (process.platform === 'win32') this.skip();
  });
  beforeEach(() => (problems = []));

  it('previews a text with the current pronunciations', () => {
    const voice = voiceOf('none');
    expect(voice.preview('SQL is live')).to.deep.equal({ text: 'SQL is live', spoken: 'SQL is lyve' });
    write('{"SQL": "sequel"}');
    expect(voice.preview('SQL is live').spoken).to.equal('sequel is lyve');
    write('{"SQL": ');
    const { spoken, problem } = voice.preview('SQL is live');
    expect(spoken).to.equal('sequel is lyve');
    expect(problem?.message).to.match(/not a JSON/);
  });

  long('speaks it, and reports each problem of the file once', async () => {
    const heard = box.path('heard');
    const espeak = script(box.path('espeak-ng'), `cat >>'${heard}'; echo >>'${heard}'`);
    const voice = voiceOf('auto', { 'espeak-ng': espeak });
    const say = (): Promise<unknown> => voice.speech.say({ text: 'SQL is live' });
    write('{"SQL": "sequel"}');
    await say();
    write('{"SQL": 1}');
    await say();
    await say();
    write('{"SQL": ""}');
    expect(await say()).to.deep.equal({ spoken: true, engine: 'espeak-ng' });
    write('[');
    await say();
    expect(readFileSync(heard, 'utf8').trim().split('\n')).to.deep.equal([...Array.from({ length: 3 }, () => 'sequel is lyve'), 'is lyve', 'is lyve']); // prettier-ignore
    expect(problems).to.have.length(2);
    expect(problems[0]).to.match(/"SQL" has a respelling that is not a string/);
    expect(problems[1]).to.match(/not a JSON/);
  });

  it('detects engines at most once a second', async () => {
    let [nowMs, looks] = [0, 0];
    const machine = machineWith({});
    const find = (name: string): string | undefined => ((looks += 1), machine.find(name));
    const voice = voiceOf('flite', {}, { machine: { ...machine, find }, clock: { now: () => nowMs, monotonic: () => nowMs } }); // prettier-ignore
    for (let n = 0; n < 100; n += 1) await voice.speech.say({ text: 'Hi' });
    expect(looks).to.be.lessThan(110);
    nowMs += 1000;
    expect(voice.status().engines).to.deep.equal([]);
    expect(looks).to.be.lessThan(120);
  });

  long('uses the current settings, also for a text that waited for its turn', async () => {
    const server = await speechServer();
    try {
      const play = script(box.path('aplay'), 'exit 0');
      const provider = (key: string): VoiceSettings['provider'] => ({ ...PROVIDER, url: server.url, isConfigured: true, apiKey: () => key, voiceId: `${key}-voice` }); // prettier-ignore
      let stored: VoiceSettings = { engine: 'auto', provider: provider('one') };
      let current = stored;
      let onTurn = (): void => undefined;
      const voice = voiceOf('auto', {}, {
        machine: { ...machineWith({ aplay: play }), takeTurn: (_waiter, work) => (onTurn(), work()) },
        settings: () => current,
        refresh: () => Promise.resolve(void (current = stored)),
      }); // prettier-ignore
      const keys = (): unknown[] => server.asked.map(({ headers }) => headers['xi-api-key']);
      expect((await voice.speech.say({ text: 'one' })).spoken).to.equal(true);
      stored = { engine: 'auto', provider: provider('two') };
      expect((await voice.speech.say({ text: 'two' })).spoken).to.equal(true);
      expect(keys()).to.deep.equal(['one', 'two']);
      expect(server.asked[1]?.url).to.include('two-voice');
      onTurn = () => (stored = { engine: 'none', provider: provider('two') });
      expect((await voice.speech.say({ text: 'three' })).reason).to.match(/^The voice is off\./);
      onTurn = () => undefined;
      stored = { engine: 'auto', provider: PROVIDER };
      expect((await voice.speech.say({ text: 'four' })).reason).to.match(/^No speech engine found\./);
      expect(server.asked).to.have.length(2);
    } finally {
      await server.close();
    }
  });

  long('tries a provider again at once when its settings change', async () => {
    const server = await speechServer();
    try {
      server.answer(status(401, {}));
      const play = script(box.path('aplay'), 'exit 0');
      const made = (): VoiceSettings => ({ engine: 'auto', provider: { ...PROVIDER, url: server.url, isConfigured: true, voiceId: 'v' } }); // prettier-ignore
      const espeak = script(box.path('espeak-ng'), 'exit 0');
      let current = made();
      const machine = machineWith({ aplay: play, 'espeak-ng': espeak });
      const voice = voiceOf('auto', {}, { machine, settings: () => current });
      const say = async (): Promise<unknown> => (await voice.speech.say({ text: 'Hi' })).engine;
      expect(await say()).to.equal('espeak-ng');
      server.answer(pcm());
      expect(await say(), 'it rests').to.equal('espeak-ng');
      current = made();
      expect(await say()).to.equal('provider');
    } finally {
      await server.close();
    }
  });

  it('lists the usable engines in order', () => {
    const programs = { flite: '/f', 'espeak-ng': '/e', aplay: '/a', 'spd-say': '/s' };
    const engines = (engine: string, settings?: VoiceSettings): string[] =>
      voiceOf(engine, programs, settings === undefined ? {} : { settings: () => settings }).status().engines;
    expect(engines('auto')).to.deep.equal(['espeak-ng', 'flite', 'spd-say']);
    expect(engines('flite')).to.deep.equal(['flite']);
    expect(engines('festival')).to.deep.equal([]);
    expect(engines('none')).to.deep.equal([]);
    const provider = { engine: 'auto', provider: { ...PROVIDER, isConfigured: true } };
    expect(engines('auto', provider)[0]).to.equal('provider');
  });

  it('says what is missing, and how to install it', async () => {
    expect(voiceOf('auto').status().hint).to.match(/apt-get install espeak-ng/);
    expect(voiceOf('flite', { flite: '/f' }).status()).to.deep.include({
      engines: [],
      reason: 'No audio player found',
    });
    expect(voiceOf('auto', { 'espeak-ng': '/e' }).status()).to.deep.include({
      engines: ['espeak-ng'],
      hint: 'Install a player such as aplay (Debian: alsa-utils), and test it with a file.',
    });
    for (const engine of VOICE_ENGINES) {
      for (const platform of ['linux', 'darwin', 'win32'] as const) {
        const machine = { ...machineWith({}), platform };
        expect(voiceOf(engine, {}, { machine }).status().hint).to.match(/^[A-Z].+\.$/);
      }
    }
    const reasonOf = async (engine: string): Promise<string> =>
      (await voiceOf(engine).speech.say({ text: 'Hi' })).reason ?? '';
    expect(await reasonOf('none')).to.match(/^The voice is off\. Switch it on with `steward config/);
    expect(await reasonOf('flite')).to.match(/^No speech engine found\. Install flite/);
  });
});
