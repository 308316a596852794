import type { SettingsConfig } from '../../config/schema';
import type { Secret } from '../../config/secret';
import { parseObject } from '../../platform/files/json-object';
import type { WholeAnswer } from '../../platform/net/origin-client';
import { EVENTS } from '../events';
import { numberedParts, split, utf16Units } from '../text';
import type { Channel, Outcome, Parcel } from './channel';
import { type Http, webChannel, type WebService } from './web-channel';

export interface ChatDeps {
  http: Http;
  settings: () => SettingsConfig['notifications']['chat'];
  /** As of PushDeps. */
  secret: (from: Secret) => string | undefined;
}

export type ChatShape = 'discord' | 'slack' | 'generic';

const DISCORD_MAX = 2000;
const SLACK_MAX = 3500;
const RESERVE = 20;

/** A chat's incoming webhook. Its address is the credential: it is in no message and no log. */
export function chatChannel(deps: ChatDeps): Channel {
  return webChannel({
    id: 'chat',
    http: deps.http,
    enabled: () => deps.settings().enabled,
    missing: () =>
      deps.settings().webhook.isSet
        ? undefined
        : {
            reason: 'no webhook is set',
            hint: 'Make an incoming webhook in your chat, and set it: `steward config set notifications.chat.webhook URL`.',
          },
    posts: (parcel) => postsOf(deps, parcel),
    judge: judgeChat,
  });
}

function postsOf(deps: ChatDeps, parcel: Parcel): ReturnType<WebService['posts']> {
  const url = deps.secret(deps.settings().webhook);
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
  const title = parcel.title ?? EVENTS[parcel.event].title;
  const text = parcel.url === undefined ? parcel.message : `${parcel.message}\n${parcel.url}`;
  if (shape === 'discord') {
    const parts = split(`**${title}**\n${text}`, [{ cost: utf16Units, max: DISCORD_MAX - RESERVE }]);
    return numberedParts(parts).map((content) => ({ content, allowed_mentions: { parse: [] } }));
  }
  if (shape === 'slack') {
    const cost = (char: string): number => escapeSlack(char).length;
    const parts = split(`${title}\n${text}`, [{ cost, max: SLACK_MAX - RESERVE }]);
    return numberedParts(parts).map((part) => ({
      text: escapeSlack(part),
      link_names: false,
      unfurl_links: false,
      unfurl_media: false,
    }));
  }
  const { id, event, priority, message, tags, count } = parcel;
  return [
    {
      text: `${title}\n${text}`,
      id,
      event,
      title,
      message,
      priority,
      tags,
      count,
      ...(parcel.url === undefined ? {} : { url: parcel.url }),
      at: parcel.acceptedMs,
    },
  ];
}

/** The three characters that mean something in a Slack message: channels, people and links are made of them. */
function escapeSlack(text: string): string {
  return text.replace(/[&<>]/g, (char) => (char === '&' ? '&amp;' : char === '<' ? '&lt;' : '&gt;'));
}

/** Discord says how long to wait in the body, with fractions of a second, and more exactly than in the header. */
function judgeChat(answer: WholeAnswer): Outcome | undefined {
  if (answer.status === 429) {
    const after = parseObject(answer.text)?.['retry_after'];
    if (typeof after !== 'number' || !(after >= 0)) return undefined;
    return {
      outcome: 'again',
      reason: 'The chat takes no more messages for the moment (429).',
      hint: 'It is sent again when the chat allows it.',
      afterMs: after * 1000,
      all: true,
    };
  }
  if (![401, 403, 404, 410].includes(answer.status)) return undefined;
  return {
    outcome: 'failed',
    reason: `The chat does not know the webhook, or not any more (${answer.status}).`,
    hint: 'Make a new webhook, and set it: `steward config set notifications.chat.webhook URL`.',
  };
}
