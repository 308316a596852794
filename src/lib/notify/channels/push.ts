import { failed, ok } from '../../platform/check';
import { parseObject } from '../../platform/files/json-object';
import { shortHash } from '../../platform/files/short-hash';
import type { WholeAnswer } from '../../platform/net/origin-client';
import { EVENTS } from '../events';
import { jsonBytes, numberedParts, split, utf8Bytes } from '../text';
import type { Channel, Outcome, Parcel } from './channel';
import { judgeStatus, rootOf, webChannel, webCheck, type WebDeps, type WebService } from './web';

/** A longer message becomes an attachment; a larger body is refused. */
const MAX_MESSAGE_BYTES = 4096;
const MAX_BODY_BYTES = 8192;
/** Room for `(12/12) ` and the end of the JSON. */
const RESERVE_BYTES = 40;
const MAX_PARTS = 10;
/** The server lets one message through every five seconds once its burst is used up. */
const RATE_WAIT_MS = 5_000;
const TOPIC = /^[-_A-Za-z0-9]{1,64}$/;
const DAY_MS = 86_400_000;

const missing: WebService['missing'] = ({ push }) =>
  push.topic.isSet
    ? undefined
    : {
        reason: 'no topic is set',
        hint: 'Set one that nobody guesses, and subscribe to it on your phone:',
        mend: 'steward config set notifications.push.topic "steward-$(openssl rand -hex 16)"',
      };

/** Push by ntfy's protocol: JSON to the server's root, with the topic in it, since headers hold Latin-1 only. */
export function pushChannel(deps: WebDeps): Channel {
  return webChannel(deps, {
    id: 'push',
    isHeld: true,
    missing,
    posts: (parcel) => postsOf(deps, parcel),
    judge: (answer) => judgePush(answer, deps.clock.now()),
  });
}

function postsOf(deps: WebDeps, parcel: Parcel): ReturnType<WebService['posts']> {
  const { topic: stored, token: storedToken, server, detail } = deps.settings().push;
  const topic = deps.secret(stored);
  if (topic === undefined || !TOPIC.test(topic)) {
    const hint = 'Set notifications.push.topic to 1 to 64 letters, digits, - and _.';
    return { outcome: 'failed', reason: 'The topic is not one that a push server takes.', hint };
  }
  const token = deps.secret(storedToken);
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    const hint = 'Set notifications.push.token to the token alone, without spaces.';
    return { outcome: 'failed', reason: 'The access token cannot be sent.', hint };
  }
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return {
    url: rootOf(server),
    parts: pushBodies(parcel, topic, detail).map((body) => ({ body, headers })),
  };
}

/** The JSON documents that a parcel is published as; with `generic` nothing of what was said is in them. */
export function pushBodies(
  parcel: Parcel,
  topic: string,
  detail: 'generic' | 'full',
): Record<string, unknown>[] {
  const { id, count, dedupe, event, message, priority, tags, title, url } = parcel;
  const facts = EVENTS[event];
  const isFull = detail === 'full';
  const common = {
    topic,
    priority,
    tags: [facts.tag, ...(isFull ? tags : [])],
    ...(isFull && title !== undefined ? { title } : {}),
    ...(isFull && url !== undefined ? { click: url } : {}),
  };
  const generic = count > 1 ? `${count} notifications came in the quiet hours.` : facts.generic;
  const left = MAX_BODY_BYTES - Buffer.byteLength(JSON.stringify(common), 'utf8') - 2 * RESERVE_BYTES - 80;
  const parts = split(isFull ? message : generic, [
    { cost: utf8Bytes, max: MAX_MESSAGE_BYTES - RESERVE_BYTES },
    { cost: jsonBytes, max: left },
  ]).slice(0, MAX_PARTS);
  // A server that knows these ids shows the same one again as a change of the message, not as another one.
  const sequence = dedupe === undefined ? id : `key-${shortHash(dedupe)}${shortHash(dedupe + topic)}`;
  return numberedParts(parts).map((part, index) => ({
    ...common,
    message: part,
    sequence_id: index === 0 ? sequence : `${sequence}-${index + 1}`,
  }));
}

/** The server's own error codes; what they leave open the status says. */
function judgePush(answer: WholeAnswer, nowMs: number): Outcome | undefined {
  const { status, text } = answer;
  if (status < 400) return undefined;
  const code = parseObject(text)?.['code'];
  if (code === 42901) {
    const reason = 'The push server takes no more messages for the moment (42901).';
    return {
      outcome: 'again',
      reason,
      hint: 'It is sent again in some seconds.',
      afterMs: RATE_WAIT_MS,
      all: true,
    };
  }
  if (code === 42908 || code === 42905) {
    const reason = `The push server's quota of the day is used up (${code}).`;
    const hint = 'It is sent again after midnight UTC; an access token of your own has a quota of its own.';
    const afterMs = DAY_MS - (nowMs % DAY_MS) + RATE_WAIT_MS;
    return { outcome: 'again', reason, hint, afterMs, all: true };
  }
  if (code === 40009 || code === 40010) {
    const hint = 'Set another one: `steward config set notifications.push.topic TOPIC`.';
    return { outcome: 'failed', reason: `The push server does not take this topic (${code}).`, hint };
  }
  if (status === 401 || status === 403) {
    const hint = 'Set notifications.push.token to a token that may write to the topic.';
    return { outcome: 'failed', reason: `The push server does not allow it (${status}).`, hint };
  }
  const judged = judgeStatus(answer, nowMs);
  // It sends no Retry-After.
  return status === 429 && judged.outcome === 'again' ? { afterMs: RATE_WAIT_MS, ...judged } : judged;
}

export const pushCheck = webCheck({
  id: 'push',
  title: 'push',
  missing,
  // Asks whether the topic may be used, and publishes nothing.
  ask({ push: { server, topic, token } }, secret) {
    const key = secret(token);
    const url = `${rootOf(server)}${encodeURIComponent(secret(topic) ?? '')}/auth`;
    return { url, headers: key === undefined ? {} : { authorization: `Bearer ${key}` } };
  },
  judge(hostname, { status, text }) {
    if (status === 200 && /"success"\s*:\s*true/.test(text))
      return ok(`${hostname} takes messages of the topic`);
    if (status === 401 || status === 403) {
      return failed(`${hostname} does not let the topic be used with this token`, {
        kind: 'auth',
        mend: 'steward config set notifications.push.token TOKEN',
      });
    }
    return failed(`${hostname} does not answer as a push server (${status})`, {
      hint: 'Name an ntfy server:',
      mend: 'steward config set notifications.push.server HOST',
    });
  },
});
