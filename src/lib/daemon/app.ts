import { isUtf8 } from 'node:buffer';

import { StewardError, toStewardError } from '../errors';
import type { Application, HttpAnswer, RequestHead } from '../platform/net/http-application';
import { guard, type Gate, type GuardPolicy } from './guards';
import { forPeople } from './problem-page';
import {
  errorAnswer,
  forbidden,
  JSON_HEADERS,
  refusal,
  tagged,
  taggedAnswer,
  type JsonRoute,
  type Route,
  type RouteRequest,
} from './route';
import { forWholeAnswer, nameFilter } from './withheld';

export interface AppDeps {
  routes: readonly Route[];
  policy: GuardPolicy;
  /**
   * Checks requests over TCP. Requests over the local socket need no check, because only this user can open
   * it.
   */
  gate: Pick<Gate, 'isRequired' | 'hasKey' | 'hasPageSecret'>;
  /** Whether other users on this machine may send requests over TCP without a token. */
  otherUsers: boolean;
  /** Called for every 5xx response. */
  onFault: (head: Pick<RequestHead, 'method' | 'target'>, error: StewardError) => void;
}

type Table = ReadonlyMap<string, ReadonlyMap<string, Route>>;

/**
 * Returns the daemon's HTTP application. Errors in routes become error responses. Only the local socket and signed-in
 * pages get names, such as titles and branches. `settled` waits for the answers in progress, including those whose
 * client is gone.
 */
export function daemonApp(deps: AppDeps): Application & { settled: () => Promise<unknown> } {
  const table = tableOf(deps.routes);
  const withoutNames = nameFilter();
  const answering = new Set<Promise<HttpAnswer>>();
  const answerTo = async (head: RequestHead, body: Buffer): Promise<HttpAnswer> => {
    try {
      const row = routeFor(table, head);
      if ('headers' in row) return row;
      if (head.isLocal || row.isOpen === true || deps.gate.hasPageSecret(head))
        return await run(row, head, body);
      return withoutNames(row, head, await run(row, forWholeAnswer(head), body));
    } catch (error) {
      const answer = errorAnswer(error);
      if (answer.status >= 500) deps.onFault(head, toStewardError(error));
      return forPeople(head, answer);
    }
  };
  return {
    async admit(head) {
      const found = routeFor(table, head);
      const row = 'headers' in found ? undefined : found;
      const refused =
        guard(head, deps.policy, row?.extension !== undefined) ??
        (head.isLocal ? undefined : await accessRefusal(deps, head, row)) ??
        ('headers' in found ? found : (encodingRefusal(head) ?? sizeRefusal(head, found)));
      return refused && forPeople(head, refused);
    },
    answer(head, body) {
      const answer = answerTo(head, body);
      answering.add(answer);
      return answer.finally(() => answering.delete(answer));
    },
    refuse(status, cause) {
      const [message, hint] = REFUSED.get(status) ?? BAD;
      if (status < 500) return refusal(status, 'usage', message, hint);
      deps.onFault({ method: '', target: '' }, toStewardError(cause));
      return errorAnswer(new StewardError('internal', 'The request failed.'));
    },
    settled: () => Promise.allSettled(answering),
  };
}

function tableOf(routes: readonly Route[]): Table {
  const table = new Map<string, Map<string, Route>>();
  for (const row of routes) {
    const rows = table.get(row.path) ?? new Map<string, Route>();
    if (rows.has(row.method)) throw new StewardError('internal', `Two routes for ${row.method} ${row.path}.`);
    table.set(row.path, rows.set(row.method, row));
  }
  return table;
}

/** Returns the route for a request, or a 404 or 405 response. */
function routeFor(table: Table, { method, target, isLocal }: RequestHead): Route | HttpAnswer {
  const rows = [...(table.get(target.split('?', 1)[0] ?? '')?.values() ?? [])].filter(
    (row) => isLocal || row.isLocal !== true,
  );
  const wanted = method === 'HEAD' ? 'GET' : method;
  const found = rows.find((row) => row.method === wanted);
  if (found !== undefined) return found;
  if (rows.length === 0) {
    return refusal(404, 'not_found', 'Nothing found at this path.', 'See docs/daemon.md.');
  }
  const allowed = rows.map((row) => (row.method === 'GET' ? 'GET, HEAD' : row.method)).join(', ');
  const message = `Method ${method.slice(0, 20)} is not allowed here.`;
  return refusal(405, 'usage', message, `Use ${allowed}.`, ['allow', allowed]);
}

/**
 * Returns an error response if a request over TCP isn't authorized. A token or page secret allows reading.
 * Only a page secret allows writing.
 */
async function accessRefusal({ gate, otherUsers }: AppDeps, head: RequestHead, row: Route | undefined) {
  if (!gate.hasKey(head)) {
    if (!otherUsers && (await head.isOtherUser())) return OTHER_USER;
    if (gate.isRequired && row?.isOpen !== true) return NO_TOKEN;
  }
  return row?.needsPage === true && !gate.hasPageSecret(head) ? READ_ONLY : undefined;
}

function encodingRefusal({ headers }: RequestHead): HttpAnswer | undefined {
  const encoding = headers['content-encoding'];
  if (encoding === undefined || encoding === 'identity') return undefined;
  return refusal(
    415,
    'usage',
    'Compressed bodies are not supported.',
    'Send the body without content-encoding.',
  );
}

function sizeRefusal({ headers }: RequestHead, { extension }: Route): HttpAnswer | undefined {
  if (extension === undefined || Number(headers['content-length']) <= extension.maxBytes) return undefined;
  return refusal(413, 'usage', 'The body is too large.', `Send at most ${extension.maxBytes} bytes.`);
}

const OTHER_USER = forbidden(
  'Requests from other users of this machine are refused.',
  'Send the token, or allow other users: steward config set daemon.otherUsers true',
);

const READ_ONLY = forbidden(
  'Only pages opened with "steward open" can make changes.',
  'Run "steward open", or use the command line.',
);

const NO_TOKEN = refusal(
  401,
  'auth',
  'This daemon requires a token.',
  'Open the pages with "steward open"; programs send "Authorization: Bearer TOKEN".',
  ['www-authenticate', 'Bearer realm="steward"'],
);

const BAD = ['The HTTP request is malformed.', 'Check the client.'] as const;
const REFUSED: ReadonlyMap<number, readonly [string, string]> = new Map([
  [408, ['The request timed out.', 'Send the request within ten seconds.']],
  [413, ['The body is too large.', 'Send at most 64 KiB.']],
  [417, ['The Expect header is not supported.', 'Send the request without that header.']],
  [431, ['The headers are too large.', 'Send fewer or shorter headers.']],
]);

function requestOf(head: RequestHead, body: Buffer): RouteRequest {
  const mark = head.target.indexOf('?');
  const query = new URLSearchParams(mark === -1 ? '' : head.target.slice(mark + 1));
  if (head.method !== 'POST') return { head, query, body: undefined };
  for (const name of query.keys()) {
    throw new StewardError('usage', `Unknown query parameter "${name.slice(0, 100)}".`, {
      hint: 'Send the parameter in the JSON body.',
    });
  }
  return { head, query, body: jsonOf(body) };
}

function jsonOf(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  try {
    if (!isUtf8(body)) throw new SyntaxError('not UTF-8');
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StewardError('usage', `The body is not valid JSON: ${why.slice(0, 200)}.`, {
      hint: 'Send one JSON object.',
    });
  }
}

async function run(row: Route, head: RequestHead, body: Buffer): Promise<HttpAnswer> {
  row.extension?.admit(head);
  const request = requestOf(head, body);
  return 'serve' in row ? row.serve(request) : runJson(row, request);
}

async function runJson(row: JsonRoute, request: RouteRequest): Promise<HttpAnswer> {
  const body = `${JSON.stringify(await row.run(row.input?.(request) as never))}\n`;
  if (row.isLive !== true && row.method === 'GET')
    return taggedAnswer(request.head, tagged(body, JSON_HEADERS));
  return { status: row.status ?? 200, headers: LIVE_HEADERS, body };
}

const LIVE_HEADERS = [...JSON_HEADERS, 'cache-control', 'no-store'];
