import { StewardError } from '../../errors';
import { isObject, parseObject } from '../../platform/files/json-object';
import { networkFailureOf } from '../../platform/net/network-failure';
import type { OriginAnswer, OriginStream, OwnOrigin } from '../../platform/net/origin-client';
import type { Clock } from '../../platform/time/clock';
import { asEvent, type ManagedEvent, type SentEvent } from './event';
import { apiError, failureOf, notTheApi, repeated, type RetryDeps } from './failure';

/** The dated feature tag that every call carries. */
const BETA = 'managed-agents-2026-04-01';
const API_VERSION = '2026-10-21';
/** The one toolset type of the API. */
export const TOOLSET = 'agent_toolset_20260401';

const ANSWER_MS = 30_000;
const MAX_BYTES = 64 * 1024 * 1024;
const ERROR_BYTES = 64 * 1024;
const MOST_EVENTS = 1000;

export interface Resource extends Record<string, unknown> {
  id: string;
}

export interface Page<T> {
  data: T[];
  next: string | undefined;
}

type Query = readonly (readonly [string, string])[];

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
  list: (kind: ResourceKind, query: Query) => Promise<Page<Resource>>;
  archive: (kind: ResourceKind, id: string) => Promise<Resource>;
  /** One page of a session's log. */
  events: (session: string, query: EventQuery) => Promise<Page<ManagedEvent>>;
  /** The events as the service took them, with their ids where it tells them. */
  send: (session: string, events: readonly SentEvent[]) => Promise<ManagedEvent[]>;
  /** The open stream of a session: what happens from now on. */
  stream: (session: string) => Promise<OriginStream>;
  close: () => Promise<void>;
}

const NAMES = { agents: 'agent', environments: 'environment', sessions: 'session' } as const;
export type ResourceKind = keyof typeof NAMES;

/** What names the caller: one of the two, or nothing. */
export type Credential = { apiKey: string } | { authToken: string } | undefined;

export interface ClientDeps {
  http: OwnOrigin;
  clock: Clock;
  credential: Credential;
  /** Where it comes from, in words; undefined where there is none. */
  credentialFrom: string | undefined;
  signal?: AbortSignal;
}

/** The calls of the managed-agents API, each once, without retries. */
export function managedClient(deps: ClientDeps): ManagedClient {
  const { http } = deps;
  const session = (id: string, path: string): string => `/v1/sessions/${encodeURIComponent(id)}/${path}`;
  const one = (kind: ResourceKind, id: string): string => `/v1/${kind}/${encodeURIComponent(id)}`;
  let streamPath: StreamPath | undefined;
  return {
    host: http.host,
    create: async (kind, body) =>
      resourceOf(http.host, await call(deps, 'POST', `/v1/${kind}`, `a new ${NAMES[kind]}`, { body })),
    get: async (kind, id) =>
      resourceOf(http.host, await call(deps, 'GET', one(kind, id), `${NAMES[kind]} ${id}`)),
    list: async (kind, query) => {
      const body = await call(deps, 'GET', `/v1/${kind}`, `the list of ${kind}`, { query });
      // An answer without a list is not an empty list.
      if (!Array.isArray(body['data'])) throw unexpected(`${http.host} sent no list of ${kind}.`);
      return pageOf(body, asResource);
    },
    archive: async (kind, id) => {
      const path = `${one(kind, id)}/archive`;
      return resourceOf(http.host, await call(deps, 'POST', path, `${NAMES[kind]} ${id}`, { body: {} }));
    },
    events: async (id, { page, limit = MOST_EVENTS, types = [], order = 'asc' }) => {
      const query: [string, string][] = [
        ['order', order],
        ['limit', String(limit)],
        ...types.map((type): [string, string] => ['types[]', type]),
        ...(page === undefined ? [] : [['page', page] as [string, string]]),
      ];
      return pageOf(await call(deps, 'GET', session(id, 'events'), `session ${id}`, { query }), asEvent);
    },
    send: async (id, events) => {
      const what = `events for session ${id}`;
      return pageOf(await call(deps, 'POST', session(id, 'events'), what, { body: { events } }), asEvent)
        .data;
    },
    stream: async (id) => {
      const open = (path: StreamPath): Promise<OriginStream> => openStream(deps, session(id, path), id);
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

function headersOf({ credential }: ClientDeps, accept = 'application/json'): Record<string, string> {
  return {
    accept,
    'anthropic-beta': BETA,
    'anthropic-version': API_VERSION,
    'user-agent': 'steward',
    ...(credential === undefined
      ? {}
      : 'apiKey' in credential
        ? { 'x-api-key': credential.apiKey }
        : { authorization: `Bearer ${credential.authToken}` }),
  };
}

function refused(
  { http, credentialFrom, clock }: ClientDeps,
  answer: OriginAnswer & { text: string },
  what: string,
): StewardError {
  return apiError({ host: http.host, what, credentialFrom, nowMs: clock.now() }, answer);
}

async function call(
  deps: ClientDeps,
  method: 'GET' | 'POST',
  path: string,
  what: string,
  more: { query?: Query; body?: unknown } = {},
): Promise<Record<string, unknown>> {
  const { http, signal } = deps;
  const limits = { timeoutMs: ANSWER_MS, maxBytes: MAX_BYTES, ...(signal === undefined ? {} : { signal }) };
  const answer = await http.request({ method, path, headers: headersOf(deps), ...more, ...limits });
  if (answer.status < 200 || answer.status > 299) throw refused(deps, answer, what);
  const body = answer.text.trim() === '' ? {} : parseObject(answer.text);
  if (body === undefined) throw notTheApi(http.host, answer);
  return body;
}

async function openStream(deps: ClientDeps, path: string, id: string): Promise<OriginStream> {
  const { http, signal } = deps;
  const headers = headersOf(deps, 'text/event-stream');
  const limits = { timeoutMs: ANSWER_MS, ...(signal === undefined ? {} : { signal }) };
  const stream = await http.stream({ method: 'GET', path, headers, ...limits });
  if (stream.status !== 200)
    throw refused(deps, { ...stream, text: await someText(stream) }, `session ${id}`);
  if ((stream.headers['content-type'] ?? '').includes('text/event-stream')) return stream;
  stream.close();
  throw notTheApi(http.host, stream);
}

/** The beginning of the body of an error answer; its status says enough when the words are cut. */
async function someText(stream: OriginStream): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (let got = await stream.chunks.next(); got.done !== true; got = await stream.chunks.next()) {
      chunks.push(got.value);
      size += got.value.length;
      if (size > ERROR_BYTES) break;
    }
  } catch (error) {
    if (networkFailureOf(error) === undefined) throw error;
  } finally {
    stream.close();
  }
  return Buffer.concat(chunks).toString('utf8');
}

function asResource(value: unknown): Resource | undefined {
  return isObject(value) && typeof value['id'] === 'string' ? (value as Resource) : undefined;
}

function resourceOf(host: string, body: Record<string, unknown>): Resource {
  if (typeof body['id'] === 'string' && body['id'] !== '') return body as Resource;
  throw unexpected(`${host} sent an answer without an id.`);
}

function unexpected(message: string): StewardError {
  return new StewardError('unavailable', message, { hint: 'Check agents.managed.url.' });
}

function pageOf<T>(body: Record<string, unknown>, parse: (value: unknown) => T | undefined): Page<T> {
  const data = Array.isArray(body['data']) ? body['data'] : [];
  const next = body['next_page'];
  return {
    data: data.map(parse).filter((value) => value !== undefined),
    next: typeof next === 'string' && next !== '' ? next : undefined,
  };
}

/** The data of one page after the other, until a page names no further one. */
export async function* pagesOf<T>(read: (page: string | undefined) => Promise<Page<T>>): AsyncGenerator<T[]> {
  let page: string | undefined;
  do {
    const { data, next } = await read(page);
    yield data;
    page = next === page ? undefined : next;
  } while (page !== undefined);
}

const PAGE = 100;
/** So many pages in a row without anything new are no list that ends. */
const MOST_STALE = 20;

/** Resources page by page until there are `most` of them or no more; each once. */
export async function listAll(
  deps: RetryDeps & { client: ManagedClient },
  kind: ResourceKind,
  query: Query,
  most: number,
): Promise<Resource[]> {
  const found = new Map<string, Resource>();
  const limit: [string, string] = ['limit', String(Math.min(PAGE, most))];
  let stale = 0;
  for await (const data of pagesOf((page) =>
    repeated(deps, () => deps.client.list(kind, [...query, limit, ...pageQuery(page)])),
  )) {
    const before = found.size;
    for (const resource of data) found.set(resource.id, resource);
    stale = found.size > before ? 0 : stale + 1;
    if (found.size >= most || stale >= MOST_STALE) break;
  }
  return [...found.values()].slice(0, most);
}

export function pageQuery(page: string | undefined): Query {
  return page === undefined ? [] : [['page', page]];
}
