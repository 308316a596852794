import { expect } from 'chai';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import type { HistoryEntry } from '../../src/lib/notify/history';
import { isAlive } from '../../src/lib/platform/files/lock';
import { jsonOf } from '../helpers/cli';
import { machineFolder, startDaemon, until, type RunningDaemon } from '../helpers/daemon';
import { notifyServer, type NotifyServer } from '../helpers/notify-server';
import { soundHome, type SoundHome } from '../helpers/sound-home';
import { script, pcm, speechServer, type SpeechServer } from '../helpers/speech';

const KEY = 'sk-first-41d2';

describe('the voice of a running process when its configuration changes (built)', function () {
  this.timeout(180_000);
  let sound: SoundHome;
  let speech: SpeechServer;
  let push: NotifyServer;
  let daemon: RunningDaemon | undefined;
  let env: Record<string, string>;
  before(function () {
    if (process.platform === 'win32') this.skip();
  });
  beforeEach(async () => {
    speech = await speechServer();
    // What hangs keeps a process that delivers alive.
    push = await notifyServer(() => 'hang');
    const provider = `{ url: "${speech.url}", apiKey: ${KEY} }`;
    sound = soundHome(`da: { voices: { main: { voiceId: da-voice } } }\nnotify: { voice: { engine: provider, provider: ${provider} } }\nnotifications: { push: { topic: topic-1, server: "${push.url}" } }\n`); // prettier-ignore
    mkdirSync(join(sound.path, 'bin'));
    for (const name of ['aplay', 'pw-play', 'paplay']) script(join(sound.path, 'bin', name), 'exit 0');
    env = { PATH: `${join(sound.path, 'bin')}${delimiter}${process.env['PATH'] ?? ''}` };
  });
  afterEach(async () => {
    await daemon?.stop('SIGKILL');
    const left = deliverer();
    if (daemon === undefined && left !== undefined) {
      process.kill(left, 'SIGKILL');
      await until('it has ended', () => !isAlive(left));
    }
    daemon = undefined;
    await Promise.all([speech.close(), push.close()]);
    sound.remove();
  });

  const run = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await sound.steward(args, env);
    expect([code, stderr], args.join(' ')).to.deep.equal([0, '']);
    return stdout;
  };
  const deliverer = (): number | undefined => {
    const lock = join(machineFolder(sound.path), 'notify-deliver.lock');
    return existsSync(lock) ? (JSON.parse(readFileSync(lock, 'utf8')) as { pid: number }).pid : undefined;
  };
  const send = (text: string): Promise<string> => run('notify', 'send', text, '--event', 'error');
  const voiceOf = async (text: string): Promise<HistoryEntry['channels'][number] | undefined> => {
    const entries = jsonOf(await sound.steward(['notify', 'history', '--json'], env)) as HistoryEntry[];
    return entries.find((entry) => entry.text === text)?.channels.find(({ channel }) => channel === 'voice');
  };
  const texts = (): string[] => speech.asked.map(({ body }) => (JSON.parse(body) as { text: string }).text);

  for (const [name, start] of [
    ['the daemon', async () => void (daemon = await startDaemon({ home: sound.path, env }))],
    ['a process that delivers', () => Promise.resolve()],
  ] as const) {
    it(`uses the current settings for each text: ${name}`, async () => {
      await start();
      let release: (() => void) | undefined;
      speech.answer((...held) => (release = () => pcm()(...held)));
      await send('one');
      await until('the first text is asked for', () => release !== undefined);
      const pid = deliverer();
      // Accepted with the voice on, and spoken after it was switched off.
      await send('two');
      await run('config', 'set', 'notify.voice.engine', 'none');
      speech.answer(pcm());
      release?.();
      await until('the second is shown', async () => (await voiceOf('two'))?.result === 'shown');
      await send('three');
      expect(await voiceOf('three')).to.include({ result: 'skipped', reason: 'switched off' });
      expect(texts()).to.deep.equal(['one']);
      await run('config', 'set', 'notify.voice.engine', 'provider');
      await run('config', 'unset', 'notify.voice.provider.apiKey');
      await run('config', 'set', 'da.voices.main.voiceId', 'other-voice');
      await send('four');
      await until('the fourth is spoken', async () => (await voiceOf('four'))?.result === 'delivered');
      expect(texts()).to.deep.equal(['one', 'four']);
      expect(speech.asked.map(({ headers }) => headers['xi-api-key'])).to.deep.equal([KEY, undefined]);
      expect(speech.asked[1]?.url).to.include('/other-voice');
      expect(deliverer(), 'the same process').to.equal(pid);
    });
  }
});
