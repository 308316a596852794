import { expect } from 'chai';
import { statSync } from 'node:fs';

import { createContext, type Context } from '../../../src/lib/app/context';
import { openPushes } from '../../../src/lib/app/pushes';
import { loadConfig } from '../../../src/lib/config/load';
import { secret } from '../../../src/lib/config/secret';
import type { DaemonJob } from '../../../src/lib/daemon/jobs';
import { pushesJob } from '../../../src/lib/daemon/pushes-job';
import { answerAsk, answerTo, takeAnswer, type Ask } from '../../../src/lib/inbox/asks';
import type { Channel, Parcel } from '../../../src/lib/notify/channels/channel';
import { pushChannel } from '../../../src/lib/notify/channels/push';
import { telegramChannel } from '../../../src/lib/notify/channels/telegram';
import { readPushes } from '../../../src/lib/notify/pushes';
import { toIso } from '../../../src/lib/platform/time/clock';
import { appendWorkEvent, type WorkEvent } from '../../../src/lib/sessions/work-events';
import { testArea, type TestArea } from '../../helpers/area';
import { askToMake } from '../../helpers/asks';
import { httpDeps, parcel } from '../../helpers/notify';
import { notifyServer, type Got, type NotifyServer, type Reply } from '../../helpers/notify-server';

const YOU = 4711;
const QUESTION = { text: 'Which\u202eone?', options: ['First', 'Second'] };

interface Update {
  id?: number;
  token: string;
  from?: number;
  chat?: number;
}

describe('answers by the buttons of pushes', () => {
  let area: TestArea;
  let context: Context;
  let server: NotifyServer;
  let settings: ReturnType<typeof httpDeps>;
  let answers: { enabled: boolean; holdMinutes: number; tools: string[] };
  let channels: Record<'telegram' | 'push', Channel>;
  let job: DaemonJob;
  let nowMs: number;
  let updates: object[];
  let published: { topic: string; message: string }[];
  let messages: number;

  beforeEach(async () => {
    area = testArea();
    nowMs = Date.now();
    context = {
      ...createContext(area.home),
      clock: { now: () => nowMs, monotonic: () => nowMs + performance.now() },
      area: area.area,
      machineId: '0123456789ab',
      loadConfig: () => loadConfig({ area: area.area, env: {} }),
    } as Context;
    [updates, published, messages] = [[], [], 0];
    server = await notifyServer(reply);
    settings = httpDeps(server.url);
    settings.telegram.chatId = secret('notifications.telegram.chatId', String(YOU));
    answers = { enabled: true, holdMinutes: 10, tools: ['Bash'] };
    const all = { ...settings.deps.settings(), answers };
    const deps = {
      ...settings.deps,
      settings: () => all,
      pushes: openPushes(context, true),
      clock: context.clock,
    };
    channels = { telegram: telegramChannel(deps), push: pushChannel(deps) };
    const jobs = [channels.telegram, channels.push].map((channel) =>
      pushesJob(context, openPushes(context, true), channel),
    );
    job = {
      id: 'pushes',
      everySec: async () => Math.max(...(await Promise.all(jobs.map(({ everySec }) => everySec())))),
      async run() {
        for (const one of jobs) await one.run();
        return undefined;
      },
    };
  });
  afterEach(async () => {
    await server.close();
    area.remove();
  });

  /** Answers as Telegram's Bot API and as an ntfy server do. */
  function reply({ method, path, body }: Got): Reply {
    const result = (value: unknown): Reply => ({ status: 200, body: { ok: true, result: value } });
    if (path.endsWith('/sendMessage')) return result({ message_id: (messages += 1) });
    if (path.endsWith('/getUpdates'))
      return result(updates.filter((one) => (one as { update_id: number }).update_id >= Number(body['offset']))); // prettier-ignore
    if (path.startsWith('/bot')) return result(true);
    const [, topics = '', sequence] = path.split('/');
    const ntfy = (event: string, more: object) => ({
      id: 'x',
      time: Math.floor(nowMs / 1000),
      event,
      ...more,
    });
    if (method === 'PUT')
      return { status: 200, body: ntfy('message_clear', { topic: topics, sequence_id: sequence }) };
    if (method === 'POST') return { status: 200, body: ntfy('message', body) };
    // A poll returns a line for each stored message, and then ends.
    const found = published.filter(({ topic }) => topics.split(',').includes(topic));
    return { status: 200, body: found.map((one) => `${JSON.stringify(ntfy('message', one))}\n`).join('') };
  }

  const press = ({ token, from = YOU, chat = YOU, id = updates.length + 1 }: Update): void => {
    const message = { message_id: 1, chat: { id: chat } };
    updates.push({ update_id: id, callback_query: { id: `c${id}`, from: { id: from }, message, data: token } }); // prettier-ignore
  };
  const ask = (more?: Parameters<typeof askToMake>[2]): Promise<Ask> => askToMake(context, nowMs, more);
  const send = async (id: 'telegram' | 'push', more: Partial<Parcel> = {}): Promise<Got> => {
    const message = 'shop·login asks to run Bash.';
    const all = parcel({ event: 'attention', message, thread: 'shop', ...more });
    expect(await channels[id].send(all, () => undefined)).to.deep.equal({ outcome: 'delivered' });
    return server.got.at(-1) as Got;
  };
  const buttonsOf = ({ body }: Got): { label: string; token: string; url: string }[] => {
    const keyboard = (body['reply_markup'] as { inline_keyboard?: object[][] } | undefined)?.inline_keyboard;
    const all = (keyboard?.flat() ?? body['actions'] ?? []) as Record<string, string>[];
    return all.map((one) => ({
      label: one['text'] ?? one['label'] ?? '',
      token: one['callback_data'] ?? one['body'] ?? '',
      url: one['url'] ?? '',
    }));
  };
  const labels = (got: Got): string[] => buttonsOf(got).map(({ label }) => label);
  const tokenOf = (got: Got, wanted: string): string =>
    buttonsOf(got).find(({ label }) => label === wanted)?.token ?? '';
  const calls = (name: string): Got['body'][] =>
    server.got.filter(({ path }) => path.endsWith(name)).map(({ body }) => body);
  const said = (): unknown[] => calls('/answerCallbackQuery').map(({ text }) => text);
  const event = (type: WorkEvent['type']): void => {
    const about = { session: 's1', slug: 'shop', repo: 'shop' };
    appendWorkEvent(area.area.workEvents, { ts: toIso(nowMs), type, ...about });
  };

  it('of Telegram allow a tool once, and lose their buttons', async () => {
    const held = await ask({ canAllowSession: true });
    const got = await send('telegram');
    expect(got.body['text']).to.include('Allow Bash?\n  {"command":"make"}');
    expect(labels(got)).to.deep.equal(['Allow', 'Allow for this session', 'Deny']);
    const tokens = buttonsOf(got).map(({ token }) => token);
    expect(tokens.every((token) => /^[0-9a-f]{32}$/.test(token))).to.equal(true);
    expect(new Set(tokens).size).to.equal(3);
    press({ token: tokenOf(got, 'Allow for this session') });
    await job.run();
    expect(said()).to.deep.equal(['Answered: Allow for this session']);
    expect(answerTo(context, held)).to.deep.equal({ behavior: 'allow', texts: [], forSession: true });
    expect(calls('/editMessageText')[0]).to.deep.include({ chat_id: String(YOU), message_id: 1 });
    expect(JSON.stringify(calls('/editMessageText'))).not.to.match(/reply_markup|make/);
    expect(area.read('observability/answers.jsonl')).to.include('"from":"Telegram"').and.not.include('make');
    expect(statSync(openPushes(context, true).pushes).mode & 0o077).to.equal(0);
  });

  it('of Telegram answer a question, with hidden characters written out', async () => {
    const held = await ask({ kind: 'question', tool: 'AskUserQuestion', questions: [QUESTION] });
    const got = await send('telegram');
    expect(got.body['text']).to.include('Which\\u202eone?\n  1  First');
    expect(labels(got)).to.deep.equal(['First', 'Second', 'Deny']);
    press({ token: tokenOf(got, 'Second') });
    await job.run();
    expect(answerTo(context, held)?.texts).to.deep.equal(['Second']);
  });

  it('change nothing if another person, another chat or an unknown button presses them', async () => {
    const held = await ask();
    const token = tokenOf(await send('telegram'), 'Allow');
    press({ token, from: 666 });
    press({ token, chat: -100 });
    press({ token, from: 666, chat: 666 });
    updates.push({ update_id: 4, callback_query: { id: 'c', data: token } }, { update_id: 5 });
    await job.run();
    expect(said()).to.deep.equal([]);
    press({ token: 'f'.repeat(32), id: 6 });
    press({ token: `${token} `, id: 7 });
    await job.run();
    expect(said()).to.deep.equal(Array(2).fill('It no longer waits for an answer.'));
    expect(answerTo(context, held)).to.equal(undefined);
  });

  it('give one answer: not twice, not again, not late, and not after another one', async () => {
    const first = await ask();
    const got = await send('telegram');
    const allow = tokenOf(got, 'Allow');
    press({ token: allow });
    press({ token: tokenOf(got, 'Deny') });
    await job.run();
    expect(said()).to.deep.equal(['Answered: Allow', 'It was already answered from Telegram.']);
    expect((await takeAnswer(context, first))?.behavior).to.equal('allow');

    const second = await ask({ input: '{"command":"rm"}' });
    const next = tokenOf(await send('telegram'), 'Allow');
    press({ token: allow });
    await job.run();
    expect(said().at(-1)).to.equal('It no longer waits for an answer.');
    expect(answerTo(context, second)).to.equal(undefined);
    const deny = { behavior: 'deny', texts: [], forSession: false } as const;
    await answerAsk(context, second.id, () => deny, 'the page');
    press({ token: next });
    await job.run();
    expect(said().at(-1)).to.equal('It was already answered from the page.');
    await takeAnswer(context, second);

    const third = await ask();
    const late = tokenOf(await send('telegram'), 'Allow');
    nowMs += 600_000;
    press({ token: late });
    await job.run();
    expect(said().at(-1)).to.equal('It no longer waits for an answer.');
    expect(answerTo(context, third)).to.equal(undefined);
  });

  it('exist only in your own chat with the bot, and for what can be shown in full', async () => {
    await ask({ input: JSON.stringify({ command: 'x'.repeat(3000) }) });
    expect(labels(await send('telegram'))).to.deep.equal(['Deny']);
    settings.telegram.chatId = secret('notifications.telegram.chatId', '-1001');
    const got = await send('telegram');
    expect(got.body).not.to.have.property('reply_markup');
    expect(got.body['text']).not.to.include('xxx');
  });

  it('never allow a tool that is not listed', async () => {
    await ask({ canAllow: false });
    expect(labels(await send('telegram'))).to.deep.equal(['Deny']);
  });

  it('of ntfy only refuse, until you name the server', async () => {
    const held = await ask();
    const got = await send('push');
    expect(labels(got)).to.deep.equal(['Deny']);
    settings.push.detail = 'answers via ntfy.sh';
    expect(labels(await send('push'))).to.deep.equal(['Deny']);
    settings.push.detail = 'answers via 127.0.0.1';
    const both = await send('push');
    expect(labels(both)).to.deep.equal(['Allow', 'Deny']);
    settings.push.detail = 'generic';
    const generic = await send('push');
    expect(labels(generic)).to.deep.equal(['Deny']);
    expect(JSON.stringify(generic.body)).not.to.include('make');
    const [{ token, url } = { token: '', url: '' }] = buttonsOf(generic);
    const topic = url.slice(`${server.url}/`.length);
    expect(topic).to.match(/^[0-9a-f]{32}$/);
    // The tokens of a replaced push and of another channel, and then this one.
    for (const other of [tokenOf(both, 'Allow'), tokenOf(await send('telegram'), 'Allow')]) {
      published.push({ topic, message: other });
      nowMs += 6_000;
      await job.run();
      expect(answerTo(context, held)).to.equal(undefined);
    }
    published.push({ topic, message: token });
    const polls = (): number => server.got.filter(({ path }) => path.includes('poll=1')).length;
    const before = polls();
    await job.run();
    expect([answerTo(context, held), polls()], 'within the rate limit').to.deep.equal([undefined, before]);
    nowMs += 6_000;
    await job.run();
    expect(answerTo(context, held)?.behavior).to.equal('deny');
    expect(area.read('observability/answers.jsonl')).to.include('"from":"a push"');
  });

  it('of ntfy go with the wait: one sequence for a session, cleared wherever the wait ends', async () => {
    event('session-start');
    event('stop');
    const first = await send('push', { dedupe: 'turn:1' });
    nowMs += 1000;
    const held = await ask();
    const second = await send('push', { dedupe: 'attention:1' });
    const sequence = String(second.body['sequence_id']);
    expect(first.body['sequence_id']).to.equal(sequence);
    await job.run();
    expect(server.got.filter(({ method }) => method === 'PUT')).to.deep.equal([]);
    await takeAnswer(context, held);
    await job.run();
    const cleared = (): string[] =>
      server.got.filter(({ method }) => method === 'PUT').map(({ path }) => path);
    expect(cleared()).to.deep.equal([`/steward-topic-3f9a1c/${sequence}/clear`]);

    await send('push', { dedupe: 'turn:1' });
    await job.run();
    expect(cleared()).to.have.length(1);
    event('prompt');
    await job.run();
    expect(cleared()).to.have.length(2);
    expect(readPushes(openPushes(context, true))).to.deep.equal([]);
    const before = server.got.length;
    await job.run();
    expect(server.got.length, 'nothing is asked while nothing is open').to.equal(before);
  });

  it('of ntfy go within five seconds, also while another server hangs or refuses', async () => {
    const push = pushesJob(context, openPushes(context, true), channels.push);
    const telegram = pushesJob(context, openPushes(context, true), channels.telegram);
    const held = await ask();
    await send('telegram');
    await send('push');
    server.replies = ['reset'];
    await telegram.run().catch(() => undefined);
    expect([await telegram.everySec(), await push.everySec()]).to.deep.equal([30, 2]);
    await takeAnswer(context, held);
    await push.run();
    expect(server.got.at(-1)?.method).to.equal('PUT');
    expect(readPushes(openPushes(context, true)).map(({ channel }) => channel)).to.deep.equal(['telegram']);
  });

  it('of an older ntfy server are not cleared, as its reply shows', async () => {
    const held = await ask();
    server.usual = () => ({ status: 200, body: { id: 'x' } });
    await send('push');
    await takeAnswer(context, held);
    await job.run();
    expect(server.got.map(({ method }) => method)).not.to.include('PUT');
    expect(readPushes(openPushes(context, true))).to.deep.equal([]);
  });

  it('are asked for only while there are any, and every half minute if that fails', async () => {
    await job.run();
    expect(server.got).to.deep.equal([]);
    await ask();
    await send('telegram');
    server.replies = [{ status: 409 }];
    let problem = '';
    await job.run().catch((error: Error) => (problem = error.message));
    expect(problem)
      .to.match(/returned 409/)
      .and.not.match(/AAsecret/);
    expect(await job.everySec()).to.equal(30);
    await job.run();
    expect(await job.everySec()).to.equal(2);
  });

  it('have a new message replace the earlier one of the session', async () => {
    event('session-start');
    event('stop');
    await send('telegram');
    await send('telegram');
    await job.run();
    expect(calls('/editMessageText').map((body) => body['message_id'])).to.deep.equal([1]);
  });

  it('are not offered by a process that can not read the answers', async () => {
    const held = await ask();
    const wait = await openPushes(context, false).waitOf('shop');
    expect(wait).to.deep.equal({ ids: [held.id], text: '', choices: [] });
  });
});
