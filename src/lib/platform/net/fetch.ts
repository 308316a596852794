import { StewardError } from '../../errors';
import { openDispatcher, requireEncryption } from './network-failure';
import { bodyOf, openOrigin, type WholeAnswer } from './origin-client';

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

const LIMITS = { timeoutMs: 8_000, maxBytes: 1024 * 1024 };

export type UrlAnswer = Pick<WholeAnswer, 'status' | 'headers' | 'text'>;

export type GetUrl = (url: string, headers?: Record<string, string>) => Promise<UrlAnswer>;

/**
 * Sends a GET request without following redirects. An `unavailable` error names only the host, because the
 * rest of the URL may contain secrets.
 */
export async function getUrl(
  env: NodeJS.ProcessEnv,
  url: string,
  headers: Record<string, string> = {},
  limits = LIMITS,
): Promise<UrlAnswer> {
  const server = await openOrigin(url, { hint: 'Check the network and the address.' }, { env });
  try {
    return await server.request({ method: 'GET', path: '', headers, ...limits });
  } finally {
    await server.close();
  }
}
