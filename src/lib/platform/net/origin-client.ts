import type { Dispatcher } from 'undici';

import { StewardError } from '../../errors';
import {
  openDispatcher,
  requireEncryption,
  type DispatcherOptions,
  codeOf,
  networkError,
} from './network-failure';

interface OriginRequest {
  method: 'GET' | 'POST' | 'PUT';
  /** Path relative to the base URL, such as `/v1/sessions`. May be empty. */
  path: string;
  query?: readonly (readonly [string, string])[];
  headers?: Readonly<Record<string, string>>;
  /** Request body, sent as JSON. */
  body?: unknown;
  signal?: AbortSignal | undefined;
}

interface Bounds {
  /** Timeout for the whole request, including the response body. */
  timeoutMs: number;
  /** Maximum size of the response body. A larger body throws `unavailable` with code `TOO_LARGE`. */
  maxBytes: number;
  /** Whether to truncate a larger body instead of throwing. */
  cut?: boolean;
}

export interface OriginAnswer {
  status: number;
  /** Header names are lower-case. */
  headers: Readonly<Record<string, string>>;
}

/** A complete response. The body of a failure is limited to 64 KiB. */
export interface WholeAnswer extends OriginAnswer {
  bytes: Buffer;
  /** The body, decoded as UTF-8. */
  text: string;
}

/** A response whose body arrives in chunks. `close` closes the connection. */
export interface OriginStream extends OriginAnswer {
  chunks: AsyncIterator<Uint8Array>;
  close: () => void;
}

interface OriginWords {
  /** The hint to show if no response arrives. */
  hint: string;
  /** Text before the host in messages, such as `The speech provider at`. */
  name?: string;
}

const ERROR_BYTES = 64 * 1024;
/** Maximum time between two chunks of a stream. Stream readers set shorter limits themselves. */
const LONGEST_SILENCE_MS = 900_000;
/** Loads the HTTP library. Its clients share a connection pool. */
export async function loadHttp(options: DispatcherOptions = {}) {
  const [{ request }, dispatcher] = await Promise.all([import('undici'), openDispatcher(options)]);
  return {
    /** Throws `config` if the URL uses plain HTTP, unless the host is localhost. */
    origin: (base: string, words: OriginWords) =>
      originClient((url, init) => request(url, { ...init, dispatcher }), base, words),
    /** Closes all connections immediately. */
    close: () => dispatcher.destroy(),
  };
}

export type HttpLibrary = Awaited<ReturnType<typeof loadHttp>>;

/** A client with its own connections. */
export type OwnOrigin = OriginClient & Pick<HttpLibrary, 'close'>;

export async function openOrigin(
  base: string,
  words: OriginWords,
  options: DispatcherOptions = {},
): Promise<OwnOrigin> {
  const { origin, close } = await loadHttp(options);
  return { ...origin(base, words), close };
}

type Send = (
  url: URL,
  init: Omit<Dispatcher.RequestOptions, 'origin' | 'path'>,
) => Promise<Dispatcher.ResponseData>;

interface Server {
  root: URL;
  send: Send;
  words: OriginWords;
}

/**
 * Returns a client for one server. Accepts any HTTP status; throws `unavailable`, caused by a `NetworkFailure`, if
 * there is no response. Follows no redirects, so that credentials can't leak.
 */
function originClient(send: Send, base: string, words: OriginWords) {
  const server = { root: new URL(base), send, words };
  requireEncryption(server.root);
  return {
    host: server.root.host,
    request: (wanted: OriginRequest & Bounds) => wholeAnswer(server, wanted),
    /** Returns the response once its headers have arrived. Throws if this takes longer than `timeoutMs`. */
    stream: (wanted: OriginRequest & { timeoutMs: number }) => openStream(server, wanted),
  };
}

export type OriginClient = ReturnType<typeof originClient>;

async function wholeAnswer(server: Server, wanted: OriginRequest & Bounds): Promise<WholeAnswer> {
  const limit = AbortSignal.timeout(wanted.timeoutMs);
  const signal = wanted.signal === undefined ? limit : AbortSignal.any([wanted.signal, limit]);
  const { timeoutMs } = wanted;
  try {
    const answer = await ask(server, wanted, { headersTimeout: timeoutMs, bodyTimeout: timeoutMs, signal });
    const status = answer.statusCode;
    const isSuccess = status >= 200 && status < 300;
    const bytes = await bodyOf(answer.body, isSuccess ? wanted : { maxBytes: ERROR_BYTES, cut: true });
    const headers = plain(answer.headers);
    return {
      status,
      headers,
      bytes,
      // Decoded on demand, because the body may be megabytes of audio.
      get text() {
        return bytes.toString('utf8');
      },
    };
  } catch (error) {
    throw failed(server, error, wanted.signal, limit.aborted);
  }
}

async function openStream(
  server: Server,
  wanted: OriginRequest & { timeoutMs: number },
): Promise<OriginStream> {
  const { signal, timeoutMs } = wanted;
  const orFail = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw failed(server, error, signal, false);
    });
  const timeouts = { headersTimeout: timeoutMs, bodyTimeout: LONGEST_SILENCE_MS };
  const { statusCode, headers, body } = await orFail(ask(server, wanted, { ...timeouts, signal }));
  const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  // Handle the error that the body emits if the caller closes the stream early.
  body.on('error', () => body.destroy());
  return {
    status: statusCode,
    headers: plain(headers),
    chunks: { next: () => orFail(chunks.next()) },
    close: () => {
      body.destroy();
    },
  };
}

async function ask(
  { root, send }: Server,
  wanted: OriginRequest,
  limits: { headersTimeout: number; bodyTimeout: number; signal: AbortSignal | undefined },
): Promise<Dispatcher.ResponseData> {
  const body = wanted.body === undefined ? null : JSON.stringify(wanted.body);
  return send(addressOf(root, wanted), {
    method: wanted.method,
    ...limits,
    headers: {
      'user-agent': 'steward',
      ...wanted.headers,
      ...(body === null ? {} : { 'content-type': 'application/json' }),
    },
    body,
  });
}

function failed(
  { root, words }: Server,
  error: unknown,
  signal: AbortSignal | undefined,
  timedOut: boolean,
): unknown {
  if (signal?.aborted === true) return signal.reason;
  if (error instanceof StewardError) return error;
  const name = words.name === undefined ? root.host : `${words.name} ${root.host}`;
  return networkError(name, timedOut ? 'TIMEOUT' : codeOf(error), words.hint);
}

function addressOf(root: URL, { path, query = [] }: OriginRequest): URL {
  const url = path === '' ? new URL(root) : new URL(`${root.pathname.replace(/\/$/, '')}${path}`, root);
  for (const [name, value] of query) url.searchParams.append(name, value);
  if (url.origin === root.origin) return url;
  throw new StewardError(
    'internal',
    `Blocked a request for ${root.host} that would have gone to ${url.host}.`,
    {
      hint: 'Report this as a bug.',
    },
  );
}

/** Reads a response body. Truncates a body larger than `maxBytes`, or throws with code `TOO_LARGE`. */
export async function bodyOf(
  body: AsyncIterable<Uint8Array>,
  { maxBytes, cut = false }: Pick<Bounds, 'maxBytes' | 'cut'>,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes && !cut) throw Object.assign(new Error('too large'), { code: 'TOO_LARGE' });
    if (size > maxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}

function plain(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
}
