import { type ErrorKind, StewardError } from '../../errors';
import { isObject, parseObject } from '../../platform/files/json-object';
import { networkFailureOf } from '../../platform/net/network-failure';
import type { OriginAnswer } from '../../platform/net/origin-client';
import { clean, cleanLine } from '../../platform/terminal/terminal';
import type { Clock } from '../../platform/time/clock';
import { wait } from '../../platform/time/wait';

/** What an answer of the service means for the one who asked. */
export interface ApiFailure {
  status: number;
  /** The service's own word for it, such as `rate_limit_error`. */
  type: string;
  /** How long it asked to wait, ms. */
  retryAfterMs: number | undefined;
}

const MAX_MESSAGE = 300;

/** What a request was about, for the words of an error. */
export interface Asked {
  host: string;
  what: string;
  /** Where the credential comes from; undefined where none was sent. */
  credentialFrom: string | undefined;
  /** The time of day, for a date in `retry-after`. */
  nowMs: number;
}

/** The error of an answer that is none of success. */
export function apiError(asked: Asked, answer: OriginAnswer & { text: string }): StewardError {
  const body = parseObject(answer.text);
  const told = isObject(body?.['error']) ? body['error'] : {};
  const type = typeof told['type'] === 'string' ? told['type'] : '';
  const message = typeof told['message'] === 'string' ? cleanLine(told['message'], MAX_MESSAGE) : '';
  const request = requestId(body, answer);
  const failure: ApiFailure = {
    status: answer.status,
    type,
    retryAfterMs: retryAfter(answer.headers['retry-after'], asked.nowMs),
  };
  const { kind, text, hint } = describe(asked, answer, failure);
  const said = [text, message, request].filter((part) => part !== '').join(' ');
  return new StewardError(kind, said, { hint, cause: failure });
}

function requestId(body: Record<string, unknown> | undefined, answer: OriginAnswer): string {
  const id = body?.['request_id'] ?? answer.headers['request-id'];
  return typeof id === 'string' && /^[\w-]{1,80}$/.test(id) ? `(request ${id})` : '';
}

interface Description {
  kind: ErrorKind;
  text: string;
  hint: string;
}

function describe(asked: Asked, answer: OriginAnswer, failure: ApiFailure): Description {
  const { host, what, credentialFrom } = asked;
  const { status, type } = failure;
  if (status >= 300 && status < 400) {
    return {
      kind: 'unavailable',
      text: `${host} sends ${what} on to another address (${status}), which steward does not follow with a credential.`,
      hint: 'Set agents.managed.url to the address that answers itself.',
    };
  }
  if (isPage(answer)) return page(host, status);
  if (status === 401 && credentialFrom === undefined) {
    return {
      kind: 'auth',
      text: `${host} wants a credential (401), and none is set.`,
      hint: 'Set one by reference, such as: steward config set agents.managed.apiKey env:ANTHROPIC_API_KEY',
    };
  }
  if (status === 401) {
    return {
      kind: 'auth',
      text: `${host} does not accept the credential from ${credentialFrom} (401).`,
      hint: 'It may have expired, been revoked, or belong to another service. Set a new one there.',
    };
  }
  if (status === 403) {
    return {
      kind: 'auth',
      text: `${host} does not allow ${what} (403).`,
      hint: 'Use a credential of a workspace that has managed agents.',
    };
  }
  if (status === 402) {
    return {
      kind: 'unavailable',
      text: `${host} asks for payment (402).`,
      hint: 'Look at the billing of your account.',
    };
  }
  if (status === 404) {
    return {
      kind: 'not_found',
      text: what.startsWith('a new ')
        ? `${host} does not know what ${what} is to be made of (404).`
        : `${host} knows no such thing: ${clean(what)} (404).`,
      hint: 'Check the id. A session that was deleted, or belongs to another workspace, is not found either.',
    };
  }
  if (status === 409) {
    return {
      kind: 'conflict',
      text: `${host} has another state by now (409).`,
      hint: 'Look at it again, then repeat.',
    };
  }
  if (status === 413) {
    return { kind: 'usage', text: `${what} is too large for ${host} (413).`, hint: 'Send less at once.' };
  }
  if (status === 429 && type === 'enforced_spend_limit_reached') {
    return {
      kind: 'unavailable',
      text: 'The spend limit of your organisation is reached (429).',
      hint: 'Raise the limit, or wait for the next period. Trying again now does not help.',
    };
  }
  if (status === 429) {
    return { kind: 'unavailable', text: `${host} asks to slow down (429).`, hint: 'Try again in a minute.' };
  }
  if (status >= 500) {
    return {
      kind: 'unavailable',
      text: `${host} cannot answer now (${status}).`,
      hint: 'Try again in a few minutes.',
    };
  }
  return {
    kind: 'conflict',
    text: `${host} refuses ${what} (${status}).`,
    hint: 'Change what its message names.',
  };
}

/** Something that is no answer of this service at all. */
export function notTheApi(host: string, answer: OriginAnswer): StewardError {
  const { kind, text, hint } = page(host, answer.status);
  const failure: ApiFailure = { status: 502, type: 'not_the_api', retryAfterMs: undefined };
  return new StewardError(kind, text, { hint, cause: failure });
}

function page(host: string, status: number): Description {
  return {
    kind: 'unavailable',
    text: `${host} answers with something that is not the managed-agents API (status ${status}, no JSON).`,
    hint: 'Check agents.managed.url, and what stands between (a proxy, a sign-in page).',
  };
}

function isPage({ headers }: OriginAnswer): boolean {
  return (headers['content-type'] ?? '').includes('html');
}

export function failureOf(error: unknown): ApiFailure | undefined {
  const cause = error instanceof StewardError ? error.cause : undefined;
  return typeof cause === 'object' && cause !== null && 'status' in cause && 'retryAfterMs' in cause
    ? (cause as ApiFailure)
    : undefined;
}

/** May the same request have another outcome later? 4xx is final, but for time-outs, conflicts and rate limits. */
export function isTransient(error: unknown): boolean {
  if (networkFailureOf(error) !== undefined) return true;
  const failure = failureOf(error);
  if (failure === undefined) return false;
  if (failure.type === 'enforced_spend_limit_reached') return false;
  return failure.status >= 500 || [408, 409, 429].includes(failure.status);
}

/** May a POST that failed so have had its effect all the same? The API knows no idempotency keys. */
export function mayHaveLanded(error: unknown): boolean {
  const network = networkFailureOf(error);
  if (network !== undefined) return network.sent;
  const status = failureOf(error)?.status;
  return status === 408 || (status !== undefined && status >= 500);
}

/** Did a POST that failed so certainly have no effect? Of one that was given up half-way nobody can say. */
export function isNothingDone(error: unknown): boolean {
  const told = failureOf(error) !== undefined || networkFailureOf(error) !== undefined;
  return told && !mayHaveLanded(error);
}

/** Seconds or a date, as ms from now; at most an hour, since a clock may be wrong. */
export function retryAfter(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  const ms = /^\d+(?:\.\d+)?$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), 3_600_000);
}

/** How patient the client is, all in ms. */
export interface Timing {
  /** The first pause after a failure; each further one is twice as long. */
  firstPauseMs: number;
  longestPauseMs: number;
  /** A request that keeps failing is given up after so many tries. */
  tries: number;
  /** A session that cannot be reached for so long is left; its log stays. */
  patienceMs: number;
  /** A stream that is silent for so long is opened again. */
  silenceMs: number;
  /** The history is looked at again after so long at the latest, whatever the stream says. */
  lookMs: number;
  /** An event that the stream has shown is expected in the history within this. */
  lagMs: number;
  /** The shortest and the longest pause between two looks at the history while events come. */
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

/** What repeats things needs. */
export interface RetryDeps {
  clock: Clock;
  timing: Timing;
  signal?: AbortSignal;
}

/** The pause before try `tried + 1`: doubled each time, somewhat random, never shorter than the service asks for. */
export function pauseMs(timing: Timing, tried: number, error: unknown): number {
  const grown = Math.min(timing.firstPauseMs * 2 ** Math.min(tried, 20), timing.longestPauseMs);
  const asked = failureOf(error)?.retryAfterMs ?? 0;
  return Math.max(grown * (0.75 + Math.random() / 4), Math.min(asked, timing.patienceMs));
}

/** Repeats what may be repeated without harm (reading) until it works, is refused, or has failed too often. */
export async function repeated<T>(deps: RetryDeps, work: () => Promise<T>): Promise<T> {
  const started = deps.clock.monotonic();
  for (let tried = 0; ; tried += 1) {
    try {
      return await work();
    } catch (error) {
      const isSlow = deps.clock.monotonic() - started > SLOW_MS;
      if (!isTransient(error) || tried + 1 >= deps.timing.tries || isSlow) throw error;
      await wait(pauseMs(deps.timing, tried, error), deps.signal);
    }
  }
}

/**
 * Does once what must not be done twice, over a connection that may lose the answer (the API has no idempotency
 * keys). After a failure that may have had its effect, `landed` is asked some times, since the service may show
 * it a little later; only when it says no every time is the work done again.
 */
export async function once<T>(
  deps: RetryDeps,
  work: () => Promise<T>,
  landed: () => Promise<T | undefined>,
  mayHaveLanded: (error: unknown) => boolean,
): Promise<T> {
  for (let tried = 0; ; tried += 1) {
    try {
      return await work();
    } catch (error) {
      if (mayHaveLanded(error)) {
        for (let look = 0; look < LOOKS; look += 1) {
          await wait(pauseMs(deps.timing, look, undefined), deps.signal);
          const found = await repeated(deps, landed);
          if (found !== undefined) return found;
        }
      }
      if (!isTransient(error) || tried + 1 >= deps.timing.tries) throw error;
      await wait(pauseMs(deps.timing, tried, error), deps.signal);
    }
  }
}

const LOOKS = 3;
