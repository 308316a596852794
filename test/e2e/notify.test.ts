import { expect } from 'chai';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

import {
  BIN,
  cleanEnv,
  emptyHome,
  jsonOf,
  steward,
  type StewardOptions,
  type StewardResult,
} from '../helpers/cli';
import { until } from '../helpers/desktop-kit';
import { hookJson } from '../helpers/hooks';
import { notifyServer, ntfyOk, type NotifyServer } from '../helpers/notify-server';
import { converse, type Turn } from '../helpers/on-terminal';
import { requirePrograms, requireTerminal } from '../helpers/real-part';
import { script } from '../helpers/speech';

const TOPIC = 'topic-hush-3f9a1c';
const TOKEN = 'tk_hush_77aa';
const HOOK = '/services/T0HUSH/B0HUSH/hushhushhush';
const KEY = 'sk-hush-41d2';
const SECRETS = /hush/i;

interface Entry {
  id: string;
  text: string;
  channels: {
    channel: string;
    result: string;
    reason: string | null;
    attempts: number;
    maybeTwice: boolean;
  }[];
}

describe('notify (built)', function () {
  this.timeout(120_000);
  let home: { path: string; remove: () => void };
  let server: NotifyServer;
  beforeEach(async () => {
    home = emptyHome();
    server = await notifyServer(ntfyOk);
    settings({ push: {} });
  });
  afterEach(async () => {
    await deliverersEnd();
    await server.close();
    home.remove();
  });

  const area = (...names: string[]) => join(home.path, '.steward', ...names);
  const run = (args: string[], options: StewardOptions = {}): Promise<StewardResult> =>
    steward(['notify', ...args], { home: home.path, ...options });
  const settings = ({ push = {}, chat = {} }: { push?: object; chat?: object }, more: object = {}): void => {
    mkdirSync(area(), { recursive: true, mode: 0o700 });
    const notifications = {
      push: { topic: TOPIC, token: TOKEN, server: server.url, detail: 'full', ...push },
      chat,
      ...more,
    };
    writeFileSync(area('settings.json'), JSON.stringify({ notifications }), { mode: 0o600 });
  };
  /** A provider of the test's own: what the machine can speak with would take its time without a sound card. */
  const voice = (): void => {
    const provider = `{ url: ${JSON.stringify(server.url)}, apiKey: ${KEY} }`;
    const main = 'da: { voices: { main: { voiceId: voice-1 } } }';
    writeFileSync(area('config.yaml'), `notify: { voice: { engine: provider, provider: ${provider} } }\n${main}\n`, { mode: 0o600 }); // prettier-ignore
  };
  const history = async (): Promise<Entry[]> =>
    jsonOf(await run(['history', '--json', '--limit', '1000'])) as Entry[];

  /** Files of the machine-local state and the user area, all of them. */
  const files = (folder: string): string[] =>
    readdirSync(folder, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  const locks = (): string[] => files(home.path).filter((name) => name.endsWith('notify-deliver.lock'));
  /** Those that send in the background end by themselves when nothing is due; here they are not waited for. */
  const deliverersEnd = async (): Promise<void> => {
    for (const path of locks()) {
      try {
        process.kill((JSON.parse(readFileSync(path, 'utf8')) as { pid: number }).pid, 'SIGKILL');
      } catch {
        // It has just ended.
      }
    }
  };

  it('a push about a restricted session names nothing', async () => {
    const hook = (verb: 'session-start' | 'notification', cwd: string) =>
      steward(['hook', verb], { home: home.path, input: hookJson(verb, { cwd, session_id: basename(cwd) }) });
    settings({}, { routing: { attention: ['push'], taskComplete: ['push'] }, voice: { events: [] } });
    const [secret, open] = ['secret', 'open'].map((name) => join(home.path, name));
    for (const folder of [secret, open]) mkdirSync(join(String(folder), '.git'), { recursive: true });
    for (const folder of [secret, open])
      writeFileSync(join(String(folder), '.git', 'HEAD'), 'ref: refs/heads/main\n');
    writeFileSync(join(String(secret), 'RESTRICTED.md'), '');
    for (const folder of [secret, open]) {
      await hook('session-start', String(folder));
      // The session stays restricted in another folder.
      await steward(['hook', 'notification'], { home: home.path, input: hookJson('notification', { cwd: open, session_id: basename(String(folder)) }) }); // prettier-ignore
      const before = server.got.length;
      expect((await run(['triggers'])).code).to.equal(0);
      await until('the push', () => server.got.length > before);
    }
    const bodies = server.got.map(({ body }) => body);
    expect(bodies[0]).to.deep.include({
      message: 'restricted session asks for permission.',
      tags: ['raising_hand'],
    });
    expect(bodies[0]).to.not.have.property('title');
    expect(bodies[1]?.['message']).to.match(/^open·main /);
    // A message that names the session contains only general words.
    const { sessions } = jsonOf(await steward(['sessions', '--all', '--json'], { home: home.path })) as { sessions: { slug: string }[] }; // prettier-ignore
    const slug = sessions.map((session) => session.slug).find((each) => each.startsWith('restricted-')) ?? '';
    await run(['send', 'Merger drafted', '--slug', slug]);
    await until('the last push', () => server.got.length > 2);
    expect(server.got[2]?.body['message']).to.equal('A task is complete.');
  });

  it('is accepted at once and delivered in the background', async () => {
    const result = await run(['send', 'Fertig 😀', '--event', 'backgroundAgent', '--title', 'Bau', '--tag', 'tada', '--url', 'https://example.org']); // prettier-ignore
    expect(result).to.include({ code: 0, stderr: '' });
    const id = result.stdout.trim();
    expect(id).to.match(/^\d{8}T\d{9}Z-[0-9a-f]{12}$/);
    await until('it has arrived', () => server.got.length === 1, 60_000);
    expect(server.got[0]?.body).to.deep.include({ topic: TOPIC, message: 'Fertig 😀', title: 'Bau', click: 'https://example.org' }); // prettier-ignore
    await until(
      'that is noted',
      async () => (await history())[0]?.channels[0]?.result === 'delivered',
      60_000,
    );
    expect((await run(['history'])).stdout).to.match(new RegExp(`^${id} +\\d\\d:\\d\\d +push +Bau: Fertig`));
  });

  it('reads the message from stdin, and waits for the results on request', async () => {
    const result = await run(['send', '--event', 'backgroundAgent', '--wait', '--json'], {
      input: 'one\ntwo\n',
    });
    expect(result).to.include({ code: 0, stderr: '' });
    expect(jsonOf(result))
      .to.have.nested.property('channels[0]')
      .that.include({ channel: 'push', result: 'delivered' });
    expect(server.got[0]?.body['message']).to.equal('one\ntwo');
  });

  it('delivers by itself if the delivering process is killed (slow)', async () => {
    server.usual = () => ({ status: 500 });
    await run(['send', 'first', '--event', 'backgroundAgent', '--wait']);
    const holder = (): number | undefined => {
      const [path] = locks();
      return path === undefined ? undefined : (JSON.parse(readFileSync(path, 'utf8')) as { pid: number }).pid;
    };
    await until('a process goes on with it', () => holder() !== undefined, 60_000);
    const pid = holder() ?? 0;
    process.kill(pid, 'SIGSTOP');
    server.usual = ntfyOk;
    const waits = run(['send', 'second', '--event', 'backgroundAgent', '--wait', '--json']);
    await until('it is accepted', async () => (await history())[0]?.text === 'second', 60_000);
    process.kill(pid, 'SIGKILL');
    expect(jsonOf(await waits)).to.have.nested.property('channels[0].result', 'delivered');
  });

  it('uses the current settings, even in a process started earlier (slow)', async () => {
    settings({ push: { server: 'http://127.0.0.1:9' } });
    const { id } = jsonOf(await run(['send', 'first', '--event', 'backgroundAgent', '--wait', '--json'])) as { id: string }; // prettier-ignore
    await until('a process goes on with it', () => locks().length > 0, 60_000);
    settings({});
    const args = ['send', 'second', '--event', 'backgroundAgent', '--wait', '--json'];
    expect(jsonOf(await run(args))).to.have.nested.property('channels[0].result', 'delivered');
    await until(
      'the first has arrived, too',
      async () => (await history()).find((entry) => entry.id === id)?.channels[0]?.result === 'delivered',
      60_000,
    );
  });

  it('exits 0 when a channel is down, and 8 with --strict', async () => {
    server.usual = () => ({ status: 500 });
    const args = ['send', 'x', '--event', 'backgroundAgent'];
    expect(await run([...args, '--wait'])).to.include({ code: 0, stderr: '' });
    const strict = await run([...args, '--strict']);
    expect(strict).to.include({ code: 8, stdout: '' });
    expect(strict.stderr).to.match(/^Not fully delivered: push: Server error 500\./);
    const json = await run([...args, '--strict', '--json']);
    expect(JSON.parse(json.stderr)).to.have.nested.property('error.kind', 'unavailable');
  });

  it('fails with --strict if no channel is available', async () => {
    settings({ push: { topic: '' } });
    const { code, stderr } = await run(['send', 'x', '--event', 'backgroundAgent', '--strict']);
    expect([code, stderr.split('\n')[0]]).to.deep.equal([8, 'Not fully delivered: no channel is configured for this event; push: no topic is set']); // prettier-ignore
  });

  const wrong: [args: string[], code: number, message: RegExp][] = [
    [['send'], 2, /^No message given\./],
    [['send', ''], 2, /^message is empty\./],
    [['send', 'x'.repeat(4001)], 2, /^message has 4001 characters\./],
    [['send', 'x', '--event', 'party'], 2, /--event.*taskComplete/],
    [['send', 'x', '--priority', '9'], 2, /^priority is invalid\./],
    [['send', 'x', '--duration', '7'], 2, /^Invalid duration "7"\./],
    [['send', 'x', '--url', 'javascript:1'], 2, /^url is invalid\./],
    [['send', 'x', '--prio', '1'], 2, /^Unknown flag --prio/],
    [['retry', 'nonsense'], 2, /^"nonsense" is not a notification id/],
    [['retry', '20261120T090000000Z-0123456789ab'], 5, /^Notification 20261120T\S+ not found\./],
    [['mute', 'soon'], 2, /^Invalid time "soon"\./],
    [['mute', 'until', 'yesterday'], 2, /yesterday/],
    [['announce', '--request', 'x', '--kind', 'party'], 2, /party/],
  ];
  for (const [args, code, message] of wrong) {
    it(`refuses ${JSON.stringify(args).slice(0, 60)}`, async () => {
      const result = await run(args);
      expect(result).to.include({ code, stdout: '' });
      expect(result.stderr).to.match(message);
    });
  }

  it('refuses a megabyte or binary data on stdin', async () => {
    const large = await run(['send', '--event', 'backgroundAgent'], { input: 'x'.repeat(1_000_000) });
    expect([large.code, large.stderr.split('\n')[0]]).to.deep.equal([
      2,
      'The message has more than 4,000 characters.',
    ]);
    expect(server.got).to.deep.equal([]);
  });

  it('stops reading from a writer that never ends (slow)', async () => {
    const args = ['-c', 'yes | "$0" "$1" notify send', process.execPath, BIN];
    const failed = await promisify(execFile)('sh', args, { env: cleanEnv(home.path) }).then(
      () => undefined,
      (error: unknown) => error as { code: number; stderr: string },
    );
    expect(failed?.code).to.equal(2);
    expect(failed?.stderr).to.match(/^The message has more than 4,000 characters/);
  });

  it('reports an unknown channel and a malformed webhook, without printing the webhook', async () => {
    settings({ chat: { webhook: 'htps:/hush' } });
    const bad = await run(['send', 'x']);
    expect(bad.code).to.equal(3);
    expect(bad.stderr).to.include('notifications.chat.webhook').and.not.match(SECRETS);
    writeFileSync(area('settings.json'), '{"notifications": {"routing": {"error": ["pigeon"]}}}');
    const unknown = await run(['routes']);
    expect(unknown.code).to.equal(3);
    expect(unknown.stderr)
      .to.include('notifications.routing.error')
      .and.include('push, chat, telegram, desktop');
  });

  it('shows in routes which configured channels cannot work, before anything is sent', async () => {
    settings({ push: { topic: 'env:NO_SUCH_TOPIC' }, chat: { enabled: true, webhook: 'env:HUSH_HOOK' } });
    const env = { HUSH_HOOK: 'no address' };
    const broken = async (more: Record<string, string> = {}): Promise<string[]> => {
      const report = jsonOf(await run(['routes', '--json'], { env: more })) as {
        broken: { channel: string }[];
      };
      return report.broken.map(({ channel }) => channel);
    };
    expect(await broken(env)).to.include.members(['push', 'chat']);
    const { stdout } = await run(['routes'], { env });
    expect(stdout).to.match(/^Not working:\n.*^ {2}push .*NO_SUCH_TOPIC/ms);
    expect(stdout).to.not.include('no address');
    settings({});
    expect(await broken())
      .to.not.include.members(['push'])
      .and.not.include.members(['chat']);
  });

  it('shows in routes why voice and banners cannot work', async function () {
    if (process.platform !== 'linux') this.skip();
    const env = { PATH: '/nonexistent', XDG_RUNTIME_DIR: area('no-session') };
    const routes = async (more: Record<string, string> = {}): Promise<string> =>
      (await run(['routes'], { env: { ...env, ...more } })).stdout.replace(/\n {4}/g, ' ');
    expect(await routes())
      .to.match(/^ {2}voice {2}no speech engine found\. Install an engine/m)
      .and.match(/^ {2}desktop {2}no desktop here\. Without one/m)
      .and.not.include('Not working');
    const test = (await run(['test'], { env })).stdout;
    expect(test)
      .to.match(/^voice +off: no speech engine found\. Install/m)
      .and.match(/^desktop +off: no desktop here\. Without one/m);
    await steward(['config', 'set', 'notify.voice.engine', 'none'], { home: home.path });
    expect(await routes())
      .to.match(/^taskComplete +voice \(off\)/m)
      .and.match(
        /^Off:\n.*^ {2}voice {2}switched off\. Switch it on with `steward config set notify\.voice\.engine auto`/ms,
      )
      .and.not.include('no speech engine found');
  });

  it('plays audio from a job only if DAEMON_CRON_VOICE is 1', async () => {
    const channels = async (env: Record<string, string>): Promise<string[]> => {
      await run(['send', 'x', '--source', 'job', '--wait'], { env });
      return (await history())[0]?.channels.map(({ channel }) => channel) ?? [];
    };
    writeFileSync(area('config.yaml'), 'notify: { voice: { engine: none } }\n', { mode: 0o600 });
    expect(await channels({}))
      .to.include('desktop')
      .and.not.include('voice');
    expect(await channels({ DAEMON_CRON_VOICE: '0' })).to.not.include('voice');
    expect(await channels({ DAEMON_CRON_VOICE: '1' })).to.include('voice');
  });

  it('says that the history was cut', async () => {
    for (const text of ['one', 'two']) await run(['send', text, '--event', 'backgroundAgent']);
    expect((await run(['history', '--limit', '1'])).stderr).to.equal(
      'The list is cut at 1; use --limit for more.\n',
    );
    expect((await run(['history', '--limit', '2'])).stderr).to.equal('');
  });

  it('sends no escape sequence to the terminal', async () => {
    server.usual = () => ({ status: 404 });
    await run([
      'send',
      'a\u001b]0;owned\u0007b\u009b31mc\u202ed',
      '--event',
      'backgroundAgent',
      '--wait',
      '--title',
      'x\u001b[2Jy',
    ]);
    const shown = await run(['history']);
    expect(shown.stdout).to.not.match(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(shown.stdout).to.include('xy: abcd');
    expect((await run(['history', '--json'])).stdout).to.not.match(
      /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/,
    );
  });

  it('shows in status that Telegram is on', async () => {
    const set = (key: string, value: string) =>
      steward(['config', 'set', `notifications.telegram.${key}`, value], { home: home.path });
    await set('token', '123456:ABCdefGHIjklMNOpqrSTUvwxYZ012345678');
    await set('chatId', '42');
    const { stdout } = await steward(['status', '--json'], { home: home.path });
    expect(stdout).to.match(/"found": ?"voice [^"]* · Telegram on/);
  });

  it('asks once, after a test that was heard, whether steward may speak (slow)', async function () {
    requireTerminal(this);
    const PATH = join(home.path, 'programs');
    mkdirSync(PATH);
    for (const name of ['espeak-ng', 'aplay']) script(join(PATH, name), 'exit 0');
    const test = (...turns: Turn[]) =>
      converse(['notify', 'test'], turns, { home: home.path, env: { PATH, XDG_RUNTIME_DIR: undefined } });
    const note = 'Only messages that you send are spoken';
    expect((await run(['routes'], { env: { PATH } })).stdout).to.include(note);
    const { code, text, missed } = await test(['May steward speak when something happens?', 'y\r']);
    expect({ code, missed }, text).to.deep.equal({ code: 0, missed: [] });
    expect((await run(['routes'], { env: { PATH } })).stdout).to.not.include(note);
    expect((await test()).text).to.not.include('May steward');
  });

  for (const [machine, programs, voice, state, reason] of [
    ['with a speech engine', ['espeak-ng', 'ffplay'], 'voice espeak-ng', 'ok', ''],
    ['without one', [], 'voice not installed', 'off', 'No speech engine found.'],
  ] as const) {
    it(`mutes and unmutes, and shows it in routes and status, on a machine ${machine}`, async function () {
      // Windows has its own engine.
      if (process.platform === 'win32') this.skip();
      // They are looked for, and not run.
      const PATH = join(home.path, 'programs');
      mkdirSync(PATH);
      for (const name of programs) script(join(PATH, name), 'exit 1');
      const routes = async (): Promise<string> => (await run(['routes'], { env: { PATH } })).stdout;
      const found = async (): Promise<object | undefined> => {
        // A machine without a sound device says so.
        const env = { PATH, PULSE_SERVER: 'unix:/none' };
        const { parts } = jsonOf(await steward(['status', '--json'], { home: home.path, env })) as {
          parts: { id: string }[];
        };
        return parts.find(({ id }) => id === 'notify');
      };
      const isOff = state === 'off';
      const facts = ['push on', 'chat off', ...(isOff ? [reason] : [])].join(' · ');

      expect((await run(['mute', 'until', '14:00'])).stdout).to.match(/^Muted until (\S+ )?14:00\./);
      expect((await run(['mute', '1h'])).stdout).to.match(/^Muted until (\S+ )?\d\d:\d\d\./);
      expect(await routes())
        .to.match(/The voice is muted until (\S+ )?\d\d:\d\d/)
        .and.match(isOff ? /^taskComplete +voice \(off\) /m : /^taskComplete +voice \(muted\) /m);
      expect(jsonOf(await run(['routes', '--json']))).to.have.nested.property('muted.muted', true);
      expect(await found())
        .to.include({ state, fix: isOff ? 'steward notify test' : 'steward notify unmute' })
        .and.property('found')
        .match(new RegExp(`^${voice}, muted for now · ${facts}`));

      expect((await run(['unmute'])).stdout).to.equal('Unmuted.\n');
      expect((await run(['unmute'])).stdout).to.equal('The voice was not muted.\n');
      expect(await routes())
        .to.match(isOff ? /^taskComplete +voice \(off\) /m : /^taskComplete +voice  /m)
        .and.not.include('muted');
      expect(await found())
        .to.include({ state })
        .and.property('found')
        .match(new RegExp(`^${voice} · ${facts}`));
    });
  }

  it('stores a message that no server accepted, and retry sends it', async () => {
    server.usual = () => ({ status: 404 });
    const sent = await run(['send', 'again', '--event', 'backgroundAgent', '--wait', '--json']);
    const { id } = jsonOf(sent) as { id: string };
    server.usual = ntfyOk;
    expect(jsonOf(await run(['retry', id, '--json']))).to.deep.equal({ id, channels: ['push'] });
    await until(
      'it has arrived',
      async () => (await history())[0]?.channels[0]?.result === 'delivered',
      60_000,
    );
    expect((await run(['retry', id])).code).to.equal(6);
  });

  it('shows in status and doctor why messages wait, and the fix', async () => {
    server.usual = () => ({ status: 500 });
    await run(['send', 'later', '--event', 'backgroundAgent', '--wait']);
    const { parts } = jsonOf(await steward(['status', '--json'], { home: home.path })) as {
      parts: { id: string }[];
    };
    expect(parts.find(({ id }) => id === 'queue')).to.deep.include({
      state: 'warning',
      found: '1 notification waiting · push: Server error 500. No action needed: steward will retry later.',
      fix: 'steward notify test',
    });
    const doctor = await steward(['doctor', 'notify', '--json'], { home: home.path });
    const { checks } = JSON.parse(doctor.stdout) as { checks: { id: string }[] };
    expect(checks.find(({ id }) => id === 'notify.outbox'))
      .to.include({ state: 'warning' })
      .and.property('found')
      .to.include('push: Server error 500.');
  });

  it('exits 8 if the outbox is full, and drops nothing', async () => {
    const at = new Date().toISOString();
    const left = {
      version: 1,
      channel: 'push',
      machine: 'ffffffffffff',
      at,
      nextAt: at,
      event: 'error',
      priority: 3,
    };
    const rest = { message: 'waits', tags: [], silent: false, attempts: 0, interrupted: 0, sentParts: 0 };
    mkdirSync(area('state', 'outbox', 'dead'), { recursive: true, mode: 0o700 });
    const time = at.replace(/[-:.]/g, '');
    for (let n = 0; n < 2_000; n += 1) {
      const id = `${time}-${n.toString(16).padStart(12, '0')}`;
      writeFileSync(area('state', 'outbox', `${id}.push.json`), JSON.stringify({ ...left, id, ...rest }));
    }
    const sent = await run(['send', 'one more', '--event', 'backgroundAgent']);
    expect(sent).to.include({ code: 8, stdout: '' });
    expect(sent.stderr).to.match(/^The queue is full: 2000 deliveries are waiting\.\n/);
    const names = readdirSync(area('state', 'outbox')).filter((name) => name.endsWith('.push.json'));
    expect(names).to.have.length(2_000);
    expect((await history()).map(({ text }) => text)).to.not.include('one more');
  });

  it('shows in the history which messages expired, and why', async () => {
    server.usual = () => ({ status: 404 });
    await run(['send', 'again', '--event', 'backgroundAgent', '--wait']);
    expect((await run(['history'])).stdout).to.match(/\n\n1 failed permanently: [\s\S]+\s\(1\)\n$/);
  });

  it('tests each channel, and explains failures', async function () {
    requirePrograms(this, { aplay: 'alsa-utils' });
    server.usual = (got) => (got.path.startsWith('/v1/') ? { status: 500 } : ntfyOk(got));
    voice();
    const { code, stdout } = await run(['test']);
    expect(code).to.equal(8);
    expect(stdout).to.match(/^push +ok$/m);
    expect(stdout).to.match(/^voice +failed: provider: /m);
    expect(stdout).to.match(/^chat +off: switched off\. Switch it on/m);
    expect(stdout).to.match(/^sms +off: no SMS program is set\. Set a program/m);
    for (const line of stdout.split('\n')) expect(line.length).to.be.at.most(80);
    expect(stdout).to.not.include('..');
    const json = await run(['test', '--json']);
    expect(json.code).to.equal(8);
    expect(jsonOf(json)).to.deep.include({ channel: 'push', state: 'ok', reason: null, hint: null });
  });

  it('uses the command for short messages for a job, without a shell', async () => {
    const out = join(home.path, 'sms.txt');
    const script = `require('fs').appendFileSync(${JSON.stringify(out)}, JSON.stringify(process.argv.slice(1)) + '\\n')`;
    writeFileSync(area('config.yaml'), `notify:\n  smsCommand: [${JSON.stringify(process.execPath)}, -e, ${JSON.stringify(script)}, --, "{message}"]\n`); // prettier-ignore
    const text = '-n $(id) `id`; "quoted"';
    await run(['send', '--source', 'job', '--wait'], { input: text });
    expect(JSON.parse(readFileSync(out, 'utf8'))).to.deep.equal([` ${text}`]);
  });

  it('delivers fifty simultaneous messages once each (slow)', async () => {
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, n) => run(['send', `m${n}`, '--event', 'backgroundAgent'])),
    );
    expect(results.map(({ code }) => code)).to.deep.equal(Array.from({ length: 50 }, () => 0));
    await until(
      'all have arrived',
      () => new Set(server.got.map(({ body }) => body['message'])).size === 50,
      90_000,
    );
    await until('all are noted', async () => (await history()).every(({ channels }) => channels[0]?.result === 'delivered'), 60_000); // prettier-ignore
    const entries = await history();
    // A machine that is busy enough lets an answer take longer than it may: that one is tried again, as the log says.
    const attempts = entries.map(({ channels: [one] }) => (one?.maybeTwice === false ? one.attempts : NaN));
    expect(server.got.length).to.be.within(50, attempts.reduce((sum, count) => sum + count, 0)); // prettier-ignore
    expect(new Set(server.got.map(({ body }) => body['sequence_id'])).size).to.equal(50);
    expect(entries).to.have.length(50);
  }).timeout(240_000);

  it('announces, and sends the line', async () => {
    const skills = join(home.path, 'skills');
    mkdirSync(join(skills, 'Writing', 'workflows'), { recursive: true });
    writeFileSync(join(skills, 'Writing', 'workflows', 'Newsletter.md'), '# Newsletter');
    const args = ['announce', '--request', 'write the newsletter', '--skills', skills];
    expect((await run(args)).stdout).to.equal('Creating newsletter\n');
    const named = await run([...args, '--skill', 'Writing', '--workflow', 'Newsletter', '--send', '--json']);
    expect(jsonOf(named)).to.deep.include({
      line: 'Executing the Newsletter workflow within the Writing skill',
    });
    const [entry] = await history();
    expect(entry).to.include({ text: 'Executing the Newsletter workflow within the Writing skill', title: 'Newsletter workflow' }); // prettier-ignore
    const nothing = await run(['announce', '--request', 'thanks!']);
    expect(nothing).to.include({ code: 0, stdout: '' });
    const invented = await run([...args, '--skill', 'Writing', '--workflow', 'Invented']);
    expect(invented).to.include({ code: 0, stdout: 'Creating newsletter\n' });
    expect(invented.stderr).to.equal('No workflow named: workflow Invented not found (skill Writing).\n');
  });

  it('exits 130 on Ctrl-C without losing a message', async () => {
    server.usual = () => 'hang';
    const child = spawn(
      process.execPath,
      [BIN, 'notify', 'send', 'x', '--event', 'backgroundAgent', '--wait'],
      {
        env: cleanEnv(home.path),
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    const ended = once(child, 'exit');
    await until('it is under way', () => server.got.length === 1, 60_000);
    child.kill('SIGINT');
    expect((await ended)[0]).to.equal(130);
    server.usual = ntfyOk;
    expect(jsonOf(await run(['deliver', '--json']))).to.include({ waiting: 0 });
    const [entry] = await history();
    expect(entry?.channels[0]).to.include({ result: 'delivered', maybeTwice: true });
  });

  it('neither stores nor prints a secret, whatever fails (slow)', async function () {
    requirePrograms(this, { aplay: 'alsa-utils' });
    voice();
    settings({ chat: { enabled: true, webhook: `${server.url}${HOOK}` } });
    const said: StewardResult[] = [];
    const body = (): unknown => ({ error: `no such topic ${TOPIC} ${HOOK} ${TOKEN} ${KEY}` });
    for (const reply of [
      { status: 500, body: body() },
      { status: 404, body: body() },
      { status: 429, body: body() },
      'reset' as const,
      { status: 302, headers: { location: `http://example.org/${TOPIC}` } },
    ]) {
      // prettier-ignore
      server.usual = () => reply;
      said.push(await run(['send', 'x', '--event', 'security', '--strict', '--debug']));
      said.push(await run(['test', '--debug']));
    }
    server.usual = ntfyOk;
    said.push(await run(['send', 'x', '--event', 'security', '--wait', '--json']));
    for (const args of [['history'], ['history', '--json'], ['routes', '--json'], ['test', '--json']]) said.push(await run(args)); // prettier-ignore
    said.push(await steward(['config', 'show'], { home: home.path }));
    said.push(await steward(['config', 'show', '--json'], { home: home.path }));
    await deliverersEnd();
    expect(server.got.some(({ path }) => path === HOOK)).to.equal(true);
    expect(server.got.some(({ headers }) => headers.authorization === `Bearer ${TOKEN}`)).to.equal(true);
    expect(server.got.some(({ headers }) => headers['xi-api-key'] === KEY)).to.equal(true);
    for (const { stdout, stderr } of said) expect(stdout + stderr).to.not.match(SECRETS);
    // A run that ends removes its mark.
    const written = files(home.path).filter(
      (path) => !/settings\.json$|config\.yaml$|\/\.run\.\S+$/.test(path),
    );
    expect(written.some((path) => path.endsWith('notify.jsonl'))).to.equal(true);
    for (const path of written) expect(readFileSync(path, 'latin1'), path).to.not.match(SECRETS);
  }).timeout(240_000);
});
