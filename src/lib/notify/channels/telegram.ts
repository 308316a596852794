import { failed, ok } from '../../platform/check';
import { isObject, parseObject, textOf } from '../../platform/files/json-object';
import type { WholeAnswer } from '../../platform/net/origin-client';
import { truncated } from '../../platform/terminal/terminal';
import { EVENTS } from '../events';
import type { Offer } from '../pushes';
import { numberedParts, split, utf16Units, withoutMentions } from '../text';
import type { Channel, Outcome, Parcel } from './channel';
import {
  askReply,
  rateLimited,
  rootOf,
  webChannel,
  webCheck,
  type Replies,
  type WebDeps,
  type WebService,
} from './web';

const MAX_TEXT = 4096;
const MAX_REPLY = 200;
/** Characters reserved for the part number. */
const RESERVE = 20;
const SET = 'steward config set notifications.telegram';

const missing: WebService['missing'] = ({ telegram: { token, chatId } }) => {
  if (!token.isSet) {
    const hint = 'Get a token from @BotFather, and set it:';
    return { reason: 'no bot token is set', hint, fix: `${SET}.token env:NAME` };
  }
  if (chatId.isSet) return undefined;
  const hint = 'Send the bot a message, then set the chat id:';
  return { reason: 'no chat is set', hint, fix: `${SET}.chatId ID` };
};

/**
 * Sends messages through a Telegram bot. The request URL contains the bot token, so it is never logged or
 * shown.
 */
export function telegramChannel(deps: WebDeps): Channel {
  return webChannel(deps, {
    id: 'telegram',
    missing,
    posts: (parcel, offer) => postsOf(deps, parcel, offer),
    judge: judgeTelegram,
    replies: repliesOf(deps),
  });
}

/** Buttons only in a chat with the bot, whose id is yours: in a group, anybody can press them. */
function yourId({ settings, secret }: WebDeps): number | undefined {
  const id = Number(secret(settings().telegram.chatId));
  return Number.isSafeInteger(id) && id > 0 ? id : undefined;
}

function repliesOf(deps: WebDeps): Replies {
  let offset = 0;
  const call = async (method: string, body: object): Promise<unknown> => {
    const { token, server } = deps.settings().telegram;
    const url = urlOf(server, deps.secret(token), method);
    return parseObject((await askReply(deps, { method: 'POST', url, body })).text)?.['result'];
  };
  return {
    shown: (choices) => (yourId(deps) === undefined ? [] : choices),
    refOf: ({ text }) => valueAt(parseObject(text), 'result', 'message_id')?.toString(),
    async end(ref, text) {
      const chat = deps.secret(deps.settings().telegram.chatId);
      await call('editMessageText', { chat_id: chat, message_id: Number(ref), text: withoutMentions(text) });
    },
    async presses() {
      const updates = await call('getUpdates', { offset, allowed_updates: ['callback_query'] });
      return (Array.isArray(updates) ? updates : []).flatMap((update: unknown) => {
        const next = Number(valueAt(update, 'update_id')) + 1;
        if (next > offset) offset = next;
        const query = valueAt(update, 'callback_query');
        const [id, token] = ['id', 'data'].map((name) => textOf(valueAt(query, name)));
        const [who, where] = [valueAt(query, 'from', 'id'), valueAt(query, 'message', 'chat', 'id')];
        // A forwarded or forged press comes from another person or chat.
        if (token === undefined || who === undefined || who !== yourId(deps) || where !== who) return [];
        const reply = async (text: string): Promise<void> => {
          await call('answerCallbackQuery', { callback_query_id: id, text: truncated(text, MAX_REPLY) });
        };
        return [{ token, reply }];
      });
    },
  };
}

function valueAt(value: unknown, ...path: string[]): unknown {
  return path.reduce((node, name) => (isObject(node) ? node[name] : undefined), value);
}

function postsOf(deps: WebDeps, parcel: Parcel, offer: Offer | undefined): ReturnType<WebService['posts']> {
  const { token: storedToken, chatId, server } = deps.settings().telegram;
  const token = deps.secret(storedToken);
  if (token === undefined || !/^\d{1,20}:[\w-]{10,200}$/.test(token)) {
    const hint = 'Set notifications.telegram.token to the full token, such as 123456:ABC….';
    return { outcome: 'failed', reason: 'The bot token is malformed.', hint };
  }
  const { message, url, title = EVENTS[parcel.event].title } = parcel;
  const text = [title, message, offer?.text ?? '', url ?? ''].filter((part) => part !== '').join('\n');
  const keyboard =
    offer?.buttons.map(({ label, token: data }) => [{ text: label, callback_data: data }]) ?? [];
  const common = {
    chat_id: deps.secret(chatId),
    disable_notification: parcel.silent,
    link_preview_options: { is_disabled: true },
    ...(keyboard.length === 0 ? {} : { reply_markup: { inline_keyboard: keyboard } }),
  };
  const parts = split(withoutMentions(text), [{ cost: utf16Units, max: MAX_TEXT - RESERVE }]);
  return {
    url: urlOf(server, token, 'sendMessage'),
    parts: numberedParts(parts).map((part) => ({ body: { ...common, text: part } })),
  };
}

function judgeTelegram({ status, text }: WholeAnswer): Outcome | undefined {
  if (status === 429) {
    const parameters = parseObject(text)?.['parameters'];
    return rateLimited('Telegram', isObject(parameters) ? parameters['retry_after'] : undefined);
  }
  const [reason, hint] = REJECTIONS[status] ?? [];
  if (reason === undefined || hint === undefined) return undefined;
  return { outcome: 'failed', reason: `${reason} (${status}).`, hint };
}

const NO_BOT = [
  'Telegram does not recognize the bot',
  `Set the bot's token: \`${SET}.token env:NAME\`.`,
] as const;
const REJECTIONS: Readonly<Record<number, readonly [string, string]>> = {
  400: ['Telegram rejected the message', `Check the chat id: \`${SET}.chatId ID\`.`],
  401: NO_BOT,
  403: ['The bot is not allowed to write to the chat', 'Start a chat with the bot, or add it to the group.'],
  404: NO_BOT,
};

function urlOf(server: string, token: string | undefined, method: string): string {
  return `${rootOf(server)}bot${token}/${method}`;
}

export const telegramCheck = webCheck({
  id: 'telegram',
  title: 'Telegram',
  missing,
  ask: ({ telegram: { server, token } }, secret) => ({ url: urlOf(server, secret(token), 'getMe') }),
  judge: (hostname, { status }) =>
    status === 200
      ? ok(`${hostname} recognizes the bot`)
      : failed(`${hostname} does not recognize the bot (${status})`, {
          kind: 'auth',
          fix: `${SET}.token env:NAME`,
        }),
});
