import { failed, ok } from '../../platform/check';
import { parseObject } from '../../platform/files/json-object';
import type { WholeAnswer } from '../../platform/net/origin-client';
import { EVENTS } from '../events';
import { escapeMarkup, numberedParts, split, utf16Units, withoutMentions } from '../text';
import type { Channel, Outcome, Parcel } from './channel';
import { tooMany, webChannel, webCheck, type WebDeps, type WebService } from './web';

export type ChatShape = 'discord' | 'slack' | 'generic';

const DISCORD_MAX = 2000;
const SLACK_MAX = 3500;
const RESERVE = 20;

const SET = 'steward config set notifications.chat.webhook URL';

const missing: WebService['missing'] = ({ chat }) =>
  chat.webhook.isSet
    ? undefined
    : { reason: 'no webhook is set', hint: 'Make an incoming webhook in your chat, and set it:', mend: SET };

/** A chat's incoming webhook. Its address is the credential: it is in no message and no log. */
export function chatChannel(deps: WebDeps): Channel {
  return webChannel(deps, {
    id: 'chat',
    missing,
    posts: (parcel) => postsOf(deps, parcel),
    judge: judgeChat,
  });
}

function postsOf(deps: WebDeps, parcel: Parcel): ReturnType<WebService['posts']> {
  const url = deps.secret(deps.settings().chat.webhook);
  if (url === undefined || !URL.canParse(url)) {
    const hint = 'Set notifications.chat.webhook to the whole https:// address.';
    return { outcome: 'failed', reason: 'The webhook is not an address.', hint };
  }
  const parts = chatBodies(parcel, shapeOf(url)).map((body, index) => ({
    body,
    // A server of one's own can tell by it what it has had already.
    headers: { 'idempotency-key': `${parcel.id}-${index + 1}` },
  }));
  return { url, parts };
}

/** Which service a webhook belongs to, by its address. */
export function shapeOf(url: string): ChatShape {
  const { hostname, pathname } = new URL(url);
  if (hostname === 'hooks.slack.com' || /^\/services\/T\w+\/B\w+\/\w+$/.test(pathname)) return 'slack';
  if (/^\/api\/(?:v\d+\/)?webhooks\/\d+\/[\w-]+/.test(pathname)) return 'discord';
  return 'generic';
}

/** The bodies that a parcel is posted as. Nobody is mentioned, whatever the text holds. */
export function chatBodies(parcel: Parcel, shape: ChatShape): Record<string, unknown>[] {
  const { id, event, priority, message, tags, count, url, title = EVENTS[event].title } = parcel;
  const text = url === undefined ? message : `${message}\n${url}`;
  if (shape === 'discord') {
    const parts = split(`**${title}**\n${text}`, [{ cost: utf16Units, max: DISCORD_MAX - RESERVE }]);
    return numberedParts(parts).map((content) => ({ content, allowed_mentions: { parse: [] } }));
  }
  if (shape === 'slack') {
    const cost = (char: string): number => escapeMarkup(char).length;
    const parts = split(`${title}\n${text}`, [{ cost, max: SLACK_MAX - RESERVE }]);
    const quiet = { link_names: false, unfurl_links: false, unfurl_media: false };
    return numberedParts(parts).map((part) => ({ text: escapeMarkup(part), ...quiet }));
  }
  const at = parcel.acceptedMs;
  // `text` is what a chat shows; the other fields are data, as they were sent.
  return [
    { text: withoutMentions(`${title}\n${text}`), id, event, title, message, priority, tags, count, url, at },
  ];
}

/** Discord says how long to wait in the body, with fractions of a second, and more exactly than in the header. */
function judgeChat({ status, text }: WholeAnswer): Outcome | undefined {
  if (status === 429) return tooMany('The chat', parseObject(text)?.['retry_after']);
  if (![401, 403, 404, 410].includes(status)) return undefined;
  const reason = `The chat does not know the webhook, or not any more (${status}).`;
  const hint = `Make a new webhook, and set it: \`${SET}\`.`;
  return { outcome: 'failed', reason, hint };
}

export const chatCheck = webCheck({
  id: 'chat',
  title: 'the chat',
  missing,
  ask: ({ chat }, secret) => ({ url: secret(chat.webhook) ?? '' }),
  // A GET posts nothing: some services describe the webhook, others say that they want a POST.
  judge: (hostname, { status }) =>
    [401, 403, 404, 410].includes(status)
      ? failed(`${hostname} does not know the webhook any more (${status})`, {
          hint: 'Make a new one there, and set it:',
          mend: SET,
        })
      : ok(`${hostname} answers`),
});
