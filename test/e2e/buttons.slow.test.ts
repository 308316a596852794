import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect } from 'chai';

import { BIN, cleanEnv, emptyHome, steward } from '../helpers/cli';
import { startDaemon } from '../helpers/daemon';
import { notifyServer, type Got } from '../helpers/notify-server';

const YOU = 4711;

describe('an agent that asks you by Telegram', function () {
  this.timeout(180_000);

  it('gets your answer from a button, which then disappears', async () => {
    const home = emptyHome();
    const updates: object[] = [];
    const telegram = await notifyServer(({ path }) => {
      const result = path.endsWith('/getUpdates') ? updates : { message_id: 7 };
      return { status: 200, body: { ok: true, result } };
    });
    const env = { STEWARD_TELEGRAM_SERVER: telegram.url };
    const got = async (name: string): Promise<Got> => {
      for (;;) {
        const found = telegram.got.find(({ path }) => path.endsWith(`/${name}`));
        if (found !== undefined) return found;
        await new Promise(setImmediate);
      }
    };
    const settings = [
      ['notifications.telegram.token', '123456:AAsecret-token_0123456789'],
      ['notifications.telegram.chatId', String(YOU)],
      ['notifications.routing.attention', 'telegram'],
    ] as const;
    for (const [key, value] of settings)
      expect((await steward(['config', 'set', key, value], { home: home.path, env })).code).to.equal(0);
    const daemon = await startDaemon({ home: home.path, env });
    const client = new Client({ name: 'test', version: '1' });
    try {
      const args = [BIN, 'mcp', '--write'];
      const own = cleanEnv(home.path, env) as Record<string, string>;
      await client.connect(new StdioClientTransport({ command: process.execPath, args, env: own }));
      const question = { question: 'Which colour?', options: ['red', 'blue'] };
      const asked = client.callTool({ name: 'ask_me', arguments: question });
      const { body } = await got('sendMessage');
      expect(body['text']).to.include('Which colour?\n  1  red\n  2  blue');
      const { inline_keyboard: keyboard } = body['reply_markup'] as { inline_keyboard: { text: string; callback_data: string }[][] }; // prettier-ignore
      const button = keyboard.flat().find(({ text }) => text === 'blue');
      const message = { message_id: 7, chat: { id: YOU } };
      const callback = { id: 'c1', from: { id: YOU }, message, data: button?.callback_data };
      updates.push({ update_id: 1, callback_query: callback });
      const { content } = (await asked) as { content: { text: string }[] };
      expect(JSON.parse(content[0]?.text ?? '')).to.deep.equal({ answer: 'blue' });
      expect((await got('answerCallbackQuery')).body['text']).to.equal('Answered: blue');
      expect((await got('editMessageText')).body).to.include({ message_id: 7 }).and.not.have.property('reply_markup'); // prettier-ignore
    } finally {
      await client.close();
      await daemon.stop();
      await telegram.close();
      home.remove();
    }
  });
});
