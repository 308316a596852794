import type { RoutedChannel, SettingsConfig } from '../../config/schema';
import { StewardError, toStewardError } from '../../errors';
import { failed, NOT_CHECKED, off, orFailure, warning, type Check, type Finding } from '../../platform/check';
import type { UrlAnswer } from '../../platform/net/fetch';
import type { WholeAnswer } from '../../platform/net/origin-client';
import type { NotifyChecked } from './channel';
import { fault, PLAIN, type Channel, type ChannelDeps, type Outcome, type Parcel } from './channel';
import { type Choice, notePush, type Offer, offerFor } from '../pushes';
import { retryAfterMs } from '../../platform/net/network-failure';

export type WebDeps = Pick<ChannelDeps, 'clock' | 'http' | 'answerMs' | 'settings' | 'secret' | 'pushes'>;

type Settings = SettingsConfig['notifications'];
type WebId = Exclude<RoutedChannel, 'desktop' | 'terminal'>;
type Headers = Readonly<Record<string, string>>;
type Failed = Extract<Outcome, { outcome: 'failed' }>;

interface Missing {
  reason: string;
  hint: string;
  fix: string;
}

/** A service that accepts JSON in POST requests. */
export interface WebService {
  id: WebId;
  isHeld?: true;
  missing: (settings: Settings) => Missing | undefined;
  /**
   * Returns the requests for a parcel, or the reason it can never be sent. Throws `config` if a credential
   * can't be resolved.
   */
  posts: (parcel: Parcel, offer: Offer | undefined) => Posts | Failed;
  /** Returns a service-specific outcome, or undefined if the HTTP status determines the outcome. */
  judge: (answer: WholeAnswer) => Outcome | undefined;
  replies?: Replies;
}

/** What a service has whose messages can have buttons and be removed. */
export interface Replies extends Pick<Required<Channel>, 'end' | 'presses'> {
  /** Returns the choices that get a button. */
  shown: (choices: readonly Choice[]) => readonly Choice[];
  /** Returns the service's id of a sent message, or undefined if it can't be removed. */
  refOf: (answer: WholeAnswer) => string | undefined;
}

export interface Posts {
  /** The request URL, which may contain a secret. */
  url: string;
  parts: readonly { body: unknown; headers?: Headers }[];
}

export function webChannel(deps: WebDeps, service: WebService): Channel {
  const { id, isHeld, replies } = service;
  return {
    id,
    ...(isHeld === undefined ? {} : { isHeld }),
    ...(replies === undefined ? {} : { end: replies.end, presses: replies.presses }),
    off() {
      const settings = deps.settings();
      if (isSwitchedOff(settings, id))
        return { reason: 'switched off', hint: `Switch it on with \`${enable(id)}\`.` };
      const { reason, hint, fix } = service.missing(settings) ?? {};
      return reason === undefined ? undefined : { reason, hint: `${hint} \`${fix}\`.` };
    },
    trouble() {
      const posts = postsOr(service, EMPTY);
      return 'outcome' in posts ? { reason: posts.reason, hint: posts.hint } : undefined;
    },
    prepare: async () => void (await deps.http()),
    async send(parcel, onPart) {
      const { thread, message } = parcel;
      const offer =
        replies && thread !== undefined ? await offerFor(deps.pushes, thread, replies.shown) : undefined;
      const posts = postsOr(service, parcel, offer);
      if ('outcome' in posts) return posts;
      const { url, parts } = posts;
      let ref: string | undefined;
      for (const [index, part] of parts.entries()) {
        if (index < parcel.sentParts) continue;
        const { outcome, answer } = await postOnce(deps, { url, ...part }, service.judge);
        if (outcome.outcome !== 'delivered') return outcome;
        ref = answer && replies?.refOf(answer);
        if (parts.length > 1) onPart(index + 1);
      }
      if (thread !== undefined && offer)
        await notePush(deps.pushes, { ...offer, channel: id, thread, message, ref, atMs: deps.clock.now() });
      return { outcome: 'delivered' };
    },
  };
}

function isSwitchedOff(settings: Settings, id: WebId): boolean {
  const channel = settings[id];
  return 'enabled' in channel && !channel.enabled;
}

function enable(id: WebId): string {
  return `steward config set notifications.${id}.enabled true`;
}

/**
 * Treats exceptions as temporary, because the missing variable or file that contains the secret may be created
 * later.
 */
function postsOr(
  service: WebService,
  parcel: Parcel,
  offer?: Offer,
): Posts | Failed | Extract<Outcome, { outcome: 'again' }> {
  try {
    return service.posts(parcel, offer);
  } catch (error) {
    const { message, hint = 'Correct the configuration.' } = toStewardError(error);
    return { outcome: 'again', reason: message, hint, all: true };
  }
}

const EMPTY: Parcel = { id: '', acceptedMs: 0, event: 'taskComplete', priority: 3, message: '', ...PLAIN };

const ANSWER_MS = 10_000;
const BOUNDS = { maxBytes: 64 * 1024, cut: true } as const;

/** Sends one POST request. Errors never quote the response, which may contain a secret. */
async function postOnce(
  deps: WebDeps,
  post: { url: string; body: unknown; headers?: Headers },
  judge: WebService['judge'],
): Promise<{ outcome: Outcome; answer?: WholeAnswer }> {
  let answer: WholeAnswer;
  try {
    answer = await askService(deps, { method: 'POST', ...post });
  } catch (error) {
    const outcome = fault(error, ['config']);
    return { outcome: outcome.outcome === 'again' ? { ...outcome, all: true } : outcome };
  }
  return { outcome: judge(answer) ?? judgeStatus(answer, deps.clock.now()), answer };
}

/** Sends one request to a service. Throws if it failed for another reason than a message that no longer exists. */
export async function askReply(deps: WebDeps, request: Parameters<typeof askService>[1]) {
  const answer = await askService(deps, request);
  const { status } = answer;
  if (status < 400 || status === 400 || status === 404) return answer;
  const host = new URL(request.url).host;
  throw new StewardError('unavailable', `${host} returned ${status}.`, { hint: LATER });
}

async function askService(
  { http, answerMs = ANSWER_MS }: WebDeps,
  { url, ...rest }: { url: string; method: 'GET' | 'POST' | 'PUT'; body?: unknown; headers?: Headers },
): Promise<WholeAnswer> {
  const { origin } = await http();
  const server = origin(url, { hint: 'Check the network and the server.' });
  return server.request({ path: '', ...rest, timeoutMs: answerMs, ...BOUNDS });
}

const LATER = 'No action needed: steward will retry later.';

/** Returns the outcome based on the HTTP status alone. */
export function judgeStatus({ status, headers }: WholeAnswer, nowMs: number): Outcome {
  if (status >= 200 && status < 300) return { outcome: 'delivered' };
  if (status === 408 || status === 425 || status === 429 || status >= 500) {
    const reason = status === 429 ? 'Too many requests (429).' : `Server error ${status}.`;
    const afterMs = retryAfterMs(headers['retry-after'], nowMs);
    const wait = afterMs === undefined ? {} : { afterMs };
    return { outcome: 'again', reason, hint: LATER, all: true, ...wait };
  }
  const [words, hint] = KNOWN[status] ?? [
    status < 400
      ? 'The server returned a redirect, which steward does not follow'
      : 'The server rejected the message',
    'Check the address in the configuration.',
  ];
  return { outcome: 'failed', reason: `${words} (${status}).`, hint };
}

const KNOWN: Readonly<Record<number, readonly [string, string]>> = {
  401: ['The server requires credentials', 'Set or correct the access token.'],
  403: ['Access denied', 'Check the access token and its permissions.'],
  404: ['Address not found', 'Check that the address is still valid.'],
  410: ['The address no longer exists', 'Correct the address in the configuration.'],
  413: ['The message is too large for the server', 'Send a shorter message.'],
};

/**
 * Returns the outcome of a request that was rejected by a rate limit; undefined if `seconds` is missing or
 * invalid.
 */
export function rateLimited(service: string, seconds: unknown): Outcome | undefined {
  if (typeof seconds !== 'number' || !(seconds >= 0)) return undefined;
  const reason = `${service} returned "too many requests" (429).`;
  return { outcome: 'again', reason, hint: LATER, afterMs: seconds * 1000, all: true };
}

/**
 * Returns the root URL for a host or URL. A host without a scheme gets `https://`, or `http://` for localhost.
 */
export function rootOf(server: string): string {
  if (server.includes('://')) return server.endsWith('/') ? server : `${server}/`;
  const isLocal = /^(?:localhost|127(?:\.\d{1,3}){3})(?::\d+)?$/.test(server);
  return `${isLocal ? 'http' : 'https'}://${server}/`;
}

/** How `doctor --online` checks a service without sending a message. */
interface WebProbe extends Pick<WebService, 'id' | 'missing'> {
  title: string;
  ask: (settings: Settings, secret: WebDeps['secret']) => { url: string; headers?: Record<string, string> };
  judge: (hostname: string, answer: Pick<UrlAnswer, 'status' | 'text'>) => Finding;
}

export function webCheck({ id, title, missing, ask, judge }: WebProbe): Check<NotifyChecked> {
  const run = (at: NotifyChecked): Promise<Finding[]> | Finding[] => {
    const settings = at.config.settings.notifications;
    if (isSwitchedOff(settings, id)) return [off('switched off', { fix: enable(id) })];
    const lack = missing(settings);
    if (lack !== undefined) return [off(lack.reason, { hint: lack.hint, fix: lack.fix })];
    if (!at.online) return [off(NOT_CHECKED)];
    return orFailure(async () => {
      const { url, headers } = ask(settings, at.secret);
      const { hostname } = new URL(url);
      const answer = await at.askHost(url, headers);
      return [unavailable(hostname, answer.status) ?? judge(hostname, answer)];
    });
  };
  return { id: `notify.${id}`, title, needsConfig: true, run };
}

function unavailable(hostname: string, status: number): Finding | undefined {
  const hint = 'Try again in a few minutes.';
  if (status === 429) return warning(`${hostname}: too many requests`, { hint });
  return status >= 500 ? failed(`${hostname}: server error ${status}`, { hint }) : undefined;
}
