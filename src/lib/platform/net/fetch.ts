import { StewardError } from '../../errors';
import { openDispatcher, refusePlain } from './network-failure';
import { bodyOf } from './origin-client';

/** A fetch that is bound to one origin. */
export type BoundFetch = (url: string, init?: RequestInit) => Promise<Response>;

export interface BoundFetchOptions {
  /** `https://api.github.com`: a request to anywhere else is not sent. */
  origin: string;
  /** The whole of a request, its answer included, ms. */
  timeoutMs: number;
  /** Of an answer's body; a longer one is not read to its end, but an error with the code `TOO_LARGE`. */
  maxBytes: number;
  /** Where HTTPS_PROXY and its kin stand. */
  env: NodeJS.ProcessEnv;
}

/**
 * The form of `OriginClient` that a library wants which calls `fetch`: it goes to one origin only, plain HTTP only to
 * this machine, through the proxy that the environment names, follows no redirect, and reads the answer to its end
 * within its bounds, so that a connection that breaks in the middle is an error and not a short answer.
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
    refusePlain(target);
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
  // The types of the library and of Node's own fetch say the same in different words.
  return (url, init) =>
    fetch(url, { ...init, dispatcher } as Parameters<typeof fetch>[1]) as unknown as Promise<Response>;
}
