import type { SettingsConfig } from '../../config/schema';
import type { Secret } from '../../config/secret';
import { parseObject } from '../../platform/files/json-object';
import type { WholeAnswer } from '../../platform/net/origin-client';
import { shortHash } from '../../platform/files/short-hash';
import { EVENTS } from '../events';
import { jsonBytes, numberedParts, split, utf8Bytes } from '../text';
import type { Channel, Outcome, Parcel } from './channel';
import { judgeStatus, type Http, webChannel, type WebService } from './web-channel';

export interface PushDeps {
  http: Http;
  settings: () => SettingsConfig['notifications']['push'];
  /** The value of a secret; undefined when none is set. A reference that gives nothing is `config`. */
  secret: (from: Secret) => string | undefined;
}

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

/** Push by ntfy's protocol: JSON to the server's root, with the topic in it, since headers hold Latin-1 only. */
export function pushChannel(deps: PushDeps): Channel {
  return webChannel({
    id: 'push',
    http: deps.http,
    enabled: () => deps.settings().enabled,
    missing: () =>
      deps.settings().topic.isSet
        ? undefined
        : {
            reason: 'no topic is set',
            hint: 'Set one that nobody guesses: `steward config set notifications.push.topic TOPIC`, and subscribe to it.',
          },
    posts: (parcel) => postsOf(deps, parcel),
    judge: (answer) => judgePush(answer, deps.http.clock.now()),
  });
}

function postsOf(deps: PushDeps, parcel: Parcel): ReturnType<WebService['posts']> {
  const { topic: stored, token: storedToken, server, detail } = deps.settings();
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
  const facts = EVENTS[parcel.event];
  const isFull = detail === 'full';
  const common = {
    topic,
    priority: parcel.priority,
    tags: [facts.tag, ...(isFull ? parcel.tags : [])],
    ...(isFull && parcel.title !== undefined ? { title: parcel.title } : {}),
    ...(isFull && parcel.url !== undefined ? { click: parcel.url } : {}),
  };
  const several = `${parcel.count} notifications came in the quiet hours.`;
  const generic = parcel.count > 1 ? several : facts.generic;
  const left = MAX_BODY_BYTES - Buffer.byteLength(JSON.stringify(common), 'utf8') - 2 * RESERVE_BYTES - 80;
  const parts = split(isFull ? parcel.message : generic, [
    { cost: utf8Bytes, max: MAX_MESSAGE_BYTES - RESERVE_BYTES },
    { cost: jsonBytes, max: left },
  ]).slice(0, MAX_PARTS);
  // A server that knows these ids shows the same one again as a change of the message, not as another one.
  const id =
    parcel.dedupe === undefined
      ? parcel.id
      : `key-${shortHash(parcel.dedupe)}${shortHash(parcel.dedupe + topic)}`;
  return numberedParts(parts).map((message, index) => ({
    ...common,
    message,
    sequence_id: index === 0 ? id : `${id}-${index + 1}`,
  }));
}

/** The server's own error codes; what they leave open the status says. */
function judgePush(answer: WholeAnswer, nowMs: number): Outcome | undefined {
  if (answer.status < 400) return undefined;
  const code = parseObject(answer.text)?.['code'];
  if (code === 42901) {
    return {
      outcome: 'again',
      reason: 'The push server takes no more messages for the moment (42901).',
      hint: 'It is sent again in some seconds.',
      afterMs: RATE_WAIT_MS,
      all: true,
    };
  }
  if (code === 42908 || code === 42905) {
    return {
      outcome: 'again',
      reason: `The push server's quota of the day is used up (${code}).`,
      hint: 'It is sent again after midnight UTC; an access token of your own has a quota of its own.',
      afterMs: DAY_MS - (nowMs % DAY_MS) + RATE_WAIT_MS,
      all: true,
    };
  }
  if (code === 40009 || code === 40010) {
    const hint = 'Set another one: `steward config set notifications.push.topic TOPIC`.';
    return { outcome: 'failed', reason: `The push server does not take this topic (${code}).`, hint };
  }
  if (answer.status === 401 || answer.status === 403) {
    const hint = 'Set notifications.push.token to a token that may write to the topic.';
    return { outcome: 'failed', reason: `The push server does not allow it (${answer.status}).`, hint };
  }
  const judged = judgeStatus(answer, nowMs);
  // It sends no Retry-After.
  return answer.status === 429 && judged.outcome === 'again' ? { afterMs: RATE_WAIT_MS, ...judged } : judged;
}

/** The root of a server that is given as a host or an address; a host that is this machine is not encrypted. */
export function rootOf(server: string): string {
  if (server.includes('://')) return server.endsWith('/') ? server : `${server}/`;
  const isLocal = /^(?:localhost|127(?:\.\d{1,3}){3})(?::\d+)?$/.test(server);
  return `${isLocal ? 'http' : 'https'}://${server}/`;
}
