import { failed, ok } from '../../platform/check';
import { parseObject, textOf } from '../../platform/files/json-object';
import { shortHash } from '../../platform/files/short-hash';
import type { WholeAnswer } from '../../platform/net/origin-client';
import { EVENTS } from '../events';
import type { Offer } from '../pushes';
import { jsonBytes, numberedParts, split, utf8Bytes } from '../text';
import type { Channel, Outcome, Parcel } from './channel';
import {
  askReply,
  judgeStatus,
  rootOf,
  webChannel,
  webCheck,
  type Replies,
  type WebDeps,
  type WebService,
} from './web';

/** ntfy turns messages over this size into attachments. */
const MAX_MESSAGE_BYTES = 4096;
const MAX_BODY_BYTES = 8192;
/** Bytes reserved for a part counter, such as `(12/12) `, and the JSON syntax. */
const RESERVE_BYTES = 40;
const MAX_PARTS = 10;
/** ntfy's limit. */
const MAX_BUTTONS = 3;
/** ntfy's rate limit allows one more request every five seconds. */
const RATE_WAIT_MS = 5_000;
/** Longer, so that reading the pressed buttons leaves requests for messages. */
const POLL_MS = 6_000;
const TOPIC = /^[-_A-Za-z0-9]{1,64}$/;
const DAY_MS = 86_400_000;

const missing: WebService['missing'] = ({ push }) =>
  push.topic.isSet
    ? undefined
    : {
        reason: 'no topic is set',
        hint: 'Set a topic that is hard to guess, and subscribe to it on your phone:',
        fix: 'steward config set notifications.push.topic "steward-$(openssl rand -hex 16)"',
      };

/**
 * Sends push notifications through an ntfy server. Uses JSON bodies, because headers are limited to Latin-1.
 */
export function pushChannel(deps: WebDeps): Channel {
  return webChannel(deps, {
    id: 'push',
    isHeld: true,
    missing,
    posts: (parcel, offer) => postsOf(deps, parcel, offer),
    judge: (answer) => judgePush(answer, deps.clock.now()),
    replies: repliesOf(deps),
  });
}

/** Returns whether you confirmed that this server, and all who can read the topic, may allow a tool. */
function isTrusted({ push }: ReturnType<WebDeps['settings']>): boolean {
  return push.detail === `answers via ${new URL(rootOf(push.server)).hostname}`;
}

function repliesOf(deps: WebDeps): Replies {
  const call = (method: 'GET' | 'PUT', path: string): Promise<WholeAnswer> => {
    const { server, token } = deps.settings().push;
    const headers = headersOf(deps.secret(token));
    return askReply(deps, { method, url: `${rootOf(server)}${path}`, headers });
  };
  let polledMs = -Infinity;
  return {
    shown: (choices) =>
      isTrusted(deps.settings()) && choices.length <= MAX_BUTTONS
        ? choices
        : choices.filter(({ isSafe }) => isSafe),
    // An older server doesn't return the sequence id, and can't remove a message.
    refOf: ({ text }) => textOf(parseObject(text)?.['sequence_id']),
    async end(ref) {
      await call('PUT', `${deps.secret(deps.settings().push.topic)}/${encodeURIComponent(ref)}/clear`);
    },
    async presses(pushes) {
      const nowMs = deps.clock.monotonic();
      if (nowMs - polledMs < POLL_MS) return [];
      polledMs = nowMs;
      const topics = pushes.map(({ replyTopic }) => replyTopic).join();
      const { text } = await call('GET', `${topics}/json?poll=1&since=all`);
      const tokens = text.split('\n').map((line) => textOf(parseObject(line)?.['message']));
      return tokens.flatMap((token) => (token === undefined ? [] : { token }));
    },
  };
}

function headersOf(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

function postsOf(deps: WebDeps, parcel: Parcel, offer: Offer | undefined): ReturnType<WebService['posts']> {
  const { topic: storedTopic, token: storedToken, server, detail } = deps.settings().push;
  const topic = deps.secret(storedTopic);
  if (topic === undefined || !TOPIC.test(topic)) {
    const hint = 'Set notifications.push.topic to 1 to 64 letters, digits, - and _.';
    return { outcome: 'failed', reason: 'The push topic is invalid.', hint };
  }
  const token = deps.secret(storedToken);
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    const hint = 'Set notifications.push.token to the token alone, without spaces.';
    return { outcome: 'failed', reason: 'The push access token is malformed.', hint };
  }
  const headers = headersOf(token);
  const url = rootOf(server);
  const actions = offer?.buttons.map(({ label, token: body }) => {
    return { action: 'http', label, url: `${url}${offer.replyTopic}`, body, clear: true };
  });
  const message = [parcel.message, offer?.text ?? ''].join('\n').trimEnd();
  const bodies = pushBodies({ ...parcel, message }, topic, detail, actions);
  return { url, parts: bodies.map((body) => ({ body, headers })) };
}

/** Returns the JSON bodies to publish. With `generic`, the bodies omit the message's text. */
export function pushBodies(
  { id, count, dedupe, event, message, priority, tags, thread, title, url }: Parcel,
  topic: string,
  detail: string,
  actions: readonly object[] = [],
): Record<string, unknown>[] {
  const facts = EVENTS[event];
  const isFull = detail !== 'generic';
  const common = {
    topic,
    priority,
    tags: [facts.tag, ...(isFull ? tags : [])],
    ...(isFull && title !== undefined ? { title } : {}),
    ...(isFull && url !== undefined ? { click: url } : {}),
    ...(actions.length === 0 ? {} : { actions }),
  };
  const generic = count > 1 ? `${count} notifications arrived during quiet hours.` : facts.generic;
  const restBytes =
    MAX_BODY_BYTES - Buffer.byteLength(JSON.stringify(common), 'utf8') - 2 * RESERVE_BYTES - 80;
  const parts = split(isFull ? message : generic, [
    { cost: utf8Bytes, max: MAX_MESSAGE_BYTES - RESERVE_BYTES },
    { cost: jsonBytes, max: restBytes },
  ]).slice(0, MAX_PARTS);
  // ntfy replaces an earlier message with the same sequence id.
  const key = thread ?? dedupe;
  const sequence = key === undefined ? id : `key-${shortHash(key)}${shortHash(key + topic)}`;
  return numberedParts(parts).map((part, index) => ({
    ...common,
    message: part,
    sequence_id: index === 0 ? sequence : `${sequence}-${index + 1}`,
  }));
}

function judgePush(answer: WholeAnswer, nowMs: number): Outcome | undefined {
  const { status, text } = answer;
  if (status < 400) return undefined;
  const code = parseObject(text)?.['code'];
  const again = (reason: string, hint: string, afterMs: number): Outcome => {
    return { outcome: 'again', reason, hint, afterMs, all: true };
  };
  if (code === 42901) {
    const hint = 'No action needed: steward will retry in 5 s.';
    return again('Push server rate limit reached (42901).', hint, RATE_WAIT_MS);
  }
  if (code === 42908 || code === 42905) {
    const hint = 'The quota resets at midnight UTC. An access token has its own quota.';
    const midnightMs = DAY_MS - (nowMs % DAY_MS);
    return again(`The push server's daily quota is used up (${code}).`, hint, midnightMs + RATE_WAIT_MS);
  }
  if (code === 40009 || code === 40010) {
    const hint = 'Set a different topic: `steward config set notifications.push.topic TOPIC`.';
    return { outcome: 'failed', reason: `The push server rejected the topic (${code}).`, hint };
  }
  if (status === 401 || status === 403) {
    const hint = 'Set notifications.push.token to a token with write access to the topic.';
    return { outcome: 'failed', reason: `The push server denied access (${status}).`, hint };
  }
  const judged = judgeStatus(answer, nowMs);
  // ntfy doesn't send Retry-After, so use a default delay.
  return status === 429 && judged.outcome === 'again' ? { afterMs: RATE_WAIT_MS, ...judged } : judged;
}

export const pushCheck = webCheck({
  id: 'push',
  title: 'push',
  missing,
  ask({ push: { server, topic, token } }, secret) {
    const key = secret(token);
    const url = `${rootOf(server)}${encodeURIComponent(secret(topic) ?? '')}/auth`;
    return { url, headers: headersOf(key) };
  },
  judge(hostname, { status, text }) {
    if (status === 200 && /"success"\s*:\s*true/.test(text)) return ok(`${hostname} accepts the topic`);
    if (status === 401 || status === 403) {
      return failed(`${hostname} denies access to the topic`, {
        kind: 'auth',
        fix: 'steward config set notifications.push.token TOKEN',
      });
    }
    return failed(`${hostname} does not respond like an ntfy server (${status})`, {
      hint: 'Set the address of an ntfy server:',
      fix: 'steward config set notifications.push.server HOST',
    });
  },
});
