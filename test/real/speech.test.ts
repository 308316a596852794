import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import { espeakEngine } from '../../src/lib/notify/speech/engines/system';
import { LIMITS, speechQueue } from '../../src/lib/notify/speech/queue';
import { systemClock } from '../../src/lib/platform/time/clock';
import { isAlive } from '../../src/lib/platform/files/lock';
import { run } from '../../src/lib/platform/process/process';
import { findProgram } from '../../src/lib/platform/process/spawn';
import { BIN, cleanEnv } from '../helpers/cli';
import { requirePrograms } from '../helpers/real-part';
import { factsOf, heardIn, soundHome, type SoundHome } from '../helpers/sound-home';
import { alone, script, pcm, speechServer, status } from '../helpers/speech';

const PACKAGES: Record<string, string> = {
  aplay: 'alsa-utils',
  'espeak-ng': 'espeak-ng',
  flite: 'flite',
  text2wave: 'festival festvox-kallpc16k',
  pocketsphinx_continuous: 'pocketsphinx pocketsphinx-en-us',
  'spd-say': 'speech-dispatcher speech-dispatcher-espeak-ng',
};
const needs = (context: Mocha.Context, ...programs: string[]): void =>
  requirePrograms(context, Object.fromEntries(programs.map((name) => [name, PACKAGES[name] ?? ''])));

/** A speech-dispatcher of this home that is to play on such a device of ALSA; what speaks first starts it. */
function dispatcherOf(home: string, device: string): void {
  const folder = join(home, '.config', 'speech-dispatcher');
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'speechd.conf'),
    `LogLevel 1\nLogDir "default"\nAudioOutputMethod "alsa"\nAudioALSADevice "${device}"\nAddModule "espeak-ng" "sd_espeak-ng" "espeak-ng.conf"\nDefaultModule espeak-ng\n`,
  );
}

/** One without sound does not even end when it is asked to. */
function endDispatcher(home: string): void {
  const pid = join(home, 'speech-dispatcher', 'pid', 'speech-dispatcher.pid');
  if (existsSync(pid)) process.kill(Number(readFileSync(pid, 'utf8')), 'SIGKILL');
}

describe('the voice, with real engines and a real player', function () {
  this.timeout(120_000);
  let home: SoundHome | undefined;
  const use = (config: string): SoundHome => (home = soundHome(config));
  const engine = (id: string): SoundHome => use(`notify: { voice: { engine: ${id} } }\n`);
  afterEach(() => home?.remove());

  for (const [id, program] of [['espeak-ng', 'espeak-ng'], ['flite', 'flite'], ['festival', 'text2wave']] as const) {
    it(`is audible through ${id}`, async function () {
      needs(this, program, 'aplay');
      const { steward, played } = engine(id);
      expect(await steward(['notify', 'speak', '"The build" is $(green) & live.'])).to.deep.equal({
        code: 0,
        stdout: `Spoken with ${id}.\n`,
        stderr: '',
      });
      const { seconds, peak } = factsOf(played() ?? Buffer.alloc(46));
      expect(seconds).to.be.within(0.8, 8);
      expect(peak).to.be.above(1000);
    });
  } // prettier-ignore

  it('passes both pronunciations to the engine as phonemes', async function () {
    needs(this, 'flite');
    const { steward } = use('');
    const { stdout } = await steward(['notify', 'speak', '--dry-run', 'The show is live now where you live']);
    expect(stdout).to.equal('The show is lyve now where you live\n');
    const phonemes = async (text: string): Promise<string> =>
      (await run('flite', ['-ps', '-t', text, 'none'], { timeoutMs: 20_000 })).stdout;
    expect((await phonemes(stdout)).match(/l (?:ay|ih) v/g)).to.deep.equal(['l ay v', 'l ih v']);
    expect((await phonemes('The show is live now where you live')).match(/l (?:ay|ih) v/g)).to.deep.equal(['l ih v', 'l ih v']); // prettier-ignore
  });

  for (const [id, program] of [['flite', 'flite'], ['festival', 'text2wave']] as const) {
    it(`is intelligible: a recogniser distinguishes them in the audio of ${id}`, async function () {
      needs(this, program, 'aplay', 'pocketsphinx_continuous');
      const { path, steward, played } = engine(id);
      for (const [text, expected] of [
        ['We are live now', 'we are lyve now'],
        ['The site is LIVE now', 'the site is lyve now'],
        ['Where you live', 'where you live'],
      ] as const) {
        expect((await steward(['notify', 'speak', text])).code, text).to.equal(0);
        expect(await heardIn(played() ?? Buffer.alloc(46), path), text).to.equal(expected);
      }
    });
  } // prettier-ignore

  it('applies your pronunciations, and reports a broken file', async function () {
    needs(this, 'flite', 'aplay', 'pocketsphinx_continuous');
    const { path, write, steward, played } = engine('flite');
    write('principal/pronunciations.json', '{"Prod": "the site"}');
    expect((await steward(['notify', 'speak', 'Prod is live now'])).code).to.equal(0);
    expect(await heardIn(played() ?? Buffer.alloc(46), path)).to.equal('the site is lyve now');
    write('principal/pronunciations.json', '{"Prod": ');
    const { code, stderr } = await steward(['notify', 'speak', 'We are live']);
    expect(code).to.equal(0);
    expect(stderr).to.match(/pronunciations\.json/);
  });

  it('speaks through speech-dispatcher', async function () {
    needs(this, 'spd-say');
    const { path, steward, played } = engine('spd-say');
    dispatcherOf(path, 'default');
    try {
      const text = `!-!QUIT !-!CANCEL ${'We are live now. '.repeat(4)}`;
      const result = await steward(['notify', 'speak', '--', text], { XDG_RUNTIME_DIR: path });
      expect(result).to.deep.equal({ code: 0, stdout: 'Spoken with spd-say.\n', stderr: '' });
      expect(factsOf(played() ?? Buffer.alloc(46)).seconds).to.be.above(3);
    } finally {
      endDispatcher(path);
    }
  });

  it('detects within three seconds that speech-dispatcher has no sound, and queues no text there', async function () {
    needs(this, 'spd-say');
    const { path, steward } = engine('spd-say');
    dispatcherOf(path, 'nowhere-at-all');
    try {
      const text = `a text of some length ${'and more '.repeat(20)}`;
      const { code, stderr } = await steward(['notify', 'speak', text], { XDG_RUNTIME_DIR: path });
      expect(code).to.equal(8);
      expect(stderr).to.match(/speech-dispatcher is not working/);
    } finally {
      endDispatcher(path);
    }
  });

  describe('with a provider', () => {
    const KEY = 'sk_0123456789-very-secret';
    const config = (url: string): string =>
      `da: { voices: { main: { voiceId: da-voice } } }
notify: { voice: { provider: { url: "${url}", apiKey: "env:SPEECH_KEY" } } }\n`;

    it('plays its audio, of the transformed text', async function () {
      needs(this, 'flite', 'aplay', 'pocketsphinx_continuous');
      const server = await speechServer();
      try {
        const { path, steward, played } = use(config(server.url));
        const wav = join(path, 'server.wav');
        await run('flite', ['-voice', 'slt', '-t', 'we are lyve now', '-o', wav], { timeoutMs: 20_000 });
        server.answer(pcm(readFileSync(wav)));
        const result = await steward(['notify', 'speak', 'We are live now', '--json'], { SPEECH_KEY: KEY });
        expect(JSON.parse(result.stdout)).to.deep.equal({ text: 'We are live now', spoken: 'We are lyve now', engine: 'provider' }); // prettier-ignore
        expect(server.asked[0]?.headers['xi-api-key']).to.equal(KEY);
        expect(JSON.parse(server.asked[0]?.body ?? '')).to.deep.equal({ text: 'We are lyve now' });
        expect(await heardIn(played() ?? Buffer.alloc(46), path)).to.equal('we are lyve now');
      } finally {
        await server.close();
      }
    });

    it('falls back to the next engine when it refuses, and reveals its key nowhere', async function () {
      needs(this, 'espeak-ng', 'aplay');
      const server = await speechServer();
      try {
        server.answer(status(401, { detail: { message: `bad key ${KEY}` } }));
        const { path, steward, played, write } = use(config(server.url));
        const result = await steward(['notify', 'speak', 'Hello'], { SPEECH_KEY: KEY });
        expect(result).to.deep.equal({ code: 0, stdout: 'Spoken with espeak-ng.\n', stderr: '' });
        expect(played()).not.to.equal(undefined);
        write('config.yaml', config(server.url).replace('voice: {', 'voice: { engine: provider,'));
        const alone = await steward(['notify', 'speak', 'Hello', '--json', '--debug'], { SPEECH_KEY: KEY });
        expect(alone.code).to.equal(8);
        expect(alone.stderr)
          .to.match(/rejected the key \(401\): bad key ••••/)
          .and.not.include(KEY);
        const unset = await steward(['notify', 'speak', 'Hello']);
        expect(unset.stderr).to.match(/environment variable SPEECH_KEY is not set/);
        for (const name of readdirSync(path, { recursive: true, encoding: 'utf8' })) {
          const file = join(path, name);
          if (!/\.(?:json|yaml|jsonl|log)$/.test(file)) continue;
          expect(readFileSync(file, 'utf8'), name).not.to.include(KEY);
        }
      } finally {
        await server.close();
      }
    });
  });

  it('never overlaps, and a hung player stops only the text that it plays', async function () {
    needs(this, 'espeak-ng', 'aplay');
    const { path } = use('');
    const log = join(path, 'log');
    const real = findProgram('aplay') ?? '';
    const lines = `echo begin >>'${log}'; [ -e '${path}/hang' ] && { rm '${path}/hang'; sleep 600; }; HOME='${path}' '${real}' "$@"; echo end >>'${log}'`;
    const player = script(join(path, 'player'), lines);
    const speech = speechQueue(
      {
        clock: systemClock(),
        machine: {
          platform: 'linux',
          find: (name) => (name === 'aplay' ? player : name === 'espeak-ng' ? findProgram(name) : undefined),
          run,
          takeTurn: alone,
        },
        engines: () => [espeakEngine()],
        spokenOf: (text) => text,
        noVoice: () => '',
      },
      { ...LIMITS, textMs: 20_000 },
    );
    const many = await Promise.all(['one', 'two', 'three', 'four'].map((text) => speech.say({ text })));
    expect(many).to.deep.equal(Array.from({ length: 4 }, () => ({ spoken: true, engine: 'espeak-ng' })));
    expect(readFileSync(log, 'utf8')).to.equal('begin\nend\n'.repeat(4));
    writeFileSync(join(path, 'hang'), '');
    const [hung, next] = await Promise.all([speech.say({ text: 'hangs' }), speech.say({ text: 'next' })]);
    expect(hung.reason).to.match(/^The sound server or sound card is not responding: aplay timed out\./); // prettier-ignore
    expect(next).to.deep.equal({ spoken: true, engine: 'espeak-ng' });
  });

  it('reports a missing sound card, and does not claim success', async function () {
    needs(this, 'espeak-ng', 'aplay');
    const { path, steward } = engine('espeak-ng');
    // A card that is not there, whatever this machine has.
    writeFileSync(join(path, '.asoundrc'), 'pcm.!default { type hw card 31 }\n');
    const { code, stderr } = await steward(['notify', 'speak', 'Hello']);
    expect(code).to.equal(8);
    // The reason comes first, and depends on the machine's cards and on which other players are installed.
    const reason = /aplay failed with code 1: .+|No sound card and no sound server found/;
    expect(stderr)
      .to.match(/^Could not speak the text\. /)
      .and.match(reason);
  });

  it('stops on Ctrl-C with its player, and leaves nothing behind', async function () {
    needs(this, 'espeak-ng');
    const { path } = engine('espeak-ng');
    const bin = join(path, 'bin');
    const temporary = join(path, 'tmp');
    for (const folder of [bin, temporary]) mkdirSync(folder);
    script(join(bin, 'aplay'), `echo $$ >'${path}/pid.new'; mv '${path}/pid.new' '${path}/pid'; sleep 600`);
    for (const other of ['pw-play', 'paplay']) script(join(bin, other), 'exit 1');
    const env = cleanEnv(path, { PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}`, TMPDIR: temporary });
    const child = spawn(process.execPath, [BIN, 'notify', 'speak', 'Hello'], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    while (!existsSync(join(path, 'pid'))) await new Promise((resolve) => setTimeout(resolve, 10));
    // The engine's sound library may put something there, too.
    const own = (): string[] => readdirSync(temporary).filter((name) => name.startsWith('steward-'));
    expect(own()).to.have.length(1);
    child.kill('SIGINT');
    const [code] = (await once(child, 'close')) as [number];
    expect([code, said]).to.deep.equal([130, 'Interrupted.\nRerun the command.\n']);
    const pid = Number(readFileSync(join(path, 'pid'), 'utf8'));
    const isZombie = (): boolean => existsSync(`/proc/${pid}/stat`) && / [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1')); // prettier-ignore
    while (isAlive(pid) && !isZombie()) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(own()).to.deep.equal([]);
  });
});
