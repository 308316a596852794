import { expect } from 'chai';

import { secret } from '../../../../src/lib/config/secret';
import type { Outcome, Parcel } from '../../../../src/lib/notify/channels/channel';
import { telegramChannel } from '../../../../src/lib/notify/channels/telegram';
import { httpDeps, parcel } from '../../../helpers/notify';
import { notifyServer, type NotifyServer, type Reply } from '../../../helpers/notify-server';

const TOKEN = '123456:AAsecret-token_0123456789';

describe('notify: Telegram', () => {
  let server: NotifyServer;
  let deps: ReturnType<typeof httpDeps>;
  beforeEach(async () => {
    server = await notifyServer(() => ({ status: 200, body: { ok: true } }));
    deps = httpDeps(server.url);
  });
  afterEach(() => server.close());

  const send = (more: Partial<Parcel> = {}): Promise<Outcome> =>
    telegramChannel(deps.deps).send(parcel(more), () => undefined);

  it('posts plain text to the chat', async () => {
    expect(await send({ title: 'Build', url: 'https://example.org', silent: true })).to.deep.equal({
      outcome: 'delivered',
    });
    expect(server.got[0]?.path).to.equal(`/bot${TOKEN}/sendMessage`);
    expect(server.got[0]?.body).to.deep.equal({
      chat_id: '-1001234',
      text: 'Build\nThe build is done.\nhttps://example.org',
      disable_notification: true,
      link_preview_options: { is_disabled: true },
    });
  });

  it("keeps Telegram's limit of 4,096 characters", async () => {
    await send({ message: '😀'.repeat(4000) });
    const texts = server.got.map(({ body }) => String(body['text']));
    expect(texts.map(({ length }) => length <= 4096)).to.deep.equal([true, true]);
    expect(texts.join('').match(/😀/gu)).to.have.length(4000);
  });

  it('defuses mentions', async () => {
    await send({ message: 'ask @ann_lee, or mail ann@example.org' });
    expect(server.got[0]?.body['text']).to.equal(
      'Task complete\nask @\u200bann_lee, or mail ann@example.org',
    );
  });

  it('waits as long as Telegram says', async () => {
    server.replies = [{ status: 429, body: { ok: false, parameters: { retry_after: 7 } } }];
    expect(await send()).to.include({ outcome: 'again', afterMs: 7000, all: true });
  });

  it('has a hint for each rejection', async () => {
    for (const [status, hint] of [
      [400, /chatId/],
      [401, /token/],
      [403, /Start a chat/],
      [404, /token/],
    ] as const) {
      server.replies = [{ status }];
      const outcome = await send();
      expect(outcome).to.include({ outcome: 'failed' }).and.property('hint').to.match(hint);
    }
  });

  it('never shows the token', async () => {
    const told: unknown[] = [];
    const replies: Reply[] = [{ status: 302, headers: { location: 'http://x/' } }, 'reset'];
    for (const reply of [...[400, 401, 403, 404, 409, 500].map((status) => ({ status })), ...replies]) {
      server.replies = [reply];
      told.push(await send());
    }
    deps.telegram.server = 'http://127.0.0.1:1';
    told.push(await send(), telegramChannel(deps.deps).trouble?.());
    deps.telegram.token = secret('notifications.telegram.token', `${TOKEN} and more`);
    told.push(await send(), telegramChannel(deps.deps).trouble?.());
    expect(JSON.stringify(told)).to.not.match(/AAsecret|123456:AA/);
    expect(told.at(-1)).to.have.property('reason', 'The bot token is malformed.');
  });
});
