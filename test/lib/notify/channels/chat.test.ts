import { expect } from 'chai';

import { secret } from '../../../../src/lib/config/secret';
import type { Outcome, Parcel } from '../../../../src/lib/notify/channels/channel';
import { chatBodies, chatChannel, shapeOf } from '../../../../src/lib/notify/channels/chat';
import { HOSTILE } from '../../../contracts/channel';
import { httpDeps, parcel } from '../../../helpers/notify';
import { notifyServer, type NotifyServer } from '../../../helpers/notify-server';

const DISCORD = '/api/webhooks/1234/se-cret_token';
const SLACK = '/services/T0001/B0001/secrettoken';

describe('notify: chat', () => {
  let server: NotifyServer;
  let deps: ReturnType<typeof httpDeps>;
  beforeEach(async () => {
    server = await notifyServer(({ path }) => ({ status: path === DISCORD ? 204 : 200 }));
    deps = httpDeps(server.url);
  });
  afterEach(() => server.close());

  const send = (path: string, more: Partial<Parcel> = {}): Promise<Outcome> => {
    deps.chat.webhook = secret('notifications.chat.webhook', `${server.url}${path}`);
    return chatChannel(deps.deps).send(parcel(more), () => undefined);
  };

  it('recognizes the service by its URL', () => {
    expect(shapeOf('https://discord.com/api/webhooks/1/a-b_c')).to.equal('discord');
    expect(shapeOf('https://discord.com/api/v10/webhooks/1/a')).to.equal('discord');
    expect(shapeOf('https://hooks.slack.com/services/T1/B1/x')).to.equal('slack');
    expect(shapeOf('https://hooks.slack.com/triggers/T1/1/x')).to.equal('slack');
    expect(shapeOf('https://chat.example/hooks/x')).to.equal('generic');
  });

  it('posts to Discord without mentions', async () => {
    expect(await send(DISCORD, { message: '@everyone look', title: 'Build' })).to.deep.equal({
      outcome: 'delivered',
    });
    expect(server.got[0]?.body).to.deep.equal({
      content: '**Build**\n@everyone look',
      allowed_mentions: { parse: [] },
    });
  });

  it("keeps Discord's limit of 2,000 characters as Discord counts them", async () => {
    await send(DISCORD, { message: '😀'.repeat(3000) });
    expect(server.got.length).to.equal(4);
    for (const { body } of server.got) expect(String(body['content']).length).to.be.at.most(2000);
    expect(
      server.got
        .map(({ body }) => String(body['content']))
        .join('')
        .match(/😀/gu),
    ).to.have.length(3000);
  });

  it('escapes text for Slack', () => {
    for (const message of HOSTILE) {
      const [body] = chatBodies(parcel({ message }), 'slack');
      expect(String(body?.['text'])).to.not.match(/[<>]/);
      expect(body).to.include({ link_names: false });
    }
    const [body] = chatBodies(parcel({ message: '<!channel> a&b' }), 'slack');
    expect(body?.['text']).to.equal('Task complete\n&lt;!channel&gt; a&amp;b');
  });

  it('sends all fields to other webhooks', async () => {
    await send('/hook', { url: 'https://example.org', tags: ['a'], title: 'T' });
    const { headers, body } = server.got[0]!;
    expect(body).to.include({ text: 'T\nThe build is done.\nhttps://example.org', message: 'The build is done.', event: 'taskComplete', url: 'https://example.org' }); // prettier-ignore
    expect(headers['idempotency-key']).to.equal(`${parcel().id}-1`);
  });

  it('defuses mentions for other webhooks', async () => {
    await send('/hook', { title: '@all', message: 'look @everyone, @channel <!here> <@U1>, a@b.example' });
    expect(server.got[0]?.body).to.include({
      text: '@\u200ball\nlook @\u200beveryone, @\u200bchannel <\u200b!here> <\u200b@\u200bU1>, a@b.example',
      message: 'look @everyone, @channel <!here> <@U1>, a@b.example',
    });
  });

  it('waits as long as Discord or Slack says', async () => {
    server.replies = [
      { status: 429, body: { retry_after: 1.25, global: false }, headers: { 'retry-after': '2' } },
    ];
    expect(await send(DISCORD)).to.include({ outcome: 'again', afterMs: 1250, all: true });
    server.replies = [{ status: 429, headers: { 'retry-after': '30' } }];
    expect(await send(SLACK)).to.include({ outcome: 'again', afterMs: 30_000, all: true });
  });

  for (const status of [403, 404, 410]) {
    it(`gives up on ${status}`, async () => {
      server.replies = [{ status }];
      const outcome = await send(SLACK);
      expect(outcome).to.include({ outcome: 'failed' });
      expect(outcome).to.have.property('hint').that.includes('Create a new webhook');
    });
  }

  it('never shows the webhook', async () => {
    const told: unknown[] = [];
    for (const reply of [
      { status: 404 },
      { status: 500 },
      { status: 302, headers: { location: 'http://x/' } },
      'reset',
    ] as const) {
      server.replies = [reply];
      told.push(await send(DISCORD), await send(SLACK));
    }
    deps.chat.webhook = secret('notifications.chat.webhook', 'secrettoken, no address');
    told.push(await chatChannel(deps.deps).send(parcel(), () => undefined));
    expect(JSON.stringify(told)).to.not.match(/se-cret|secrettoken|T0001|1234/);
  });
});
