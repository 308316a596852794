import type { Dispatcher } from 'undici';

import { StewardError, errnoCode } from '../errors';
import { processHost } from './paths';

/** Why no whole answer came. `sent` is false when the request certainly never reached the server. */
export interface NetworkFailure {
  code: string;
  sent: boolean;
}

export interface OriginRequest {
  method: 'GET' | 'POST';
  /** From the base address on: `/v1/sessions`. */
  path: string;
  query?: readonly (readonly [string, string])[];
  headers: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  body?: unknown;
  signal?: AbortSignal;
}

export interface OriginAnswer {
  status: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
}

/** An answer whose body comes piece by piece; `close` ends its connection. */
export interface OriginStream extends OriginAnswer {
  chunks: AsyncIterator<Uint8Array>;
  close: () => void;
}

/**
 * Requests to one server (decisions.md 9): a credential in the headers goes nowhere else, plain HTTP only to this
 * machine, and no redirect is followed. Whatever keeps a whole answer from coming is `unavailable`, with a
 * `NetworkFailure` as its cause; an answer of any status is a result.
 */
export interface OriginClient {
  host: string;
  /** The whole answer; one of more than `maxBytes` is `unavailable` with the code `TOO_LARGE`. */
  request: (
    request: OriginRequest & { timeoutMs: number; maxBytes: number },
  ) => Promise<OriginAnswer & { text: string }>;
  /** The answer as soon as its headers are there; waits at most `timeoutMs` for them. */
  stream: (request: OriginRequest & { timeoutMs: number }) => Promise<OriginStream>;
  /** Ends every connection at once. */
  close: () => Promise<void>;
}

const LOOPBACK = 'localhost,127.0.0.1,::1,[::1]';
const CONNECT_MS = 10_000;
/** Whoever reads a stream judges its silence earlier. */
const LONGEST_SILENCE_MS = 900_000;
/** Failures of before the request was written. */
const NOT_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Loads the HTTP library, which costs some 30 ms. The proxies of the environment are honoured. */
export async function openOrigin(base: string): Promise<OriginClient> {
  const root = new URL(base);
  if (root.protocol !== 'https:' && !isLoopback(root.hostname)) {
    throw new StewardError('config', `${root.hostname} is to be reached without encryption.`, {
      hint: 'Use an https:// address; http:// is for this machine only.',
    });
  }
  const { EnvHttpProxyAgent, request } = await import('undici');
  const { env } = processHost();
  const noProxy = [env['no_proxy'] ?? env['NO_PROXY'], LOOPBACK].filter((text) => (text ?? '') !== '');
  const dispatcher = new EnvHttpProxyAgent({
    noProxy: noProxy.join(','),
    connect: { timeout: CONNECT_MS },
    // A kept connection that the server has closed meanwhile looks like a request that was lost.
    keepAliveTimeout: 2000,
  });
  const host = root.host;
  const send = async (
    wanted: OriginRequest,
    timeouts: { headersTimeout: number; bodyTimeout: number },
    signal: AbortSignal | undefined,
  ): Promise<Dispatcher.ResponseData> => {
    const url = new URL(`${root.pathname.replace(/\/$/, '')}${wanted.path}`, root);
    for (const [name, value] of wanted.query ?? []) url.searchParams.append(name, value);
    return request(url, {
      method: wanted.method,
      dispatcher,
      ...timeouts,
      ...(signal === undefined ? {} : { signal }),
      headers: {
        ...wanted.headers,
        ...(wanted.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(wanted.body === undefined ? {} : { body: JSON.stringify(wanted.body) }),
    });
  };
  return {
    host,
    request: async (wanted) => {
      const limit = AbortSignal.timeout(wanted.timeoutMs);
      const signal = wanted.signal === undefined ? limit : AbortSignal.any([wanted.signal, limit]);
      const timeouts = { headersTimeout: wanted.timeoutMs, bodyTimeout: wanted.timeoutMs };
      try {
        const answer = await send(wanted, timeouts, signal);
        const text = await wholeBody(answer.body, wanted.maxBytes);
        return { status: answer.statusCode, headers: plain(answer.headers), text };
      } catch (error) {
        throw failed(host, error, wanted.signal, limit.aborted);
      }
    },
    stream: async (wanted) => {
      try {
        const timeouts = { headersTimeout: wanted.timeoutMs, bodyTimeout: LONGEST_SILENCE_MS };
        const answer = await send(wanted, timeouts, wanted.signal);
        const { body } = answer;
        // Closing it early is no error of anybody's.
        body.on('error', () => body.destroy());
        return {
          status: answer.statusCode,
          headers: plain(answer.headers),
          chunks: told(body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>, host, wanted.signal),
          close: () => {
            body.destroy();
          },
        };
      } catch (error) {
        throw failed(host, error, wanted.signal, false);
      }
    },
    close: () => dispatcher.destroy(),
  };
}

/** What kept an answer from coming; undefined for errors of another kind. */
export function networkFailureOf(error: unknown): NetworkFailure | undefined {
  const cause = error instanceof StewardError ? error.cause : undefined;
  return typeof cause === 'object' && cause !== null && 'sent' in cause && 'code' in cause
    ? (cause as NetworkFailure)
    : undefined;
}

async function wholeBody(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) throw Object.assign(new Error('too large'), { code: 'TOO_LARGE' });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The same pieces, with errors in our words. */
function told(
  chunks: AsyncIterator<Uint8Array>,
  host: string,
  signal: AbortSignal | undefined,
): AsyncIterator<Uint8Array> {
  return {
    next: async () => {
      try {
        return await chunks.next();
      } catch (error) {
        throw failed(host, error, signal, false);
      }
    },
  };
}

function failed(host: string, error: unknown, signal: AbortSignal | undefined, timedOut: boolean): unknown {
  if (signal?.aborted === true) return signal.reason;
  const code = timedOut ? 'TIMEOUT' : (errnoCode(error) ?? nameOf(error));
  const cause: NetworkFailure = { code, sent: !NOT_SENT.has(code) };
  return new StewardError('unavailable', `${host} ${words(code)}.`, {
    hint: 'Check the network, and that agents.managed.url is right.',
    cause,
  });
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'Error';
}

function words(code: string): string {
  if (code.includes('TIMEOUT')) return 'did not answer in time';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'is not known: no address was found for it';
  if (code === 'ECONNREFUSED') return 'refused the connection';
  if (code === 'ECONNRESET' || code === 'UND_ERR_SOCKET' || code === 'EPIPE') {
    return 'closed the connection before its answer was whole';
  }
  if (code === 'TOO_LARGE') return 'sent an answer that is too large';
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO/.test(code)) return `has no certificate to trust (${code})`;
  return `cannot be reached (${code})`;
}

function plain(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
}

export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
