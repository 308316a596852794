import { failed, ok } from '../../platform/check';
import { isObject, parseObject } from '../../platform/files/json-object';
import type { WholeAnswer } from '../../platform/net/origin-client';
import { EVENTS } from '../events';
import { numberedParts, split, utf16Units, withoutMentions } from '../text';
import type { Channel, Outcome, Parcel } from './channel';
import { rateLimited, rootOf, webChannel, webCheck, type WebDeps, type WebService } from './web';

const MAX_TEXT = 4096;
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
    posts: (parcel) => postsOf(deps, parcel),
    judge: judgeTelegram,
  });
}

function postsOf(deps: WebDeps, parcel: Parcel): ReturnType<WebService['posts']> {
  const { token: storedToken, chatId, server } = deps.settings().telegram;
  const token = deps.secret(storedToken);
  if (token === undefined || !/^\d{1,20}:[\w-]{10,200}$/.test(token)) {
    const hint = 'Set notifications.telegram.token to the full token, such as 123456:ABC….';
    return { outcome: 'failed', reason: 'The bot token is malformed.', hint };
  }
  const { message, url, title = EVENTS[parcel.event].title } = parcel;
  const text = [title, message, ...(url === undefined ? [] : [url])].join('\n');
  const common = {
    chat_id: deps.secret(chatId),
    disable_notification: parcel.silent,
    link_preview_options: { is_disabled: true },
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
