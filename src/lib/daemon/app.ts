import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';

import { StewardError, toStewardError } from '../errors';
import type { Application, HttpAnswer, RequestHead } from '../platform/net/http-application';
import type { Gate } from './gate';
import { guard, type GuardPolicy } from './guards';
import { errorAnswer, JSON_HEADERS, refusal } from './http-error';
import { type JsonRoute, type Route, type RouteRequest } from './route';

export interface AppDeps {
  routes: readonly Route[];
  policy: GuardPolicy;
  /** Of requests over TCP; the local socket is this user's own. */
  gate: Pick<Gate, 'isRequired' | 'hasKey'>;
  /** Other users of this machine are answered over TCP without a token, too. */
  otherUsers: boolean;
  /** Told of every fault that is answered with 5xx. */
  onFault: (head: Pick<RequestHead, 'method' | 'target'>, error: StewardError) => void;
}

const NO_QUERY = new URLSearchParams();

/** The daemon without its sockets: requests in, answers out. Whatever a route throws becomes an answer. */
export function daemonApp(deps: AppDeps): Application {
  const table = new Map<string, Map<string, Route>>();
  for (const row of deps.routes) {
    const rows = table.get(row.path) ?? new Map<string, Route>();
    if (rows.has(row.method)) {
      throw new StewardError('internal', `Two routes answer ${row.method} ${row.path}.`);
    }
    table.set(row.path, rows.set(row.method, row));
  }

  const find = (head: RequestHead): Route | HttpAnswer => {
    const rows = table.get(pathOf(head.target));
    const wanted = head.method === 'HEAD' ? 'GET' : head.method;
    const found = rows?.get(wanted);
    if (found !== undefined && (head.isLocal || found.isLocal !== true)) return found;
    const reachable =
      rows === undefined ? [] : [...rows.values()].filter((row) => head.isLocal || row.isLocal !== true);
    if (reachable.length === 0) {
      return refusal(404, 'not_found', 'There is nothing at this address.', 'See "steward daemon status".');
    }
    const allowed = reachable
      .flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
      .join(', ');
    const message = `${head.method.slice(0, 20)} is not understood here.`;
    return refusal(405, 'usage', message, `Use ${allowed}.`, ['allow', allowed]);
  };

  const admit: Application['admit'] = (head) => {
    const refused = guard(head, deps.policy);
    if (refused !== undefined) {
      return refusal(
        refused.status,
        refused.status === 403 ? 'auth' : 'usage',
        refused.message,
        refused.hint,
      );
    }
    const found = find(head);
    const unfit = (): HttpAnswer | undefined => ('headers' in found ? found : encodingRefusal(head));
    const closed = head.isLocal ? undefined : accessRefusal(deps, head, isOpen(found));
    return closed instanceof Promise ? closed.then((later) => later ?? unfit()) : (closed ?? unfit());
  };

  const fault = (head: RequestHead, error: unknown): HttpAnswer => {
    const answer = errorAnswer(error);
    if (answer.status >= 500) deps.onFault(head, toStewardError(error));
    return answer;
  };

  return {
    admit,
    answer(head, body) {
      try {
        const row = find(head);
        if ('headers' in row) return row;
        const request = requestOf(head, body);
        const answer = 'serve' in row ? row.serve(request) : runJson(row, request);
        return answer instanceof Promise ? answer.catch((error: unknown) => fault(head, error)) : answer;
      } catch (error) {
        return fault(head, error);
      }
    },
    refuse(status, cause) {
      const [message, hint] = REFUSED.get(status) ?? BAD;
      if (status < 500) return refusal(status, 'usage', message, hint);
      deps.onFault({ method: '', target: '' }, toStewardError(cause));
      return errorAnswer(new StewardError('internal', 'unknown'));
    },
  };
}

/** What a request over TCP is refused with: a key opens everything, and this user needs one only where it is required. */
function accessRefusal(
  { gate, otherUsers }: AppDeps,
  head: RequestHead,
  isOpen: boolean,
): HttpAnswer | undefined | Promise<HttpAnswer | undefined> {
  if (gate.hasKey(head)) return undefined;
  const keyless = gate.isRequired && !isOpen ? NO_TOKEN : undefined;
  if (otherUsers) return keyless;
  const isOther = head.isOtherUser();
  return isOther instanceof Promise
    ? isOther.then((later) => (later ? OTHER_USER : keyless))
    : isOther
      ? OTHER_USER
      : keyless;
}

function encodingRefusal({ headers }: RequestHead): HttpAnswer | undefined {
  const encoding = headers['content-encoding'];
  if (encoding === undefined || encoding === 'identity') return undefined;
  return refusal(
    415,
    'usage',
    'A body is taken as it is, not compressed.',
    'Send it without content-encoding.',
  );
}

const OTHER_USER = refusal(
  403,
  'auth',
  'The request comes from another user of this machine.',
  'Send the token of the daemon, or allow other users: steward config set daemon.otherUsers true.',
);

const NO_TOKEN = refusal(
  401,
  'auth',
  'This daemon requires a token.',
  'Open the pages with "steward open"; programs send the token as Authorization: Bearer.',
  ['www-authenticate', 'Bearer realm="steward"'],
);

const BAD = ['The request is not HTTP as it should be.', 'Send it again.'] as const;
const REFUSED: ReadonlyMap<number, readonly [string, string]> = new Map([
  [408, ['The request did not come in time.', 'Send it within ten seconds.']],
  [413, ['The body is too large.', 'Send 64 KiB at most.']],
  [417, ['What the request expects is not understood.', 'Send it without the header Expect.']],
  [431, ['There are too many headers, or they are too long.', 'Send fewer.']],
]);

function isOpen(found: Route | HttpAnswer): boolean {
  return !('headers' in found) && found.isOpen === true;
}

function pathOf(target: string): string {
  const mark = target.indexOf('?');
  return mark === -1 ? target : target.slice(0, mark);
}

function requestOf(head: RequestHead, body: Buffer): RouteRequest {
  const mark = head.target.indexOf('?');
  const query = mark === -1 ? NO_QUERY : new URLSearchParams(head.target.slice(mark + 1));
  if (head.method !== 'POST') return { head, query, body: undefined };
  for (const name of query.keys()) {
    throw new StewardError('usage', `There is no parameter "${name.slice(0, 100)}" here.`, {
      hint: 'Send it in the body, as JSON.',
    });
  }
  return { head, query, body: jsonOf(body) };
}

function jsonOf(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  if (!isUtf8(body)) throw notJson('it is not UTF-8');
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch (error) {
    throw notJson(error instanceof Error ? error.message : String(error));
  }
}

function notJson(why: string): StewardError {
  return new StewardError('usage', `The body is not JSON: ${why.slice(0, 200)}.`, {
    hint: 'Send one JSON object.',
  });
}

function runJson(row: JsonRoute, request: RouteRequest): HttpAnswer | Promise<HttpAnswer> {
  const value = row.run(row.input?.(request) as never);
  const wrap = (result: unknown): HttpAnswer =>
    row.isLive === true || row.method === 'POST'
      ? liveAnswer(row.status ?? 200, result)
      : keptAnswer(request.head, result);
  return value instanceof Promise ? value.then(wrap) : wrap(value);
}

const LIVE_HEADERS = [...JSON_HEADERS, 'cache-control', 'no-store'];

function liveAnswer(status: number, value: unknown): HttpAnswer {
  return { status, headers: LIVE_HEADERS, body: `${JSON.stringify(value)}\n` };
}

function keptAnswer(head: RequestHead, value: unknown): HttpAnswer {
  return taggedAnswer(head, tagged(`${JSON.stringify(value)}\n`, JSON_HEADERS));
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
