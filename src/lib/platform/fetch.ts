import { StewardError } from '../errors';

/** A fetch that is bound to one origin. */
export type BoundFetch = (url: string, init?: RequestInit) => Promise<Response>;

export interface BoundFetchOptions {
  /** `https://api.github.com`: a request to anywhere else is not sent. */
  origin: string;
  /** The whole of a request, its answer included, ms. */
  timeoutMs: number;
  /** Where HTTPS_PROXY and its kin stand. */
  env: NodeJS.ProcessEnv;
}

/**
 * A fetch for requests that carry a credential (decisions.md 9): it goes to one origin only, plain HTTP only to
 * this machine, through the proxy that the environment names, follows no redirect, and reads the answer to its
 * end, so that a connection that breaks in the middle is an error and not a short answer.
 */
export function boundFetch(options: BoundFetchOptions): BoundFetch {
  let sender: Promise<BoundFetch> | undefined;
  return async (url, init = {}) => {
    const target = new URL(url);
    if (target.origin !== options.origin) {
      throw new StewardError('unavailable', `A request for ${options.origin} was sent on to another place.`, {
        hint: 'Nothing was sent there. Look at what answers in the place of the service.',
      });
    }
    sender ??= senderFor(options.env);
    const limit = AbortSignal.timeout(options.timeoutMs);
    const signal =
      init.signal === undefined || init.signal === null ? limit : AbortSignal.any([init.signal, limit]);
    const answer = await (await sender)(url, { ...init, redirect: 'manual', signal });
    const body = await answer.arrayBuffer();
    const { status, statusText, headers } = answer;
    return new Response(body.byteLength === 0 ? null : body, { status, statusText, headers });
  };
}

async function senderFor(env: NodeJS.ProcessEnv): Promise<BoundFetch> {
  const proxies = proxiesOf(env);
  if (proxies === undefined) return fetch;
  const { EnvHttpProxyAgent, fetch: through } = await import('undici');
  const dispatcher = new EnvHttpProxyAgent(proxies);
  // The types of the library and of Node's own fetch say the same in different words.
  return (url, init) =>
    through(url, { ...init, dispatcher } as Parameters<typeof through>[1]) as unknown as Promise<Response>;
}

function proxiesOf(
  env: NodeJS.ProcessEnv,
): { httpProxy?: string; httpsProxy?: string; noProxy?: string } | undefined {
  const of = (name: string): string | undefined => {
    const value = env[name.toLowerCase()] ?? env[name] ?? '';
    // Other kinds of proxies (SOCKS) are not spoken here.
    return name === 'NO_PROXY' || /^https?:\/\//i.test(value) ? value : undefined;
  };
  const all = of('ALL_PROXY');
  const httpProxy = of('HTTP_PROXY') ?? all;
  const httpsProxy = of('HTTPS_PROXY') ?? all;
  const noProxy = of('NO_PROXY') ?? '';
  if (httpProxy === undefined && httpsProxy === undefined) return undefined;
  return {
    ...(httpProxy === undefined ? {} : { httpProxy }),
    ...(httpsProxy === undefined ? {} : { httpsProxy }),
    noProxy,
  };
}
