import { StewardError } from '../errors';
import type { HttpAnswer, RequestHead } from '../platform/net/http-application';

/** What a route's `input` reads from. */
export interface RouteRequest {
  query: URLSearchParams;
  /** The parsed JSON of a POST; undefined without a body. */
  body: unknown;
  head: RequestHead;
}

/** One row of the table: what the daemon answers at a path (decisions.md 8). */
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
