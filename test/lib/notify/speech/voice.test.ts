import { expect } from 'chai';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { makeVoice, type Voice, type VoiceDeps } from '../../../../src/lib/notify/speech/voice';
import { systemClock } from '../../../../src/lib/platform/time/clock';
import { scratch } from '../../../helpers/scratch';
import { machineWith, script } from '../../../helpers/speech';

describe('notify/speech: voice', () => {
  const box = scratch();
  let problems: string[];
  const write = (text: string): void => {
    mkdirSync(dirname(box.path('principal', 'p.json')), { recursive: true });
    writeFileSync(box.path('principal', 'p.json'), text);
  };
  const voiceOf = (engine = 'auto', programs: Record<string, string> = {}, other: Partial<VoiceDeps> = {}): Voice =>
    makeVoice({
      clock: systemClock(),
      machine: machineWith(programs),
      engine,
      provider: { url: 'http://127.0.0.1:1', isConfigured: false, apiKey: () => undefined, voiceId: undefined, model: undefined, settings: {} },
      pronunciations: box.path('principal', 'p.json'),
      onProblem: ({ message }) => problems.push(message),
      ...other,
    }); // prettier-ignore

  before(function () {
    if (process.platform === 'win32') this.skip();
  });
  beforeEach(() => (problems = []));

  it('shows what it would say, with the pronunciations of now', () => {
    const voice = voiceOf('none');
    expect(voice.preview('SQL is live')).to.deep.equal({ text: 'SQL is live', spoken: 'SQL is lyve' });
    write('{"SQL": "sequel"}');
    expect(voice.preview('SQL is live').spoken).to.equal('sequel is lyve');
    write('{"SQL": ');
    const { spoken, problem } = voice.preview('SQL is live');
    expect(spoken).to.equal('sequel is lyve');
    expect(problem?.message).to.match(/no JSON/);
  });

  it('says that, and tells once of each problem with the file', async () => {
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
    expect(problems[0]).to.match(/"SQL" has no respelling/);
    expect(problems[1]).to.match(/no JSON/);
  });

  it('looks for engines once a second, however many texts there are', async () => {
    let [nowMs, looks] = [0, 0];
    const machine = machineWith({});
    const find = (name: string): string | undefined => ((looks += 1), machine.find(name));
    const voice = voiceOf('flite', {}, { machine: { ...machine, find }, clock: { now: () => nowMs, monotonic: () => nowMs } }); // prettier-ignore
    for (let n = 0; n < 100; n += 1) await voice.speech.say({ text: 'Hi' });
    expect(looks).to.equal(1);
    nowMs += 1000;
    expect(voice.status().engines).to.deep.equal([]);
    expect(looks).to.equal(2);
  });

  it('says which engines there are, and without one what to do', async () => {
    expect(voiceOf('auto', { 'espeak-ng': '/e', 'spd-say': '/s' }).status()).to.deep.equal({ engines: ['espeak-ng', 'spd-say'] }); // prettier-ignore
    expect(voiceOf('auto').status().hint).to.match(/apt-get install espeak-ng/);
    const { reason } = await voiceOf('none').speech.say({ text: 'Hi' });
    expect(reason).to.match(
      /^The voice is switched off\. Run `steward config set notify\.voice\.engine auto`/,
    );
    expect((await voiceOf('flite').speech.say({ text: 'Hi' })).reason).to.match(
      /^Nothing here can speak\. Install flite/,
    );
  });
});
