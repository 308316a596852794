import { expect } from 'chai';
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { HistoryEntry } from '../../src/lib/notify/history';
import { isAlive } from '../../src/lib/platform/files/lock';
import { steward } from '../helpers/cli';
import {
  ask,
  daemonLogOf,
  machineFolder,
  startDaemon,
  until,
  type Reply,
  type RunningDaemon,
} from '../helpers/daemon';
import { hookJson, type RecordedEvent } from '../helpers/hooks';
import { notifyServer, ntfyOk, type NotifyServer } from '../helpers/notify-server';
import { requirePrograms } from '../helpers/real-part';
import { factsOf, soundHome, type SoundHome } from '../helpers/sound-home';

const TOPIC = 'steward-hush-7f3a1c';
const TOKEN = 'tk_hush_5511';
const HOOK = '/services/hush/9921';
const SECRETS = /hush/;

/** The socket that listens, and those that nobody has taken yet. */
function connectionsTo(socket: string): number {
  return readFileSync('/proc/net/unix', 'utf8').split(socket).length - 1;
}

describe('notifications with the daemon', () => {
  let sound: SoundHome;
  let server: NotifyServer;
  let daemon: RunningDaemon | undefined;
  beforeEach(async () => {
    sound = soundHome('notify:\n  turnEnd: always\n  voice:\n    engine: flite\n');
    server = await notifyServer(ntfyOk);
    settings({});
  });
  afterEach(async () => {
    await daemon?.stop('SIGKILL');
    daemon = undefined;
    await server.close();
    sound.remove();
  });

  const settings = (more: object): void =>
    sound.write(
      'settings.json',
      JSON.stringify({
        notifications: { push: { topic: TOPIC, token: TOKEN, server: server.url, detail: 'full' }, ...more },
      }),
    );
  const start = async (): Promise<RunningDaemon> => (daemon = await startDaemon({ home: sound.path }));
  const post = (body: unknown): Promise<Reply> =>
    ask(`${daemon?.url}/notify`, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const history = async (): Promise<HistoryEntry[]> =>
    JSON.parse((await sound.steward(['notify', 'history', '--json'])).stdout) as HistoryEntry[];
  const resultOf = async (id: string, channel: string): Promise<string | undefined> =>
    (await history()).find((entry) => entry.id === id)?.channels.find((one) => one.channel === channel)
      ?.result;
  const outbox = (): string[] =>
    readdirSync(join(sound.path, '.steward', 'state', 'outbox')).filter((name) => name.endsWith('.json'));

  it('responds 202, then speaks the message', async function () {
    requirePrograms(this, { flite: 'flite', aplay: 'alsa-utils' });
    await start();
    const reply = await post({ message: 'We are live now.' });
    const { id, ...more } = JSON.parse(reply.text) as { id: string };
    expect([reply.status, more]).to.deep.equal([202, { status: 'accepted' }]);
    await until('it was spoken', async () => (await resultOf(id, 'voice')) === 'delivered', 60_000);
    const played = sound.played();
    if (played === undefined) throw new Error('nothing was played');
    expect(factsOf(played).peak).to.be.greaterThan(1000);
    expect(factsOf(played).seconds).to.be.within(0.5, 5);
  });

  it('accepts messages over the socket, without loading the full program', async () => {
    await start();
    const args = ['notify', 'send', 'built', '--event', 'backgroundAgent', '--title', 'Bau'];
    const sent = await sound.steward([...args, '--json']);
    expect(sent).to.include({ code: 0, stderr: '' });
    const { id } = JSON.parse(sent.stdout) as { id: string };
    await until('it has arrived', async () => (await resultOf(id, 'push')) === 'delivered', 60_000);
    expect(server.got[0]?.body).to.include({ topic: TOPIC, message: 'built', title: 'Bau' });
    expect(outbox()).to.deep.equal([]);
    // The flags that wait are the full command's; it posts to the same daemon.
    const waited = await sound.steward([...args, '--strict', '--json']);
    expect(JSON.parse(waited.stdout)).to.have.nested.property('channels[0].result', 'delivered');
    const wrong = await sound.steward(['notify', 'send', ' ', '--json']);
    expect(wrong.code).to.equal(2);
    expect(JSON.parse(wrong.stderr)).to.have.nested.property('error.message', 'message is empty.');
    expect((await sound.steward(['notify', 'send', 'x', '--event', 'party'])).code).to.equal(2);
  });

  it('accepts a message once if the daemon is suspended and does not respond', async function () {
    this.timeout(180_000);
    const running = await start();
    const args = ['notify', 'send', 'once', '--event', 'backgroundAgent', '--phase', 'execute'];
    process.kill(running.pid, 'SIGSTOP');
    // Both wait for it, five seconds each.
    const [sent, json] = await Promise.all([sound.steward(args), sound.steward([...args, '--json'])]);
    expect(sent.code).to.equal(0);
    const id = sent.stdout.trim();
    expect(sent.stderr.split('\n')).to.deep.equal([
      'The daemon did not respond. The message is in the outbox. It will be sent when the daemon responds or exits.',
      'Phase not set: no session was active in the last two hours. Run "steward sessions".',
      '',
    ]);
    expect([json.code, JSON.parse(json.stdout)]).to.have.nested.property('[1].phase', 'no session');
    process.kill(running.pid, 'SIGCONT');
    await until('it has arrived', async () => (await resultOf(id, 'push')) === 'delivered', 60_000);
    await until('both have', () => server.got.length === 2, 60_000);
    // What the daemon had in its socket it has answered by now: it went nowhere.
    await post({ message: 'last', event: 'backgroundAgent' });
    await until('the last one has', () => server.got.length === 3, 60_000);
    expect(server.got.map(({ body }) => body['message'])).to.deep.equal(['once', 'once', 'last']);
    expect((await history()).map(({ text }) => text)).to.deep.equal(['last', 'once', 'once']);
  });

  it('accepts a message once if the daemon is killed during the request', async function () {
    this.timeout(180_000);
    if (process.platform !== 'linux') this.skip();
    const running = await start();
    const instance = readFileSync(join(machineFolder(sound.path), 'daemon.json'), 'utf8');
    const { socket } = JSON.parse(instance) as { socket: string };
    process.kill(running.pid, 'SIGSTOP');
    const sending = sound.steward(['notify', 'send', 'x', '--event', 'backgroundAgent', '--json']);
    await until('it is asked', () => connectionsTo(socket) > 1, 60_000);
    await running.stop('SIGKILL');
    const sent = await sending;
    expect(sent.code).to.equal(0);
    const { id } = JSON.parse(sent.stdout) as { id: string };
    await until('it has arrived', async () => (await resultOf(id, 'push')) === 'delivered', 60_000);
    expect(server.got).to.have.length(1);
  });

  it('refuses query parameters, and ignores the id of an unverified sender', async () => {
    await start();
    const body = JSON.stringify({ message: 'x', event: 'backgroundAgent' });
    const asked = await ask(`${daemon?.url}/notify?event=error`, { method: 'POST', body });
    expect([asked.status, asked.text]).to.include(400).and.to.satisfy(([, text]: [number, string]) => text.includes('Unknown query parameter \\"event\\".')); // prettier-ignore
    const id = '20261120T090000000Z-0123456789ab';
    const other = JSON.parse((await post({ message: 'x', event: 'backgroundAgent', id })).text) as object;
    expect(other).to.have.property('id').that.does.not.equal(id);
    const socket = (JSON.parse(readFileSync(join(machineFolder(sound.path), 'daemon.json'), 'utf8')) as { socket: string }).socket; // prettier-ignore
    const own = await ask('http://localhost/notify', { method: 'POST', body: '{"message":"x","id":"../x"}', socket }); // prettier-ignore
    expect([own.status, own.text]).to.deep.equal([400, '{"error":{"kind":"usage","message":"The id is invalid.","hint":"Omit the id; the response contains a new one."}}\n']); // prettier-ignore
  });

  it('follows changed settings, and keeps the last valid ones', async () => {
    await start();
    settings({ routing: { taskComplete: ['push'] } });
    await post({ message: 'one', voice_enabled: false });
    await until('it is pushed', () => server.got.length === 1, 60_000);
    sound.write('settings.json', '{"notifications": {"routing": {"taskComplete": ["pigeon"]}}}');
    expect((await post({ message: 'two', voice_enabled: false })).status).to.equal(202);
    await until('it is pushed, too', () => server.got.length === 2, 60_000);
    const status = JSON.parse((await ask(`${daemon?.url}/api/status`)).text) as {
      modules: { id: string; state: string; found: string }[];
    };
    const module = status.modules.find(({ id }) => id === 'notify');
    expect(module?.state).to.equal('failed');
    expect(module?.found).to.include('notifications.routing.taskComplete');
  });

  const wrong: [name: string, body: string, status: number, message: RegExp][] = [
    ['invalid JSON', '{', 400, /not valid JSON/],
    ['no body', '', 400, /JSON object/],
    ['a list', '[]', 400, /JSON object/],
    ['no message', '{}', 400, /^message is missing/],
    ['a number', '{"message": 1}', 400, /^message is not a string/],
    ['an empty message', '{"message": " "}', 400, /^message is empty/],
    ['a lone surrogate', '{"message": "\\ud800"}', 400, /^message contains a lone surrogate/],
    ['too long a message', JSON.stringify({ message: 'x'.repeat(4001) }), 400, /^message has 4001/],
    ['an unknown event', '{"message": "x", "event": "party"}', 400, /^event is invalid/],
    ['a wrong type', '{"message": "x", "voice_enabled": "no"}', 400, /^voice_enabled is invalid/],
    ['a megabyte', JSON.stringify({ message: 'x'.repeat(1_000_000) }), 413, /too large/],
  ];
  it('refuses an invalid message, names the error, and delivers nothing', async () => {
    await start();
    for (const [name, body, status, message] of wrong) {
      const reply = await post(body);
      const { error } = JSON.parse(reply.text) as { error: { message: string } };
      expect(reply.status, name).to.equal(status);
      expect(error.message, name).to.match(message);
    }
    expect(await history()).to.deep.equal([]);
  });

  it('stops although a speech never ends, and keeps the rest', async function () {
    requirePrograms(this, { flite: 'flite', aplay: 'alsa-utils' });
    // A player that never ends: what it was given is what was begun.
    const bin = join(sound.path, 'bin');
    sound.write('../bin/aplay', '#!/bin/sh\necho begun >> "$HOME/begun"\nexec sleep 600\n');
    for (const name of ['pw-play', 'paplay']) sound.write(`../bin/${name}`, '#!/bin/sh\nexit 1\n');
    for (const name of readdirSync(bin)) chmodSync(join(bin, name), 0o755);
    daemon = await startDaemon({ home: sound.path, env: { PATH: `${bin}:${process.env['PATH']}` } });
    for (const message of ['one', 'two', 'three']) await post({ message });
    await until('it speaks', () => readdirSync(sound.path).includes('begun'), 60_000);
    expect(await daemon.stop()).to.equal(0);
    expect(outbox().length + readdirSync(join(sound.path, '.steward/state/outbox/claimed')).length).to.equal(
      3,
    );
  });

  it('counts waiting and abandoned messages', async () => {
    server.usual = () => ({ status: 500 });
    await start();
    await post({ message: 'later', event: 'backgroundAgent' });
    await until('it was tried', () => server.got.length > 0, 60_000);
    const status = async (): Promise<{ outbox: object }> =>
      JSON.parse((await ask(`${daemon?.url}/api/status`)).text) as { outbox: object };
    expect((await status()).outbox).to.deep.equal({ waiting: 1, failed: 0 });
    server.usual = () => ({ status: 404 });
    await sound.steward(['notify', 'retry', (await history())[0]?.id ?? '']);
    await until('it was given up', async () => (await status()).outbox !== undefined && JSON.stringify((await status()).outbox) === '{"waiting":0,"failed":1}', 60_000); // prettier-ignore
  });

  /** What an assistant does: each hook is called, and returns at once. */
  const hook = (
    verb: string,
    event: RecordedEvent,
    changes: Record<string, unknown> = {},
  ): Promise<unknown> =>
    steward(['hook', verb, '--no-tab'], {
      home: sound.path,
      input: hookJson(event, { cwd: sound.path, ...changes }),
    });
  const session = async (): Promise<void> => {
    await hook('session-start', 'session-start');
    await hook('prompt', 'prompt');
    for (let n = 0; n < 3; n += 1) {
      await hook('subagent-start', 'subagent-start', { agent_id: `agent-${n}` });
    }
    await Promise.all(
      [0, 1, 2].map((n) => hook('subagent-stop', 'subagent-stop', { agent_id: `agent-${n}` })),
    );
    await hook('stop', 'stop', { last_assistant_message: 'Long talk.\n\nDA: The site is built.' });
    await hook('notification', 'notification');
  };
  const told = async (): Promise<string[]> =>
    [...new Set((await history()).map(({ event, text }) => `${event}: ${text}`))].sort();
  const TOLD = [
    'attention: The assistant asks for permission.',
    'backgroundAgent: The assistant: 3 agents finished.',
    'taskComplete: The site is built.',
  ];

  it('notifies about hook events, by the daemon', async () => {
    await start();
    await session();
    await until('all three are told of', async () => (await told()).length >= 3, 60_000);
    expect(await told()).to.deep.equal(TOLD);
  }).timeout(120_000);

  it('notifies once about eight agents that finish together, and once about a waiting one', async () => {
    await hook('session-start', 'session-start');
    await hook('prompt', 'prompt');
    for (let n = 0; n < 8; n += 1) {
      await hook('subagent-start', 'subagent-start', { agent_id: `agent-${n}` });
      await hook('subagent-stop', 'subagent-stop', { agent_id: `agent-${n}` });
    }
    // One that asked and was answered: it has gone on by itself.
    await hook('notification', 'permission', { agent_id: 'answered' });
    await hook('tool', 'tool', { agent_id: 'answered' });
    await start();
    await until('the agents are told of', async () => (await told()).length > 0, 60_000);
    expect(await told()).to.deep.equal(['backgroundAgent: The assistant: 8 agents finished.']);
    await daemon?.stop();
    // One that still waits, whatever another one does meanwhile.
    await hook('notification', 'permission', { agent_id: 'asking' });
    await hook('tool', 'tool', { agent_id: 'another' });
    await start();
    await until('the one that asks is told of', async () => (await told()).length > 1, 60_000);
    expect((await told())[0]).to.equal('attention: The assistant asks to run Bash.');
    expect((await history()).filter(({ event }) => event === 'backgroundAgent')).to.have.length(1);
  }).timeout(200_000);

  it('notifies about hook events without a daemon', async () => {
    server.usual = () => ({ status: 500 });
    await session();
    expect(await told(), 'called by hand, a hook starts nothing').to.deep.equal([]);
    // Its settings name the hooks, and no list of what was installed is there.
    await steward(['hook', 'notification', '--no-tab'], {
      home: sound.path,
      env: { CLAUDE_PROJECT_DIR: sound.path },
      input: hookJson('notification', { cwd: sound.path }),
    });
    await until('all three are told of', async () => (await told()).length >= 3, 60_000);
    expect(await told()).to.deep.equal(TOLD);
    // It waits for what is to be tried again, here in vain.
    const lock = join(machineFolder(sound.path), 'notify-deliver.lock');
    await until('it delivers', () => existsSync(lock));
    const { pid } = JSON.parse(readFileSync(lock, 'utf8')) as { pid: number };
    process.kill(pid, 'SIGKILL');
    await until('it has ended', () => !isAlive(pid));
  }).timeout(200_000);

  it('shows no secret in its log, status, pages or responses', async () => {
    settings({ chat: { enabled: true, webhook: `${server.url}${HOOK}` } });
    await start();
    const said: string[] = [];
    const body = { error: `no such topic ${TOPIC} ${HOOK} ${TOKEN}` };
    for (const status of [500, 404, 429]) {
      server.usual = () => ({ status, body });
      said.push((await post({ message: 'x', event: 'security', voice_enabled: false })).text);
    }
    await until('both were asked', () => server.got.length >= 2, 60_000);
    writeFileSync(
      join(sound.path, '.steward', 'settings.json'),
      `{"notifications": {"push": {"topic": "${TOPIC} !"}}}`,
    );
    said.push((await post({ message: 'x', voice_enabled: false })).text);
    for (const path of ['/', '/sense', '/api/status', '/healthz']) {
      said.push((await ask(`${daemon?.url}${path}`)).text);
    }
    await daemon?.stop();
    said.push(daemon?.output() ?? '', JSON.stringify(daemonLogOf(sound.path)));
    said.push(readFileSync(join(sound.path, '.steward', 'observability', 'notify.jsonl'), 'utf8'));
    expect(server.got.length).to.be.greaterThan(0);
    for (const text of said) expect(text).to.not.match(SECRETS);
  });

  it('delivers without a daemon, with the real voice', async function () {
    requirePrograms(this, { flite: 'flite', aplay: 'alsa-utils' });
    const sent = await steward(['notify', 'send', 'Hello there.', '--wait', '--json'], { home: sound.path });
    expect(JSON.parse(sent.stdout)).to.have.nested.property('channels[0].result', 'delivered');
    expect(sound.played()).to.not.equal(undefined);
  });
});
