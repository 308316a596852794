import { toStewardError } from '../../errors';
import type { HttpLibrary, WholeAnswer } from '../../platform/net/origin-client';
import type { Clock } from '../../platform/time/clock';
import { retryAfterMs } from '../settle';
import type { Channel, Outcome, Parcel } from './channel';

/** A service that messages are posted to as JSON: what the push and the chat channel have in common. */
export interface WebService {
  id: 'push' | 'chat';
  http: Http;
  enabled: () => boolean;
  /** Why nothing can be sent although it is switched on; undefined when nothing is missing. */
  missing: () => { reason: string; hint: string } | undefined;
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

export function webChannel(service: WebService): Channel {
  const { id, http } = service;
  return {
    id,
    off() {
      if (service.enabled()) return service.missing();
      const hint = `Switch it on with \`steward config set notifications.${id}.enabled true\`.`;
      return { reason: 'switched off', hint };
    },
    trouble() {
      const posts = postsOr(service, NOTHING);
      return 'outcome' in posts ? { reason: posts.reason, hint: posts.hint } : undefined;
    },
    prepare: async () => void (await http.load()),
    async send(parcel, onPart) {
      const posts = postsOr(service, parcel);
      return 'outcome' in posts ? posts : sendParts(service, posts, parcel.sentParts, onPart);
    },
  };
}

/** What is posted; a setting that gives nothing to post is why not. */
function postsOr(service: WebService, parcel: Parcel): ReturnType<WebService['posts']> {
  try {
    return service.posts(parcel);
  } catch (error) {
    const { message, hint = 'Correct the configuration.' } = toStewardError(error);
    return { outcome: 'failed', reason: message, hint };
  }
}

/** To see whether anything could be posted. */
const NOTHING: Parcel = {
  id: '',
  acceptedMs: 0,
  event: 'taskComplete',
  priority: 3,
  message: '',
  tags: [],
  silent: false,
  count: 1,
  sentParts: 0,
};

/** From the first part on that is not out yet, until one is not taken. */
async function sendParts(
  { http, judge }: WebService,
  { url, parts }: Posts,
  sentParts: number,
  onPart: (sent: number) => void,
): Promise<Outcome> {
  for (const [index, part] of parts.entries()) {
    if (index < sentParts) continue;
    const outcome = await postOnce(http, { url, ...part }, judge);
    if (outcome.outcome !== 'delivered') return outcome;
    if (parts.length > 1) onPart(index + 1);
  }
  return { outcome: 'delivered' };
}

/** How a channel reaches its server. The library is loaded once, by the first that asks. */
export interface Http {
  clock: Clock;
  load: () => Promise<Pick<HttpLibrary, 'origin'>>;
  /** How long a server may take for one answer, ms; ten seconds when left out. */
  answerMs?: number;
}

const ANSWER_MS = 10_000;
/** Of an answer only the beginning is of use. */
const BOUNDS = { maxBytes: 64 * 1024, cut: true } as const;

/** Posts once, and says what came of it; what the server wrote is never repeated, since it may hold a secret. */
export async function postOnce(
  http: Http,
  request: { url: string; body: unknown; headers?: Readonly<Record<string, string>> },
  judge: (answer: WholeAnswer) => Outcome | undefined,
): Promise<Outcome> {
  let answer: WholeAnswer;
  try {
    const { origin } = await http.load();
    const { url, ...rest } = request;
    const hint = 'Check the network, and that the server runs.';
    const timeoutMs = http.answerMs ?? ANSWER_MS;
    answer = await origin(url, { hint }).request({ method: 'POST', path: '', ...rest, timeoutMs, ...BOUNDS });
  } catch (error) {
    const { kind, message, hint = 'Try again later.' } = toStewardError(error);
    if (kind === 'config') return { outcome: 'failed', reason: message, hint };
    return { outcome: 'again', reason: message, hint, all: true };
  }
  return judge(answer) ?? judgeStatus(answer, http.clock.now());
}

/** What an HTTP status means where the protocol of the server says no more. */
export function judgeStatus(answer: WholeAnswer, nowMs: number): Outcome {
  const { status } = answer;
  if (status >= 200 && status < 300) return { outcome: 'delivered' };
  const afterMs = retryAfterMs(answer.headers['retry-after'], nowMs);
  const wait = afterMs === undefined ? {} : { afterMs };
  if (status === 429) {
    const hint = 'It is sent again when the server allows it.';
    return {
      outcome: 'again',
      reason: 'The server has had too many messages (429).',
      hint,
      all: true,
      ...wait,
    };
  }
  if (status === 408 || status === 425 || status >= 500) {
    const reason = `The server has a problem of its own (${status}).`;
    return { outcome: 'again', reason, hint: 'It is sent again later.', all: true, ...wait };
  }
  const known = KNOWN.get(status);
  if (known !== undefined) return { outcome: 'failed', reason: `${known[0]} (${status}).`, hint: known[1] };
  const isMoved = status >= 300 && status < 400;
  const reason = isMoved
    ? `The server points to another address (${status}), which is not followed.`
    : `The server refused the message (${status}).`;
  return { outcome: 'failed', reason, hint: 'Check the address in the configuration.' };
}

const KNOWN: ReadonlyMap<number, readonly [string, string]> = new Map([
  [401, ['The server asks for credentials', 'Set an access token, or correct it.']],
  [403, ['The server does not allow it', 'Check the access token, and what it may write to.']],
  [404, ['The server does not know the address', 'Check the address; it may have been deleted.']],
  [410, ['The address is gone', 'Make a new one and set it.']],
  [413, ['The message is too large for the server', 'Send a shorter one.']],
]);
