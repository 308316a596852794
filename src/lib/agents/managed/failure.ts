import { StewardError, type ErrorKind } from '../../errors';
import { isObject, parseObject } from '../../platform/files/json-object';
import { networkFailureOf } from '../../platform/net/network-failure';
import type { OriginAnswer } from '../../platform/net/origin-client';
import { clean, cleanLine } from '../../platform/terminal/terminal';
import type { Clock } from '../../platform/time/clock';
import { wait } from '../../platform/time/wait';
import { textOf } from './event';

/** What an error answer of the service means for the caller. */
export interface ApiFailure {
  status: number;
  /** The service's own word for it, such as `rate_limit_error`. */
  type: string;
  /** How long it asked to wait, ms. */
  retryAfterMs: number | undefined;
}

/** What a request was about, for the words of an error. */
export interface Asked {
  host: string;
  what: string;
  /** Where the credential comes from; undefined where none was sent. */
  credentialFrom: string | undefined;
  /** For a date in `retry-after`. */
  nowMs: number;
}

const MAX_MESSAGE = 300;
const SPEND_LIMIT = 'enforced_spend_limit_reached';

/** The error of an answer that is not a success. */
export function apiError(asked: Asked, answer: OriginAnswer & { text: string }): StewardError {
  const body = parseObject(answer.text);
  const told = body?.['error'];
  const id = body?.['request_id'] ?? answer.headers['request-id'];
  const failure: ApiFailure = {
    status: answer.status,
    type: textOf(told, 'type') ?? '',
    retryAfterMs: retryAfter(answer.headers['retry-after'], asked.nowMs),
  };
  const [kind, text, hint] = describe(asked, answer, failure);
  const said = [
    text,
    cleanLine(textOf(told, 'message') ?? '', MAX_MESSAGE),
    typeof id === 'string' && /^[\w-]{1,80}$/.test(id) ? `(request ${id})` : '',
  ];
  return new StewardError(kind, said.filter((part) => part !== '').join(' '), { hint, cause: failure });
}

type Description = [kind: ErrorKind, text: string, hint: string];

function describe({ host, what, credentialFrom }: Asked, answer: OriginAnswer, { status, type }: ApiFailure): Description {
  if (status >= 300 && status < 400)
    return ['unavailable', `${host} sends ${what} on to another address (${status}), which steward does not follow with a credential.`, 'Set agents.managed.url to the address that answers itself.'];
  if ((answer.headers['content-type'] ?? '').includes('html')) return notApi(host, status);
  switch (status) {
    case 401:
      return credentialFrom === undefined
        ? ['auth', `${host} wants a credential (401), and none is set.`, 'Set one by reference, such as: steward config set agents.managed.apiKey env:ANTHROPIC_API_KEY']
        : ['auth', `${host} does not accept the credential from ${credentialFrom} (401).`, 'It may have expired, been revoked, or belong to another service. Set a new one there.'];
    case 402:
      return ['unavailable', `${host} asks for payment (402).`, 'Look at the billing of your account.'];
    case 403:
      return ['auth', `${host} does not allow ${what} (403).`, 'Use a credential of a workspace that has managed agents.'];
    case 404:
      return [
        'not_found',
        what.startsWith('a new ') ? `${host} does not know what ${what} is to be made of (404).` : `${host} knows no such thing: ${clean(what)} (404).`,
        'Check the id. A session that was deleted, or belongs to another workspace, is not found either.',
      ];
    case 409:
      return ['conflict', `${host} has another state by now (409).`, 'Look at it again, then repeat.'];
    case 413:
      return ['usage', `${what} is too large for ${host} (413).`, 'Send less at once.'];
    case 429:
      return type === SPEND_LIMIT
        ? ['unavailable', 'The spend limit of your organisation is reached (429).', 'Raise the limit, or wait for the next period. Trying again now does not help.']
        : ['unavailable', `${host} asks to slow down (429).`, 'Try again in a minute.'];
  }
  return status >= 500
    ? ['unavailable', `${host} cannot answer now (${status}).`, 'Try again in a few minutes.']
    : ['conflict', `${host} refuses ${what} (${status}).`, 'Change what its message names.'];
} // prettier-ignore

function notApi(host: string, status: number): Description {
  return [
    'unavailable',
    `${host} answers with something that is not the managed-agents API (status ${status}, no JSON).`,
    'Check agents.managed.url, and what stands between (a proxy, a sign-in page).',
  ];
}

/** The error of an answer that is not this service's. */
export function notTheApi(host: string, answer: OriginAnswer): StewardError {
  const [kind, text, hint] = notApi(host, answer.status);
  const failure: ApiFailure = { status: 502, type: 'not_the_api', retryAfterMs: undefined };
  return new StewardError(kind, text, { hint, cause: failure });
}

export function failureOf(error: unknown): ApiFailure | undefined {
  const cause = error instanceof StewardError ? error.cause : undefined;
  return isObject(cause) && 'status' in cause && 'retryAfterMs' in cause
    ? (cause as unknown as ApiFailure)
    : undefined;
}

/** Does the service lack what was asked for, such as a list of events? */
export function isNotServed(error: unknown): boolean {
  return [404, 405, 501].includes(failureOf(error)?.status ?? 0);
}

/** May the same request have another outcome later? 4xx is final, except time-outs, conflicts and rate limits. */
export function isTransient(error: unknown): boolean {
  if (networkFailureOf(error) !== undefined) return true;
  const failure = failureOf(error);
  if (failure === undefined || failure.type === SPEND_LIMIT) return false;
  return failure.status >= 500 || [408, 409, 429].includes(failure.status);
}

/** May a POST that failed so have had its effect all the same? The API has no idempotency keys. */
export function mayHaveLanded(error: unknown): boolean {
  const network = networkFailureOf(error);
  if (network !== undefined) return network.sent;
  const status = failureOf(error)?.status;
  return status === 408 || (status !== undefined && status >= 500);
}

/** Did a POST that failed so certainly have no effect? Unknown if it was aborted half-way. */
export function isNothingDone(error: unknown): boolean {
  const told = failureOf(error) !== undefined || networkFailureOf(error) !== undefined;
  return told && !mayHaveLanded(error);
}

/** Seconds or a date, as ms from now; at most an hour, since a clock may be wrong. */
function retryAfter(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  const ms = /^\d+(?:\.\d+)?$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), 3_600_000);
}

/** How patient the client is, all in ms. */
export interface Timing {
  /** The pause after the first failure; it doubles with each further one. */
  firstPauseMs: number;
  longestPauseMs: number;
  /** Tries of one request. */
  tries: number;
  /** A session that cannot be reached for so long is left; its log stays. */
  patienceMs: number;
  /** A stream that is silent for so long is opened again. */
  silenceMs: number;
  /** The history is read at least this often, whatever the stream says. */
  lookMs: number;
  /** An event that the stream has shown is expected in the history within this. */
  lagMs: number;
  /** The shortest and the longest pause between two reads of the history while events come. */
  paceMs: readonly [number, number];
}

export const TIMING: Timing = {
  firstPauseMs: 500,
  longestPauseMs: 10_000,
  tries: 5,
  patienceMs: 15 * 60_000,
  silenceMs: 45_000,
  lookMs: 30_000,
  lagMs: 5_000,
  paceMs: [100, 1000],
};

/** A service that does not answer at all is given up after so long, however few the tries were. */
const SLOW_MS = 45_000;
/** The service may show what landed a little later. */
const LOOKS = 3;

export interface RetryDeps {
  clock: Clock;
  timing: Timing;
  signal?: AbortSignal;
}

/** Waits before try `tried + 1`: doubled each time, jittered, never shorter than the service asks for. */
export async function pause({ timing, signal }: RetryDeps, tried: number, error?: unknown): Promise<void> {
  const grown = Math.min(timing.firstPauseMs * 2 ** Math.min(tried, 20), timing.longestPauseMs);
  const asked = failureOf(error)?.retryAfterMs ?? 0;
  await wait(Math.max(grown * (0.75 + Math.random() / 4), Math.min(asked, timing.patienceMs)), signal);
}

/** Repeats what is safe to repeat (reading) until it works, is refused, or has failed too often. */
export async function repeated<T>(deps: RetryDeps, work: () => Promise<T>): Promise<T> {
  const started = deps.clock.monotonic();
  for (let tried = 0; ; tried += 1) {
    try {
      return await work();
    } catch (error) {
      const isSlow = deps.clock.monotonic() - started > SLOW_MS;
      if (!isTransient(error) || tried + 1 >= deps.timing.tries || isSlow) throw error;
      await pause(deps, tried, error);
    }
  }
}

/**
 * Does once what must not be done twice. After a failure that `mayLand` may have had its effect, `landed` is asked
 * several times; the work is done again only when it says no each time.
 */
export async function once<T>(
  deps: RetryDeps,
  work: () => Promise<T>,
  landed: () => Promise<T | undefined>,
  mayLand: (error: unknown) => boolean,
): Promise<T> {
  for (let tried = 0; ; tried += 1) {
    try {
      return await work();
    } catch (error) {
      for (let look = 0; look < LOOKS && mayLand(error); look += 1) {
        await pause(deps, look);
        const found = await repeated(deps, landed);
        if (found !== undefined) return found;
      }
      if (!isTransient(error) || tried + 1 >= deps.timing.tries) throw error;
      await pause(deps, tried, error);
    }
  }
}
