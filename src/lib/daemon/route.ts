import { createHash } from 'node:crypto';

import { type ErrorKind, StewardError, errorBody, toStewardError } from '../errors';
import type { HttpAnswer, RequestHead } from '../platform/net/http-application';
import { cleanLines } from '../platform/terminal/terminal';

/** What a route's `input` reads from. */
export interface RouteRequest {
  query: URLSearchParams;
  /** The parsed JSON of a POST; undefined without a body. */
  body: unknown;
  head: RequestHead;
}

/** One row of the table: what the daemon answers at a path . */
export type Route = JsonRoute | RawRoute;

interface RouteBase {
  method: 'GET' | 'POST';
  /** Exact, without a query. */
  path: string;
  /** Only over the local socket: elsewhere there is no such path. */
  isLocal?: true;
  /** Public: answered without a token, since it holds no data. */
  isOpen?: true;
}

/** `run` is the function that the command calls; what it returns is the body. */
export interface JsonRoute extends RouteBase {
  /** 200 unless told. */
  status?: number;
  /** Never kept by a browser, and without an ETag: it differs at every call. */
  isLive?: true;
  /** Throws `usage`, naming the parameter; without it no parameter is taken. */
  input?: (request: RouteRequest) => unknown;
  run: (input: never) => unknown;
}

/** Answers in bytes: pages, and values whose bytes are kept. */
export interface RawRoute extends RouteBase {
  serve: (request: RouteRequest) => HttpAnswer | Promise<HttpAnswer>;
}

/** Types a row: `run` is given what `input` returns. */
export function route<I>(
  row: Omit<JsonRoute, 'input' | 'run'> & {
    input: (request: RouteRequest) => I;
    run: (input: I) => unknown;
  },
): JsonRoute {
  return row as JsonRoute;
}

/** A whole number in a query; undefined when it is not given. Given twice, or anything else, it is `usage`. */
export function wholeNumber(query: URLSearchParams, name: string): number | undefined {
  const [text, second] = query.getAll(name);
  if (text === undefined) return undefined;
  if (second !== undefined) {
    throw new StewardError('usage', `The parameter ${name} is given twice.`, { hint: 'Give it once.' });
  }
  if (/^-?\d{1,9}$/.test(text)) return Number(text);
  throw new StewardError('usage', `${name} must be a whole number, not "${text.slice(0, 100)}".`, {
    hint: `Such as: ?${name}=30`,
  });
}

/** HTTP statuses by error kind. */
export const HTTP_STATUS: Readonly<Record<ErrorKind, number>> = {
  usage: 400,
  config: 500,
  auth: 401,
  not_found: 404,
  conflict: 409,
  locked: 423,
  unavailable: 503,
  canceled: 499,
  internal: 500,
};

/** Sent with every answer: nobody else may embed or read it, and nobody guesses its type. */
export const SAFE_HEADERS = [
  'x-content-type-options',
  'nosniff',
  'cross-origin-resource-policy',
  'same-origin',
  'referrer-policy',
  'no-referrer',
] as const;

/** Of what is no page: should a browser show it, it loads and runs nothing, and stands in nobody's frame. */
export const DATA_POLICY = ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"] as const;

export const JSON_HEADERS: readonly string[] = [
  'content-type',
  'application/json; charset=utf-8',
  ...SAFE_HEADERS,
  ...DATA_POLICY,
];

/** An answer of the protocol itself, in the one shape of an error. */
export function refusal(
  status: number,
  kind: ErrorKind,
  message: string,
  hint: string,
  headers: readonly string[] = [],
): HttpAnswer {
  return {
    status,
    headers: [...JSON_HEADERS, 'cache-control', 'no-store', ...headers],
    body: `${JSON.stringify({ error: { kind, message, hint } })}\n`,
  };
}

/** Any thrown value as an answer. What nobody foresaw is told in the log, not to whoever asks. */
export function errorAnswer(thrown: unknown): HttpAnswer {
  const known = toStewardError(thrown);
  if (known.kind === 'internal') {
    return refusal(500, 'internal', 'Something went wrong in steward.', 'See "steward daemon logs".');
  }
  const { error } = errorBody(known);
  const shown = {
    ...error,
    message: cleanLines(error.message),
    ...(error.hint === undefined ? {} : { hint: cleanLines(error.hint) }),
  };
  return {
    status: HTTP_STATUS[known.kind],
    headers: [...JSON_HEADERS, 'cache-control', 'no-store'],
    body: `${JSON.stringify({ error: shown })}\n`,
  };
}

/** A body with the headers that its ETag is in, made once and sent often. */
export interface Tagged {
  body: string | Buffer;
  length: number;
  etag: string;
  headers: readonly string[];
}

/** A browser may keep it, and asks each time whether it is still the same. */
export function tagged(body: string | Buffer, headers: readonly string[]): Tagged {
  const etag = `"${createHash('sha1').update(body).digest('base64url')}"`;
  return {
    body,
    length: Buffer.byteLength(body),
    etag,
    headers: [...headers, 'cache-control', 'private, no-cache', 'etag', etag],
  };
}

/** 304 when the client has these bytes already. */
export function taggedAnswer(head: RequestHead, { body, length, etag, headers }: Tagged): HttpAnswer {
  return isKnown(head.headers['if-none-match'], etag)
    ? { status: 304, headers, body: '' }
    : { status: 200, headers, body, length };
}

function isKnown(header: string | string[] | undefined, etag: string): boolean {
  if (typeof header !== 'string') return false;
  if (header === etag || header === '*') return true;
  return header.split(',').some((part) => part.trim().replace(/^W\//, '') === etag);
}
