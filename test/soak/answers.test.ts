import { expect } from 'chai';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import type { Inbox, InboxRow } from '../../src/lib/inbox/row';
import { NEXT_DOOR, requireAssistant, startHour, type Hour } from '../helpers/assistant-hour';
import { setUpClaude, startClaude } from '../helpers/claude-hour';
import { endCodexDaemon, INPUT, setUpCodex, startCodex } from '../helpers/codex-hour';
import { BIN } from '../helpers/cli';
import { notifyServer, type NotifyServer } from '../helpers/notify-server';

const PANE = 'one';
const YOU = 4711;

/** Turns answers on, and waits until nobody is measured at a terminal. */
async function turnOn(hour: Hour): Promise<void> {
  await hour.steward('config', 'set', 'notifications.answers.tools', 'Bash,ExitPlanMode');
  for (;;) {
    const { presence } = JSON.parse(await hour.steward('answers', 'setup', '--yes', '--json')) as {
      presence: string;
    };
    if (presence === 'away') return;
  }
}

/** Returns the row of a request that is held: nobody is at a terminal. */
async function held(hour: Hour, kind: string): Promise<InboxRow> {
  for (;;) {
    const { rows } = JSON.parse(await hour.steward('inbox', '--json')) as Inbox;
    const row = rows.find(({ ask }) => ask?.kind === kind);
    if (row !== undefined) return row;
  }
}

const made = ({ folder }: Hour): string => join(folder, 'made-by-model');
const logOf = ({ home }: Hour): string =>
  readFileSync(join(home, '.steward', 'observability', 'answers.jsonl'), 'utf8');

describe('answers to Claude Code from elsewhere', function () {
  this.timeout(900_000);
  let hour: Hour;
  before(async function () {
    requireAssistant(this, 'claude');
    hour = await startHour();
    await setUpClaude(hour);
    await hour.steward('sense', 'init');
    await hour.attach(NEXT_DOOR);
  });
  after(() => hour?.close());

  for (const mode of ['default', 'plan', 'auto'] as const) {
    it(`answers a question in its mode ${mode}`, async () => {
      await startClaude(hour, mode, mode);
      await turnOn(hour);
      await hour.say(mode, 'ASK-ME');
      const row = await held(hour, 'question');
      expect(row.ask?.questions).to.deep.equal([{ text: 'Which one?', options: ['First', 'Second'] }]);
      await hour.steward('answer', row.name, '2');
      await hour.shows(mode, /Second[^]*Done\./);
    });
  }

  it('approves a plan that was shown whole', async () => {
    await hour.say('plan', 'PLAN-IT');
    const row = await held(hour, 'plan');
    expect(row.ask?.questions[0]?.text).to.equal('Do one thing.');
    await hour.steward('answer', row.ask?.id ?? '', '--allow');
    await hour.shows('plan', /Done\.[^]*Done\./);
  });

  it('takes a permission', async () => {
    await hour.say('default', 'RUN-IT');
    const row = await held(hour, 'permission');
    expect(row.ask?.input).to.include('touch made-by-model');
    expect(existsSync(made(hour))).to.equal(false);
    await hour.steward('answer', row.ask?.id ?? '', '--allow');
    await hour.becomes('default', 'the file', () => existsSync(made(hour)));
    expect(logOf(hour)).to.match(/"tool":"Bash","decision":"allow","from":"the terminal"/);
    expect(logOf(hour)).not.to.include('touch');
  });

  it('takes a permission by a button of Telegram', async () => {
    rmSync(made(hour));
    const updates: object[] = [];
    const telegram = await notifyServer(({ path }) => {
      const result = path.endsWith('/getUpdates') ? updates : { message_id: 7 };
      return { status: 200, body: { ok: true, result } };
    });
    await buttons(hour, telegram, async () => {
      await hour.say('default', 'RUN-IT');
      await held(hour, 'permission');
      const keyboard = (): { text: string; callback_data: string }[] =>
        telegram.got.flatMap(({ body }) => {
          const markup = body['reply_markup'] as { inline_keyboard: { text: string; callback_data: string }[][] }; // prettier-ignore
          return markup?.inline_keyboard.flat() ?? [];
        });
      await hour.becomes('default', 'buttons', () => keyboard().length > 0);
      const data = keyboard().find(({ text }) => text === 'Allow')?.callback_data;
      const press = (from: number, id: number): void =>
        void updates.push({ update_id: id, callback_query: { id: 'c', from: { id: from }, data, message: { chat: { id: from } } } }); // prettier-ignore
      press(666, 1);
      press(YOU, 2);
      await hour.becomes('default', 'the file', () => existsSync(made(hour)));
      expect(logOf(hour)).to.match(/"from":"Telegram"/);
      await hour.becomes('default', 'no buttons', () =>
        telegram.got.some(({ path }) => path.endsWith('/editMessageText')),
      );
    });
  });
});

/** Runs `work` with a daemon that sends to the fake Telegram. */
async function buttons(hour: Hour, telegram: NotifyServer, work: () => Promise<void>): Promise<void> {
  for (const [key, value] of [
    ['notifications.telegram.token', '123456:AAsecret-token_0123456789'],
    ['notifications.telegram.chatId', String(YOU)],
    ['notifications.routing.attention', 'telegram'],
    ['daemon.port', '0'],
  ] as const)
    await hour.steward('config', 'set', key, value);
  const { folder, env, tmux } = hour;
  tmux('new-session', '-d', '-s', 'daemon', '-c', folder, 'env', `STEWARD_TELEGRAM_SERVER=${telegram.url}`, `PATH=${env.PATH}`, process.execPath, BIN, 'daemon', 'serve'); // prettier-ignore
  try {
    await work();
  } finally {
    await hour.steward('daemon', 'stop');
    await telegram.close();
  }
}

describe('answers to Codex from elsewhere', function () {
  this.timeout(900_000);
  let hour: Hour | undefined;
  afterEach(async () => {
    if (hour !== undefined) endCodexDaemon(hour);
    await hour?.close();
    hour = undefined;
  });

  for (const reviewer of ['user', 'auto_review'] as const) {
    it(`takes a permission only if you review it: ${reviewer}`, async function () {
      requireAssistant(this, 'codex');
      hour = await startHour();
      const { say, shows, steward } = hour;
      await setUpCodex(hour, reviewer);
      await steward('sense', 'init');
      await steward('answers', 'setup', '--yes');
      await hour.attach(NEXT_DOOR);
      await startCodex(hour, PANE, true);
      await turnOn(hour);
      await say(PANE, 'RUN-IT', INPUT);
      if (reviewer === 'auto_review') {
        await shows(PANE, /RUN-IT\s+• Ran touch made-by-model[^›]*• Done\./);
        expect(logOf(hour)).not.to.include('"tool":"Bash"');
        return;
      }
      for (const [answer, isMade] of [
        ['--deny', false],
        ['--allow', true],
      ] as const) {
        // prettier-ignore
        const row = await held(hour, 'permission');
        expect(row.ask).to.include({ tool: 'Bash', canAllowSession: false });
        expect(row.ask?.input).to.include('touch made-by-model');
        await steward('answer', row.ask?.id ?? '', answer);
        if (isMade)
          await hour.becomes(PANE, 'the file', () => existsSync(join(hour?.folder ?? '', 'made-by-model'))); // prettier-ignore
        else await say(PANE, 'RUN-IT', INPUT);
      }
      expect(logOf(hour)).to.match(/"decision":"deny"[^]*"decision":"allow","from":"the terminal"/);
    });
  }
});
