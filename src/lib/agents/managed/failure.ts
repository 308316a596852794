import { StewardError, type ErrorKind } from '../../errors';
import { isObject, parseObject } from '../../platform/files/json-object';
import { networkFailureOf, retryAfterMs } from '../../platform/net/network-failure';
import type { OriginAnswer } from '../../platform/net/origin-client';
import { clean, cleanLine } from '../../platform/terminal/terminal';
import type { Clock } from '../../platform/time/clock';
import { wait } from '../../platform/time/wait';
import { textField } from './event';

/** Details of an HTTP error response, stored as the `cause` of a StewardError. */
interface ApiFailure {
  status: number;
  /** The service's error type, such as `rate_limit_error`. */
  type: string;
  retryAfterMs: number | undefined;
}

/** The request that failed, for error messages. */
interface FailedRequest {
  host: string;
  what: string;
  /** Name of the setting or variable that contains the credential; undefined if no credential was sent. */
  credentialFrom: string | undefined;
  /** The current time, to convert a `retry-after` date to a delay. */
  nowMs: number;
}

const MAX_MESSAGE = 300;
const SPEND_LIMIT = 'enforced_spend_limit_reached';

/** Converts an error response to a StewardError. */
export function apiError(request: FailedRequest, answer: OriginAnswer & { text: string }): StewardError {
  const body = parseObject(answer.text);
  const problem = body?.['error'];
  const id = body?.['request_id'] ?? answer.headers['request-id'];
  const failure: ApiFailure = {
    status: answer.status,
    type: textField(problem, 'type') ?? '',
    retryAfterMs: retryAfterMs(answer.headers['retry-after'], request.nowMs),
  };
  const [kind, text, hint] = describe(request, answer, failure);
  const parts = [
    text,
    cleanLine(textField(problem, 'message') ?? '', MAX_MESSAGE),
    typeof id === 'string' && /^[\w-]{1,80}$/.test(id) ? `(request ${id})` : '',
  ];
  return new StewardError(kind, parts.filter((part) => part !== '').join(' '), { hint, cause: failure });
}

type Description = [kind: ErrorKind, text: string, hint: string];

function describe({ host, what, credentialFrom }: FailedRequest, answer: OriginAnswer, { status, type }: ApiFailure): Description {
  if (status >= 300 && status < 400)
    return ['unavailable', `${host} redirected the request for ${what} (${status}); steward does not forward credentials.`, 'Set agents.managed.url to the final address.'];
  if ((answer.headers['content-type'] ?? '').includes('html')) return notApi(host, status);
  switch (status) {
    case 401:
      return credentialFrom === undefined
        ? ['auth', `${host} requires a credential (401).`, 'Set a credential: steward config set agents.managed.apiKey env:ANTHROPIC_API_KEY']
        : ['auth', `${host} rejected the credential from ${credentialFrom} (401).`, 'The credential may be expired or revoked. Set a new one.'];
    case 402:
      return ['unavailable', `${host} requires payment (402).`, "Check your account's billing."];
    case 403:
      return ['auth', `${host} denied access to ${what} (403).`, 'Use a credential with access to managed agents.'];
    case 404:
      return [
        'not_found',
        what.startsWith('a new ') ? `${host} cannot create ${what}: unknown agent or environment (404).` : `${host} has no ${clean(what)} (404).`,
        'Check the id, and whether it belongs to another workspace.',
      ];
    case 409:
      return ['conflict', `${host} reports a conflict for ${what} (409).`, 'Check the current state, then try again.'];
    case 413:
      return ['usage', `${host} rejected ${what} as too large (413).`, 'Send less data.'];
    case 429:
      return type === SPEND_LIMIT
        ? ['unavailable', 'Your organization has reached its spend limit (429).', 'Raise the limit, or wait until it resets.']
        : ['unavailable', `${host} is limiting your requests (429).`, 'Try again in a minute.'];
  }
  return status >= 500
    ? ['unavailable', `${host} returned a server error (${status}).`, 'Try again in a few minutes.']
    : ['conflict', `${host} rejected ${what} (${status}).`, 'Fix the reported problem.'];
} // prettier-ignore

function notApi(host: string, status: number): Description {
  return [
    'unavailable',
    `${host} does not respond like the managed-agents API (status ${status}, no JSON).`,
    'Check agents.managed.url, and look for a proxy or sign-in page.',
  ];
}

/** Returns the error for a response that isn't from the API. */
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

/**
 * Returns whether the error means that the service can't list events. The API specification requires only an
 * event stream.
 */
export function isNotServed(error: unknown): boolean {
  return [404, 405, 501].includes(failureOf(error)?.status ?? 0);
}

/**
 * Returns whether a retry may succeed. 4xx responses are final, except timeouts, conflicts and rate limits.
 */
export function isTransient(error: unknown): boolean {
  if (networkFailureOf(error) !== undefined) return true;
  const failure = failureOf(error);
  if (failure === undefined || failure.type === SPEND_LIMIT) return false;
  return failure.status >= 500 || [408, 409, 429].includes(failure.status);
}

/** Returns whether a failed POST may have had side effects. */
export function mayHaveSideEffects(error: unknown): boolean {
  const network = networkFailureOf(error);
  if (network !== undefined) return network.sent;
  const status = failureOf(error)?.status;
  return status === 408 || (status !== undefined && status >= 500);
}

/** Returns true only if a failed POST definitely had no side effects; false for unknown errors. */
export function hasNoSideEffects(error: unknown): boolean {
  const isKnown = failureOf(error) !== undefined || networkFailureOf(error) !== undefined;
  return isKnown && !mayHaveSideEffects(error);
}

export const TIMING = {
  /** Pause before the first retry. Each further retry doubles the pause. */
  firstPauseMs: 500,
  longestPauseMs: 10_000,
  /** Maximum number of attempts per request. */
  tries: 5,
  /** How long to keep reconnecting to a session. */
  patienceMs: 15 * 60_000,
  /** How long a stream may be silent before it is reopened. */
  silenceMs: 45_000,
  /** Maximum time between two reads of the history. */
  rereadMs: 30_000,
  /** How long to wait for an event from the stream to appear in the history. */
  lagMs: 5_000,
  /** Minimum and maximum pause between history reads while events arrive. */
  paceMs: [100, 1000] as readonly [number, number],
};

/** Timeouts and pauses, in ms. */
export type Timing = Readonly<typeof TIMING>;

/** Total time after which failed work is no longer retried. */
const SLOW_MS = 45_000;
/** How many times to check for side effects, which may become visible only after a delay. */
const EFFECT_CHECKS = 3;

export interface RetryDeps {
  clock: Clock;
  timing: Timing;
  signal?: AbortSignal | undefined;
}

/**
 * Pauses before a retry. The pause grows exponentially with jitter, and is longer if the service requests it.
 */
export async function pause({ timing, signal }: RetryDeps, failures: number, error?: unknown): Promise<void> {
  const grown = Math.min(timing.firstPauseMs * 2 ** Math.min(failures, 20), timing.longestPauseMs);
  const retryAfterMs = failureOf(error)?.retryAfterMs ?? 0;
  await wait(Math.max(grown * (0.75 + Math.random() / 4), Math.min(retryAfterMs, timing.patienceMs)), signal);
}

/** Runs idempotent work and retries transient failures, with at most `timing.tries` attempts. */
export async function repeated<T>(deps: RetryDeps, work: () => Promise<T>): Promise<T> {
  const started = deps.clock.monotonic();
  for (let failures = 0; ; failures += 1) {
    try {
      return await work();
    } catch (error) {
      const isSlow = deps.clock.monotonic() - started > SLOW_MS;
      if (!isTransient(error) || failures + 1 >= deps.timing.tries || isSlow) throw error;
      await pause(deps, failures, error);
    }
  }
}

/**
 * Runs non-idempotent work so that it takes effect exactly once. After a failure that may have had side
 * effects, calls `findEffect` to look for the result before retrying.
 */
export async function once<T>(
  deps: RetryDeps,
  work: () => Promise<T>,
  findEffect: () => Promise<T | undefined>,
  mayHaveEffect: (error: unknown) => boolean,
): Promise<T> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await work();
    } catch (error) {
      for (let check = 0; check < EFFECT_CHECKS && mayHaveEffect(error); check += 1) {
        await pause(deps, check);
        const found = await repeated(deps, findEffect);
        if (found !== undefined) return found;
      }
      if (!isTransient(error) || failures + 1 >= deps.timing.tries) throw error;
      await pause(deps, failures, error);
    }
  }
}
