import { gzipSync } from 'node:zlib';

import { type ErrorKind, StewardError, toStewardError, HTTP_STATUS } from '../errors';
import { crypto } from '../platform/crypto';
import type { HttpAnswer, RequestHead } from '../platform/net/http-application';
import { cleanLines } from '../platform/terminal/terminal';
import { isDay, type Day } from '../platform/time/time';
import { loopTurn } from '../platform/time/wait';

export interface RouteRequest {
  query: URLSearchParams;
  /** The parsed JSON body of a POST request; undefined if there is no body. */
  body: unknown;
  head: RequestHead;
}

export type Route = JsonRoute | RawRoute;

interface RouteBase {
  method: 'GET' | 'POST';
  path: string;
  /** Available only on the local socket. */
  isLocal?: true;
  /** Requires no token, because the response contains no data. */
  isOpen?: true;
  /** Whether requests over TCP must come from a signed-in page. Set for routes that change data. */
  needsPage?: true;
  /** Set for the route that only the browser extension may use. `admit` throws `auth` for any other. */
  extension?: { maxBytes: number; admit: (head: RequestHead) => void };
}

/**
 * A route that responds with JSON. The body is the result of `run`, which the corresponding command also
 * calls.
 */
export interface JsonRoute extends RouteBase {
  /** HTTP status of the response. Default: 200. */
  status?: number;
  /** Set if every response is different. Such responses have no ETag and aren't cached. */
  isLive?: true;
  /** Parses the parameters. Throws `usage` if one of them is invalid. */
  input?: (request: RouteRequest) => unknown;
  run: (input: never) => unknown;
}

/** A route that builds its own HTTP response, such as a page or a cached document. */
export interface RawRoute extends RouteBase {
  serve: (request: RouteRequest) => HttpAnswer | Promise<HttpAnswer>;
}

/** Returns the route unchanged. The types ensure that `run` accepts the result of `input`. */
export function route<I>(
  row: Omit<JsonRoute, 'input' | 'run'> & {
    input: (request: RouteRequest) => I;
    run: (input: I) => unknown;
  },
): JsonRoute {
  return row as JsonRoute;
}

/** Returns the `machine` parameter, which limits a response to one machine's data. */
export function machineIn(query: URLSearchParams): string | undefined {
  return query.get('machine') ?? undefined;
}

/** Returns an integer parameter, or undefined if it is missing. Throws `usage` if it isn't an integer. */
export function wholeNumber(query: URLSearchParams, name: string): number | undefined {
  const [text, second] = query.getAll(name);
  if (text === undefined) return undefined;
  if (second !== undefined) {
    throw new StewardError('usage', `Parameter ${name} appears twice.`, { hint: 'Send the parameter once.' });
  }
  if (/^-?\d{1,9}$/.test(text)) return Number(text);
  throw new StewardError('usage', `${name} must be an integer, not "${text.slice(0, 100)}".`, {
    hint: `For example: ?${name}=30`,
  });
}

/** Returns a day parameter, or undefined if it is missing. Throws `usage` if it isn't a date. */
export function dayIn(query: URLSearchParams, name: string): Day | undefined {
  const text = query.get(name);
  if (text === null || isDay(text)) return text ?? undefined;
  throw new StewardError('usage', `Invalid ${name} "${text.slice(0, 40)}".`, {
    hint: `For example: ?${name}=2026-11-20`,
  });
}

/**
 * Returns a parameter limited to the given words, or undefined if it is missing. Throws `usage` for any other
 * word.
 */
export function oneOf<T extends string>(query: URLSearchParams, name: string, words: readonly T[]) {
  const text = query.get(name);
  const word = words.find((one) => one === text);
  if (word !== undefined || text === null) return word;
  throw new StewardError('usage', `Invalid ${name} "${text.slice(0, 40)}".`, {
    hint: `Use ${words.join(', ')}.`,
  });
}

/**
 * Security headers for every response. Other origins can't embed or read responses, and browsers don't sniff
 * content types.
 */
export const SAFE_HEADERS = [
  'x-content-type-options',
  'nosniff',
  'cross-origin-resource-policy',
  'same-origin',
  'referrer-policy',
  'no-referrer',
] as const;

/**
 * Security header for data responses: the browser loads no resources, runs no scripts and allows no frames.
 */
export const DATA_POLICY = ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"] as const;

export const JSON_HEADERS: readonly string[] = [
  'content-type',
  'application/json; charset=utf-8',
  ...SAFE_HEADERS,
  ...DATA_POLICY,
];

export function refusal(
  status: number,
  kind: ErrorKind,
  message: string,
  hint: string | undefined,
  headers: readonly string[] = [],
): HttpAnswer {
  return {
    status,
    headers: [...JSON_HEADERS, 'cache-control', 'no-store', ...headers],
    body: `${JSON.stringify({ error: { kind, message, hint } })}\n`,
  };
}

/** Returns the response to a request from where none is accepted. */
export const forbidden = (message: string, hint: string): HttpAnswer => refusal(403, 'auth', message, hint);

/** Returns the response for an error. Details of internal errors go only to the log. */
export function errorAnswer(thrown: unknown): HttpAnswer {
  const known = toStewardError(thrown);
  if (known.kind === 'internal') {
    return refusal(500, 'internal', 'Internal error.', 'See "steward daemon logs".');
  }
  const { kind, message, hint } = known;
  return refusal(HTTP_STATUS[kind], kind, cleanLines(message), hint === undefined ? hint : cleanLines(hint));
}

/** A response body with its ETag and headers, computed once. */
export interface Tagged {
  body: string | Buffer;
  length: number;
  etag: string;
  headers: readonly string[];
  /** The compressed body, computed when a client first accepts it. */
  gzip?: Buffer;
}

/**
 * Computes the ETag. Browsers may cache the body but must revalidate it.
 * @param same the text from which the ETag is computed; default: the body
 */
export function tagged(body: string | Buffer, headers: readonly string[], same = body): Tagged {
  const hash = crypto().createHash('sha1').update(same).digest('base64url');
  const etag = same === body ? `"${hash}"` : `W/"${hash}"`;
  return {
    body,
    length: Buffer.byteLength(body),
    etag,
    headers: [...headers, 'cache-control', 'private, no-cache', 'etag', etag],
  };
}

/**
 * Returns the response, or a 304 if the client already has it. Compresses large responses if the client
 * accepts gzip.
 */
export function taggedAnswer(head: RequestHead, response: Tagged): HttpAnswer {
  const { body, length, etag, headers } = response;
  if (isKnown(head.headers['if-none-match'], etag)) return { status: 304, headers, body: '' };
  const isPicture = headers.includes('image/png');
  if (length <= GZIP_BYTES || isPicture || !acceptsGzip(head)) return { status: 200, headers, body, length };
  response.gzip ??= gzipSync(body, { level: GZIP_LEVEL });
  return { status: 200, headers: [...headers, ...GZIP_HEADERS], body: response.gzip };
}

const GZIP_BYTES = 8192;
/** A low compression level: most clients are on this machine, so speed matters more than size. */
const GZIP_LEVEL = 3;
const GZIP_HEADERS = ['content-encoding', 'gzip', 'vary', 'accept-encoding'] as const;

function acceptsGzip({ headers }: RequestHead): boolean {
  const accepted = headers['accept-encoding'];
  return typeof accepted === 'string' && /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|\s|$))/i.test(accepted);
}

/** Returns whether If-None-Match lists the ETag. Treats weak and strong ETags as equal. */
function isKnown(header: string | string[] | undefined, etag: string): boolean {
  if (typeof header !== 'string') return false;
  const bare = (tag: string): string => tag.trim().replace(/^W\//, '');
  return header === '*' || header.split(',').some((part) => bare(part) === bare(etag));
}

/**
 * Returns a route's dependencies, created from the current configuration. Throws `config` if the
 * configuration is invalid.
 */
export type Opened<D> = () => D | Promise<D>;

/**
 * Returns a route that caches its response until the result of `versionOf` changes.
 * @param more returns additional keys, which don't affect the ETag
 */
export function cached<D, V>(
  path: string,
  open: Opened<D>,
  versionOf: (deps: D) => V,
  valueOf: (deps: D, version: V) => unknown,
  more?: (deps: D) => object,
): RawRoute {
  let last: { deps: D; version: V; bytes: Tagged; turn: number } | undefined;
  const read = (deps: D, version: V): Tagged => {
    const text = `${JSON.stringify(valueOf(deps, version))}\n`;
    if (more === undefined) return tagged(text, JSON_HEADERS);
    return tagged(`${JSON.stringify(more(deps)).slice(0, -1)},${text.slice(1)}`, JSON_HEADERS, text);
  };
  const bytesOf = (deps: D): Tagged => {
    const version = versionOf(deps);
    const isSame = last !== undefined && last.version === version && last.deps === deps;
    const bytes = last !== undefined && isSame ? last.bytes : read(deps, version);
    last = { deps, version, bytes, turn: loopTurn() };
    return bytes;
  };
  return {
    method: 'GET',
    path,
    serve({ head }) {
      if (last?.turn === loopTurn()) return taggedAnswer(head, last.bytes);
      return Promise.resolve(open()).then((deps) => taggedAnswer(head, bytesOf(deps)));
    },
  };
}
