import { StewardError } from '../../errors';
import { isObject, parseObject } from '../../platform/files/json-object';
import { networkFailureOf } from '../../platform/net/network-failure';
import type { OriginAnswer, OriginStream, OwnOrigin } from '../../platform/net/origin-client';
import type { Clock } from '../../platform/time/clock';
import { type ManagedEvent, type SentEvent, asEvent } from './event';
import { apiError, failureOf, notTheApi, repeated } from './failure';
import type { SendDeps } from './outbox';

/** The dated feature tag that every call carries (service.md: Authentication). */
const BETA = 'managed-agents-2026-04-01';
const API_VERSION = '2026-10-21';
/** The one toolset type (service.md: Managed-agent resources). */
export const TOOLSET = 'agent_toolset_20260401';

const ANSWER_MS = 30_000;
const MAX_BYTES = 64 * 1024 * 1024;
const MOST_EVENTS = 1000;

export interface Resource extends Record<string, unknown> {
  id: string;
}

export interface Page<T> {
  data: T[];
  next: string | undefined;
}

export interface EventQuery {
  page?: string | undefined;
  limit?: number;
  types?: readonly string[];
  order?: 'asc' | 'desc';
}

export interface ManagedClient {
  host: string;
  create: (kind: ResourceKind, body: unknown) => Promise<Resource>;
  get: (kind: ResourceKind, id: string) => Promise<Resource>;
  list: (kind: ResourceKind, query: readonly (readonly [string, string])[]) => Promise<Page<Resource>>;
  archive: (kind: ResourceKind, id: string) => Promise<Resource>;
  /** One page of a session's log. */
  events: (session: string, query: EventQuery) => Promise<Page<ManagedEvent>>;
  /** The events as the service took them, with their ids where it tells them. */
  send: (session: string, events: readonly SentEvent[]) => Promise<ManagedEvent[]>;
  /** The open stream of a session: what happens from now on. */
  stream: (session: string) => Promise<OriginStream>;
  close: () => Promise<void>;
}

export type ResourceKind = 'agents' | 'environments' | 'sessions';

/** What is sent to name the caller: one of the two, or nothing (decisions.md 9). */
export type Credential = { apiKey: string } | { authToken: string } | undefined;

export interface ClientDeps {
  http: OwnOrigin;
  clock: Clock;
  credential: Credential;
  /** Where it comes from, in words; undefined where there is none. */
  credentialFrom: string | undefined;
  signal?: AbortSignal;
}

/** The calls of the managed-agents API, each once, without retries (service.md: Managed-agents API). */
export function managedClient({
  http,
  clock,
  credential,
  credentialFrom,
  signal,
}: ClientDeps): ManagedClient {
  const headers: Record<string, string> = {
    accept: 'application/json',
    'anthropic-beta': BETA,
    'anthropic-version': API_VERSION,
    'user-agent': 'steward',
  };
  if (credential !== undefined && 'apiKey' in credential) headers['x-api-key'] = credential.apiKey;
  else if (credential !== undefined) headers['authorization'] = `Bearer ${credential.authToken}`;
  const aborts = signal === undefined ? {} : { signal };

  const refused = (answer: OriginAnswer & { text: string }, what: string): StewardError =>
    apiError({ host: http.host, what, credentialFrom, nowMs: clock.now() }, answer);
  const call = async (
    method: 'GET' | 'POST',
    path: string,
    what: string,
    more: { query?: readonly (readonly [string, string])[]; body?: unknown } = {},
  ): Promise<Record<string, unknown>> => {
    const answer = await http.request({
      method,
      path,
      headers,
      ...more,
      ...aborts,
      timeoutMs: ANSWER_MS,
      maxBytes: MAX_BYTES,
    });
    if (answer.status < 200 || answer.status > 299) throw refused(answer, what);
    const body = answer.text.trim() === '' ? {} : parseObject(answer.text);
    if (body === undefined) throw notTheApi(http.host, answer);
    return body;
  };
  const resource = async (promise: Promise<Record<string, unknown>>): Promise<Resource> => {
    const body = await promise;
    if (typeof body['id'] === 'string' && body['id'] !== '') return body as Resource;
    throw new StewardError('unavailable', `${http.host} sent an answer without an id.`, {
      hint: 'Check agents.managed.url.',
    });
  };

  let streamPath: StreamPath | undefined;
  return {
    host: http.host,
    create: (kind, body) => resource(call('POST', `/v1/${kind}`, `a new ${NAMES[kind]}`, { body })),
    get: (kind, id) => resource(call('GET', `/v1/${kind}/${encodeURIComponent(id)}`, `${NAMES[kind]} ${id}`)),
    list: async (kind, query) => {
      const body = await call('GET', `/v1/${kind}`, `the list of ${kind}`, { query });
      // That there are none is said of a list only.
      if (!Array.isArray(body['data'])) {
        throw new StewardError('unavailable', `${http.host} sent no list of ${kind}.`, {
          hint: 'Check agents.managed.url.',
        });
      }
      return pageOf(body, (value) =>
        isObject(value) && typeof value['id'] === 'string' ? (value as Resource) : undefined,
      );
    },
    archive: (kind, id) =>
      resource(
        call('POST', `/v1/${kind}/${encodeURIComponent(id)}/archive`, `${NAMES[kind]} ${id}`, { body: {} }),
      ),
    events: async (session, { page, limit = MOST_EVENTS, types = [], order = 'asc' }) => {
      const query: [string, string][] = [
        ['order', order],
        ['limit', String(limit)],
        ...types.map((type): [string, string] => ['types[]', type]),
      ];
      if (page !== undefined) query.push(['page', page]);
      const path = `/v1/sessions/${encodeURIComponent(session)}/events`;
      return pageOf(await call('GET', path, `session ${session}`, { query }), asEvent);
    },
    send: async (session, events) => {
      const path = `/v1/sessions/${encodeURIComponent(session)}/events`;
      const body = await call('POST', path, `events for session ${session}`, { body: { events } });
      return pageOf(body, asEvent).data;
    },
    stream: async (session) => {
      const open = async (path: StreamPath): Promise<OriginStream> => {
        const stream = await http.stream({
          method: 'GET',
          path: `/v1/sessions/${encodeURIComponent(session)}/${path}`,
          headers: { ...headers, accept: 'text/event-stream' },
          ...aborts,
          timeoutMs: ANSWER_MS,
        });
        if (stream.status === 200 && isEventStream(stream)) return stream;
        if (stream.status === 200) {
          stream.close();
          throw notTheApi(http.host, stream);
        }
        const text = await someText(stream);
        throw refused({ ...stream, text }, `session ${session}`);
      };
      if (streamPath !== undefined) return open(streamPath);
      const [specified, other] = STREAM_PATHS;
      let served: StreamPath = specified;
      const stream = await open(specified).catch((error: unknown) => {
        if (failureOf(error)?.status !== 404) throw error;
        served = other;
        return open(other);
      });
      streamPath = served;
      return stream;
    },
    close: () => http.close(),
  };
}

/** The specification's path first; the vendor's own library uses the other. */
const STREAM_PATHS = ['stream', 'events/stream'] as const;
type StreamPath = (typeof STREAM_PATHS)[number];

const NAMES: Readonly<Record<ResourceKind, string>> = {
  agents: 'agent',
  environments: 'environment',
  sessions: 'session',
};

function pageOf<T>(body: Record<string, unknown>, parse: (value: unknown) => T | undefined): Page<T> {
  const data = Array.isArray(body['data']) ? body['data'] : [];
  const next = body['next_page'];
  return {
    data: data.map(parse).filter((value) => value !== undefined),
    next: typeof next === 'string' && next !== '' ? next : undefined,
  };
}

function isEventStream({ headers }: OriginStream): boolean {
  return (headers['content-type'] ?? '').includes('text/event-stream');
}

const ERROR_BYTES = 64 * 1024;

/** The beginning of the body of an answer that is an error. */
async function someText(stream: OriginStream): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await stream.chunks.next();
      if (done === true || size > ERROR_BYTES) break;
      chunks.push(value);
      size += value.length;
    }
  } catch (error) {
    // Its status says enough when the words are cut.
    if (networkFailureOf(error) === undefined) throw error;
  } finally {
    stream.close();
  }
  return Buffer.concat(chunks).toString('utf8');
}

const PAGE = 100;

/** So many pages in a row without anything new are no list that ends. */
const MOST_STALE = 20;

/** Resources page by page until there are `most` of them or no more; each once. */
export async function listAll(
  deps: Pick<SendDeps, 'client' | 'clock' | 'timing' | 'signal'>,
  kind: ResourceKind,
  query: readonly (readonly [string, string])[],
  most: number,
): Promise<Resource[]> {
  const found = new Map<string, Resource>();
  let page: string | undefined;
  let stale = 0;
  do {
    const paged: [string, string][] = page === undefined ? [] : [['page', page]];
    const limit: [string, string] = ['limit', String(Math.min(PAGE, most))];
    const got = await repeated(deps, () => deps.client.list(kind, [...query, limit, ...paged]));
    const before = found.size;
    for (const resource of got.data) found.set(resource.id, resource);
    stale = found.size > before ? 0 : stale + 1;
    page = got.next === page ? undefined : got.next;
  } while (page !== undefined && found.size < most && stale < MOST_STALE);
  return [...found.values()].slice(0, most);
}
