import { failed, ok } from '../../platform/check';
import { parseObject } from '../../platform/files/json-object';
import type { WholeAnswer } from '../../platform/net/origin-client';
import { EVENTS } from '../events';
import { escapeMarkup, numberedParts, split, utf16Units, withoutMentions } from '../text';
import type { Channel, Outcome, Parcel } from './channel';
import { rateLimited, webChannel, webCheck, type WebDeps, type WebService } from './web';

type ChatShape = 'discord' | 'slack' | 'generic';

const DISCORD_MAX = 2000;
const SLACK_MAX = 3500;
/** Characters reserved for the part number. */
const RESERVE = 20;

const SET = 'steward config set notifications.chat.webhook URL';

const missing: WebService['missing'] = ({ chat }) =>
  chat.webhook.isSet
    ? undefined
    : {
        reason: 'no webhook is set',
        hint: 'Create an incoming webhook in your chat app, and set its URL:',
        fix: SET,
      };

/** Posts to a chat's incoming webhook. The webhook URL is a credential and is never logged or shown. */
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
    const hint = 'Set notifications.chat.webhook to the full https:// URL.';
    return { outcome: 'failed', reason: 'The webhook is not a URL.', hint };
  }
  const parts = chatBodies(parcel, shapeOf(url)).map((body, index) => ({
    body,
    // The idempotency key lets a self-hosted server recognize duplicates.
    headers: { 'idempotency-key': `${parcel.id}-${index + 1}` },
  }));
  return { url, parts };
}

/** Detects the chat service from the webhook URL. */
export function shapeOf(url: string): ChatShape {
  const { hostname, pathname } = new URL(url);
  if (hostname === 'hooks.slack.com' || /^\/services\/T\w+\/B\w+\/\w+$/.test(pathname)) return 'slack';
  if (/^\/api\/(?:v\d+\/)?webhooks\/\d+\/[\w-]+/.test(pathname)) return 'discord';
  return 'generic';
}

/** Returns the request bodies for a parcel, with mentions disabled. */
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
  const data = { id, event, title, message, priority, tags, count, url, at: parcel.acceptedMs };
  return [{ text: withoutMentions(`${title}\n${text}`), ...data }];
}

/** Discord gives a more precise delay in the response body than in the header. */
function judgeChat({ status, text }: WholeAnswer): Outcome | undefined {
  if (status === 429) return rateLimited('The chat', parseObject(text)?.['retry_after']);
  if (![401, 403, 404, 410].includes(status)) return undefined;
  const hint = `Create a new webhook, and set its URL: \`${SET}\`.`;
  return { outcome: 'failed', reason: `The chat rejected the webhook (${status}).`, hint };
}

export const chatCheck = webCheck({
  id: 'chat',
  title: 'chat',
  missing,
  ask: ({ chat }, secret) => ({ url: secret(chat.webhook) ?? '' }),
  // A GET request doesn't post a message; the service either describes the webhook or rejects the method.
  judge: (hostname, { status }) =>
    [401, 403, 404, 410].includes(status)
      ? failed(`${hostname} rejected the webhook (${status})`, {
          hint: 'Create a new webhook, and set its URL:',
          fix: SET,
        })
      : ok(`${hostname} responds`),
});
