import type { RoutedChannel, SettingsConfig } from '../../config/schema';
import type { Secret } from '../../config/secret';
import { toStewardError } from '../../errors';
import { failed, NOT_CHECKED, off, orFailure, warning, type Check, type Finding } from '../../platform/check';
import type { UrlAnswer } from '../../platform/net/fetch';
import type { WholeAnswer } from '../../platform/net/origin-client';
import type { NotifyChecked } from '../checks';
import { retryAfterMs } from '../settle';
import { fault, PLAIN, type Channel, type ChannelDeps, type Outcome, type Parcel } from './channel';

export type WebDeps = Pick<ChannelDeps, 'clock' | 'http' | 'answerMs' | 'settings' | 'secret'>;

type Settings = SettingsConfig['notifications'];
type SecretOf = (from: Secret) => string | undefined;
type WebId = Exclude<RoutedChannel, 'desktop'>;

/** Something that is not set, what to do, and the command. */
interface Missing {
  reason: string;
  hint: string;
  mend: string;
}

/** A service that messages are posted to as JSON, with `notifications.ID.enabled`. */
export interface WebService {
  id: WebId;
  isHeld?: true;
  /** Why nothing can be sent although it is switched on; undefined when nothing is missing. */
  missing: (settings: Settings) => Missing | undefined;
  /** What a parcel is posted as, part by part; or why it never will be. A broken setting may be thrown as `config`. */
  posts: (parcel: Parcel) => Posts | Extract<Outcome, { outcome: 'failed' }>;
  /** What an answer means by the service's own rules; undefined: by its status alone. */
  judge: (answer: WholeAnswer) => Outcome | undefined;
}

export interface Posts {
  /** It may be a secret. */
  url: string;
  parts: readonly { body: unknown; headers?: Readonly<Record<string, string>> }[];
}

export function webChannel(deps: WebDeps, service: WebService): Channel {
  const { id, isHeld } = service;
  return {
    id,
    ...(isHeld === undefined ? {} : { isHeld }),
    off() {
      const settings = deps.settings();
      if (!settings[id].enabled)
        return { reason: 'switched off', hint: `Switch it on with \`${enable(id)}\`.` };
      const { reason, hint, mend } = service.missing(settings) ?? {};
      return reason === undefined ? undefined : { reason, hint: `${hint} \`${mend}\`.` };
    },
    trouble() {
      const posts = postsOr(service, NOTHING);
      return 'outcome' in posts ? { reason: posts.reason, hint: posts.hint } : undefined;
    },
    prepare: async () => void (await deps.http()),
    async send(parcel, onPart) {
      const posts = postsOr(service, parcel);
      if ('outcome' in posts) return posts;
      const { url, parts } = posts;
      // From the first part on that is not out yet, until one is not taken.
      for (const [index, part] of parts.entries()) {
        if (index < parcel.sentParts) continue;
        const outcome = await postOnce(deps, { url, ...part }, service.judge);
        if (outcome.outcome !== 'delivered') return outcome;
        if (parts.length > 1) onPart(index + 1);
      }
      return { outcome: 'delivered' };
    },
  };
}

function enable(id: WebId): string {
  return `steward config set notifications.${id}.enabled true`;
}

function postsOr(service: WebService, parcel: Parcel): ReturnType<WebService['posts']> {
  try {
    return service.posts(parcel);
  } catch (error) {
    const { message, hint = 'Correct the configuration.' } = toStewardError(error);
    return { outcome: 'failed', reason: message, hint };
  }
}

/** To see whether anything could be posted. */
const NOTHING: Parcel = { id: '', acceptedMs: 0, event: 'taskComplete', priority: 3, message: '', ...PLAIN };

const ANSWER_MS = 10_000;
/** Of an answer only the beginning is of use. */
const BOUNDS = { maxBytes: 64 * 1024, cut: true } as const;

/** Posts once. What the server wrote is never repeated, since it may hold a secret. */
async function postOnce(
  { clock, http, answerMs = ANSWER_MS }: WebDeps,
  { url, ...rest }: { url: string; body: unknown; headers?: Readonly<Record<string, string>> },
  judge: WebService['judge'],
): Promise<Outcome> {
  let answer: WholeAnswer;
  try {
    const { origin } = await http();
    const server = origin(url, { hint: 'Check the network, and that the server runs.' });
    answer = await server.request({ method: 'POST', path: '', ...rest, timeoutMs: answerMs, ...BOUNDS });
  } catch (error) {
    const outcome = fault(error, ['config']);
    return outcome.outcome === 'again' ? { ...outcome, all: true } : outcome;
  }
  return judge(answer) ?? judgeStatus(answer, clock.now());
}

/** What an HTTP status means where the protocol of the server says no more. */
export function judgeStatus({ status, headers }: WholeAnswer, nowMs: number): Outcome {
  if (status >= 200 && status < 300) return { outcome: 'delivered' };
  const afterMs = retryAfterMs(headers['retry-after'], nowMs);
  const wait = { all: true, ...(afterMs === undefined ? {} : { afterMs }) };
  if (status === 429) {
    const hint = 'It is sent again when the server allows it.';
    return { outcome: 'again', reason: 'The server has had too many messages (429).', hint, ...wait };
  }
  if (status === 408 || status === 425 || status >= 500) {
    const hint = 'It is sent again later.';
    return { outcome: 'again', reason: `The server has a problem of its own (${status}).`, hint, ...wait };
  }
  const [words, hint] = KNOWN[status] ?? [
    status < 400
      ? 'The server points to another address, which is not followed'
      : 'The server refused the message',
    'Check the address in the configuration.',
  ];
  return { outcome: 'failed', reason: `${words} (${status}).`, hint };
}

const KNOWN: Readonly<Record<number, readonly [string, string]>> = {
  401: ['The server asks for credentials', 'Set an access token, or correct it.'],
  403: ['The server does not allow it', 'Check the access token, and what it may write to.'],
  404: ['The server does not know the address', 'Check the address; it may have been deleted.'],
  410: ['The address is gone', 'Make a new one and set it.'],
  413: ['The message is too large for the server', 'Send a shorter one.'],
};

/** The outcome of a server that takes nothing more for so long; undefined where it does not say how long. */
export function tooMany(who: string, seconds: unknown): Outcome | undefined {
  if (typeof seconds !== 'number' || !(seconds >= 0)) return undefined;
  const reason = `${who} takes no more messages for the moment (429).`;
  const hint = 'It is sent again when the server allows it.';
  return { outcome: 'again', reason, hint, afterMs: seconds * 1000, all: true };
}

/** The root of a server that is given as a host or an address; a host that is this machine is not encrypted. */
export function rootOf(server: string): string {
  if (server.includes('://')) return server.endsWith('/') ? server : `${server}/`;
  const isLocal = /^(?:localhost|127(?:\.\d{1,3}){3})(?::\d+)?$/.test(server);
  return `${isLocal ? 'http' : 'https'}://${server}/`;
}

/** How `doctor --online` asks a service whether it would take messages, without sending one. */
export interface WebProbe extends Pick<WebService, 'id' | 'missing'> {
  title: string;
  ask: (settings: Settings, secret: SecretOf) => { url: string; headers?: Record<string, string> };
  judge: (hostname: string, answer: Pick<UrlAnswer, 'status' | 'text'>) => Finding;
}

export function webCheck({ id, title, missing, ask, judge }: WebProbe): Check<NotifyChecked> {
  const run = (at: NotifyChecked): Promise<Finding[]> | Finding[] => {
    const settings = at.config.settings.notifications;
    if (!settings[id].enabled) return [off('switched off', { mend: enable(id) })];
    const lack = missing(settings);
    if (lack !== undefined) return [off(lack.reason, { hint: lack.hint, mend: lack.mend })];
    if (!at.online) return [off(NOT_CHECKED)];
    return orFailure(async () => {
      const { url, headers } = ask(settings, at.secret);
      const { hostname } = new URL(url);
      const answer = await at.askHost(url, headers);
      return [busy(hostname, answer.status) ?? judge(hostname, answer)];
    });
  };
  return { id: `notify.${id}`, title, needsConfig: true, limitMs: 30_000, run };
}

function busy(hostname: string, status: number): Finding | undefined {
  const hint = 'Try again in some minutes.';
  if (status === 429) return warning(`${hostname} asks to wait: too many requests`, { hint });
  return status >= 500 ? failed(`${hostname} has trouble (${status})`, { hint }) : undefined;
}
