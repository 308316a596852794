import { StewardError } from '../../errors';
import { codeOf, networkError, openDispatcher, requireEncryption } from './network-failure';
import { bodyOf } from './origin-client';

/** A `fetch` limited to one origin. */
export type BoundFetch = (url: string, init?: RequestInit) => Promise<Response>;

interface BoundFetchOptions {
  /** The only allowed origin, such as `https://api.github.com`. */
  origin: string;
  /** Timeout for the whole request, including the response body. */
  timeoutMs: number;
  /** Maximum size of the response body. A larger body throws an error with code `TOO_LARGE`. */
  maxBytes: number;
  /** Environment with the proxy variables. */
  env: NodeJS.ProcessEnv;
}

/**
 * Returns a `fetch` limited to one origin, without redirects. Allows plain HTTP only for localhost. Reads the
 * complete body, so that a broken connection throws instead of truncating the body.
 */
export function boundFetch(options: BoundFetchOptions): BoundFetch {
  let sender: Promise<BoundFetch> | undefined;
  return async (url, init = {}) => {
    const target = new URL(url);
    if (target.origin !== options.origin) {
      throw new StewardError(
        'unavailable',
        `A request to ${options.origin} was redirected to another server.`,
        {
          hint: "steward did not follow the redirect. Check the server's address.",
        },
      );
    }
    requireEncryption(target);
    sender ??= senderFor(options.env);
    const limit = AbortSignal.timeout(options.timeoutMs);
    const signal =
      init.signal === undefined || init.signal === null ? limit : AbortSignal.any([init.signal, limit]);
    const answer = await (await sender)(url, { ...init, redirect: 'manual', signal });
    const body = await bodyOf((answer.body ?? []) as unknown as AsyncIterable<Uint8Array>, options);
    const { status, statusText, headers } = answer;
    return new Response(body.length === 0 ? null : new Uint8Array(body), { status, statusText, headers });
  };
}

async function senderFor(env: NodeJS.ProcessEnv): Promise<BoundFetch> {
  const [{ fetch }, dispatcher] = await Promise.all([import('undici'), openDispatcher({ env })]);
  // The HTTP library's types match Node's but have different names, so cast them.
  return (url, init) =>
    fetch(url, { ...init, dispatcher } as Parameters<typeof fetch>[1]) as unknown as Promise<Response>;
}

const TIMEOUT_MS = 8_000;
const MAX_BYTES = 1024 * 1024;

export interface UrlAnswer {
  status: number;
  headers: Headers;
  text: string;
}

export type GetUrl = (url: string, headers?: Record<string, string>) => Promise<UrlAnswer>;

/**
 * Sends a GET request without following redirects. An `unavailable` error names only the host, because the
 * rest of the URL may contain secrets.
 */
export async function getUrl(
  env: NodeJS.ProcessEnv,
  url: string,
  headers: Record<string, string> = {},
): Promise<UrlAnswer> {
  const { origin, hostname } = new URL(url);
  const send = boundFetch({ origin, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, env });
  try {
    const answer = await send(url, { headers: { ...headers, 'user-agent': 'steward' } });
    const text = (await answer.text()).slice(0, 64 * 1024);
    return { status: answer.status, headers: answer.headers, text };
  } catch (error) {
    if (error instanceof StewardError) throw error;
    const hint = 'Check the network and the address.';
    throw networkError(hostname, codeOf(innermost(error)), hint);
  }
}

function innermost(error: unknown): unknown {
  let at = error;
  for (let depth = 0; at instanceof Error && depth < 8; depth += 1) {
    const cause: unknown = at instanceof AggregateError ? at.errors[0] : at.cause;
    if (!(cause instanceof Error)) break;
    at = cause;
  }
  return at;
}
