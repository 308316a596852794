import { StewardError } from '../../errors';
import { isObject, parseObject } from '../../platform/files/json-object';
import { isLoopbackHost } from '../../platform/net/address';
import { networkFailureOf } from '../../platform/net/network-failure';
import type { OriginAnswer, OriginStream, OwnOrigin } from '../../platform/net/origin-client';
import type { Clock } from '../../platform/time/clock';
import { asEvent, type SentEvent } from './event';
import { apiError, failureOf, notTheApi, repeated, type RetryDeps } from './failure';

const BETA = 'managed-agents-2026-04-01';
const API_VERSION = '2026-10-21';
export const TOOLSET = 'agent_toolset_20260401';

const ANSWER_MS = 30_000;
const MAX_BYTES = 64 * 1024 * 1024;
const ERROR_BYTES = 64 * 1024;
const EVENTS_PER_PAGE = 1000;

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

const NAMES = { agents: 'agent', environments: 'environment', sessions: 'session' } as const;
type ResourceKind = keyof typeof NAMES;

/** An API key or a token; undefined if neither is configured. */
type ManagedCredential = { apiKey: string } | { authToken: string } | undefined;

interface ClientDeps {
  http: OwnOrigin;
  clock: Clock;
  credential: ManagedCredential;
  /** Name of the setting or variable that holds the credential. */
  credentialFrom: string | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Possible paths of the event stream: `stream` is from the API specification, `events/stream` from the
 * vendor's client library.
 */
const STREAM_PATHS = ['stream', 'events/stream'] as const;
type StreamPath = (typeof STREAM_PATHS)[number];

/** Creates a client for the managed-agents API, without retries. */
export function managedClient(deps: ClientDeps) {
  const { http } = deps;
  const sessionPath = (id: string, path: string): string => `/v1/sessions/${encodeURIComponent(id)}/${path}`;
  const resourcePath = (kind: ResourceKind, id: string): string => `/v1/${kind}/${encodeURIComponent(id)}`;
  let streamPath: StreamPath | undefined;
  return {
    host: http.host,
    create: async (kind: ResourceKind, body: unknown) =>
      resourceOf(http.host, await call(deps, 'POST', `/v1/${kind}`, `a new ${NAMES[kind]}`, { body })),
    get: async (kind: ResourceKind, id: string) =>
      resourceOf(http.host, await call(deps, 'GET', resourcePath(kind, id), `${NAMES[kind]} ${id}`)),
    list: async (kind: ResourceKind, query: Query) => {
      const body = await call(deps, 'GET', `/v1/${kind}`, `the list of ${kind}`, { query });
      if (!Array.isArray(body['data'])) throw unexpected(`${http.host} did not return a list of ${kind}.`);
      return pageOf(body, asResource);
    },
    archive: async (kind: ResourceKind, id: string) => {
      const path = `${resourcePath(kind, id)}/archive`;
      return resourceOf(http.host, await call(deps, 'POST', path, `${NAMES[kind]} ${id}`, { body: {} }));
    },
    events: async (id: string, { page, limit = EVENTS_PER_PAGE, types = [], order = 'asc' }: EventQuery) => {
      const query: Query = [
        ['order', order],
        ['limit', String(limit)],
        ...types.map((type) => ['types[]', type] as const),
        ...pageQuery(page),
      ];
      return pageOf(await call(deps, 'GET', sessionPath(id, 'events'), `session ${id}`, { query }), asEvent);
    },
    /** Sends events. Returns the accepted events, with ids if the service reports them. */
    send: async (id: string, events: readonly SentEvent[]) => {
      const what = `events for session ${id}`;
      const body = await call(deps, 'POST', sessionPath(id, 'events'), what, { body: { events } });
      return pageOf(body, asEvent).data;
    },
    /** Opens a stream of new events in a session. */
    stream: async (id: string) => {
      const open = async (path: StreamPath): Promise<OriginStream> => {
        const stream = await openStream(deps, sessionPath(id, path), id);
        streamPath = path;
        return stream;
      };
      if (streamPath !== undefined) return open(streamPath);
      const [specified, other] = STREAM_PATHS;
      return open(specified).catch((error: unknown) => {
        if (failureOf(error)?.status !== 404) throw error;
        return open(other);
      });
    },
    close: () => http.close(),
  };
}

export type ManagedClient = ReturnType<typeof managedClient>;

function headersOf({ credential }: ClientDeps, accept = 'application/json'): Record<string, string> {
  const auth =
    credential === undefined
      ? {}
      : 'apiKey' in credential
        ? { 'x-api-key': credential.apiKey }
        : { authorization: `Bearer ${credential.authToken}` };
  return {
    accept,
    'anthropic-beta': BETA,
    'anthropic-version': API_VERSION,
    'user-agent': 'steward',
    ...auth,
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
  const limits = { timeoutMs: ANSWER_MS, maxBytes: MAX_BYTES, signal };
  const answer = await http.request({ method, path, headers: headersOf(deps), ...more, ...limits });
  if (answer.status < 200 || answer.status > 299) throw refused(deps, answer, what);
  const body = answer.text.trim() === '' ? {} : parseObject(answer.text);
  if (body === undefined) throw notTheApi(http.host, answer);
  return body;
}

async function openStream(deps: ClientDeps, path: string, id: string): Promise<OriginStream> {
  const { http, signal } = deps;
  const headers = headersOf(deps, 'text/event-stream');
  const stream = await http.stream({ method: 'GET', path, headers, timeoutMs: ANSWER_MS, signal });
  if (stream.status !== 200)
    throw refused(deps, { ...stream, text: await errorText(stream) }, `session ${id}`);
  if ((stream.headers['content-type'] ?? '').includes('text/event-stream')) return stream;
  stream.close();
  throw notTheApi(http.host, stream);
}

/** Returns the start of an error response's body, even if the connection fails midway. */
async function errorText(stream: OriginStream): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (let read = await stream.chunks.next(); read.done !== true && size <= ERROR_BYTES;) {
      chunks.push(read.value);
      size += read.value.length;
      read = await stream.chunks.next();
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
  throw unexpected(`${host} returned a response without an id.`);
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

export async function* pagesOf<T>(read: (page: string | undefined) => Promise<Page<T>>): AsyncGenerator<T[]> {
  let page: string | undefined;
  do {
    const { data, next } = await read(page);
    yield data;
    page = next === page ? undefined : next;
  } while (page !== undefined);
}

const PAGE_SIZE = 100;
/** Listing stops after this many consecutive pages without a new resource. */
const MAX_STALE_PAGES = 20;

/** Returns up to `limit` resources without duplicates. */
export async function listAll(
  deps: RetryDeps & { client: ManagedClient },
  kind: ResourceKind,
  query: Query,
  limit: number,
): Promise<Resource[]> {
  const found = new Map<string, Resource>();
  const size = ['limit', String(Math.min(PAGE_SIZE, limit))] as const;
  let stalePages = 0;
  for await (const data of pagesOf((page) =>
    repeated(deps, () => deps.client.list(kind, [...query, size, ...pageQuery(page)])),
  )) {
    const before = found.size;
    for (const resource of data) found.set(resource.id, resource);
    stalePages = found.size > before ? 0 : stalePages + 1;
    if (found.size >= limit || stalePages >= MAX_STALE_PAGES) break;
  }
  return [...found.values()].slice(0, limit);
}

export function pageQuery(page: string | undefined): Query {
  return page === undefined ? [] : [['page', page]];
}

/** API credentials, and the names of the settings or variables that contain the credentials. */
interface Credentials {
  apiKey: string | undefined;
  authToken: string | undefined;
  names: readonly [apiKey: string, authToken: string];
}

/**
 * Environment variables of the vendor's own clients. Their values are sent only to the vendor or localhost.
 */
export const VENDOR_NAMES = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'] as const;
const VENDOR_HOST = 'api.anthropic.com';

/**
 * Returns the configured credential. For the vendor's host and localhost, falls back to the vendor's
 * variables. Throws `auth` if a remote host has no credential.
 */
export function credentialFor(
  url: string,
  configured: Credentials,
  vendor: Credentials,
): { credential: ManagedCredential; from: string | undefined } {
  const { hostname } = new URL(url);
  const isLocal = isLoopbackHost(hostname);
  const found = pick(configured) ?? (isLocal || hostname === VENDOR_HOST ? pick(vendor) : undefined);
  if (found !== undefined) return found;
  if (isLocal) return { credential: undefined, from: undefined };
  throw new StewardError('auth', `No credential for ${hostname}.`, {
    hint: 'Set a credential: steward config set agents.managed.apiKey env:ANTHROPIC_API_KEY',
  });
}

function pick(found: Credentials): { credential: ManagedCredential; from: string } | undefined {
  const { apiKey, authToken, names } = found;
  const [key, token] = [apiKey?.trim() ?? '', authToken?.trim() ?? ''];
  if (key !== '' && token !== '') {
    throw new StewardError(
      'auth',
      `Both ${names[0]} and ${names[1]} are set; the service accepts only one.`,
      {
        hint: 'Unset one of them.',
      },
    );
  }
  const from = key === '' ? names[1] : names[0];
  if (key + token === '') return undefined;
  if (/^[\x21-\x7e]+$/.test(key + token))
    return { credential: key === '' ? { authToken: token } : { apiKey: key }, from };
  throw new StewardError('config', `The credential from ${from} contains invalid characters.`, {
    hint: 'Copy the credential again, without spaces or line breaks.',
  });
}
