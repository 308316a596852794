import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

import { NO_FAULTS, reset, type Faults } from './faults';
import { bodyOf, credentials, fail, send } from './http';
import { seeded, type Random } from '../random';
import { resources, shown } from './resources';
import {
  append,
  newSession,
  receive,
  type FakeSession,
  type Script,
  type SessionHost,
  type Step,
} from './session';
import { serveStream } from './stream';

export interface FakeOptions {
  random?: Random;
  faults?: Faults;
  script?: Script;
  /** The most items of a page, whatever is asked for. */
  pageSize?: number;
  /** Which paths serve the stream; a fault of a server is to know only one of them. */
  streamPaths?: readonly ('stream' | 'events/stream')[];
  /** A minimal server has no list of events. */
  history?: boolean;
  lagMs?: SessionHost['lagMs'];
  pauseMs?: () => number;
  emptyIds?: boolean;
  /** What it wants as a credential; anything when left out. */
  apiKey?: string;
}

export interface Received {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: unknown;
}

export interface Fake {
  url: string;
  requests: Received[];
  agents: Map<string, Record<string, unknown>>;
  environments: Map<string, Record<string, unknown>>;
  sessions: Map<string, FakeSession>;
  /** Connections that are open now. */
  connections: () => number;
  /** Stops, and starts again on the same port with the same state. */
  restart: () => Promise<void>;
  stop: () => Promise<void>;
  /** A session with a log, as if made by somebody else. */
  makeSession: (events?: readonly (Record<string, unknown> & { type: string })[]) => FakeSession;
}

const BETA = 'managed-agents-2026-04-01';

/** Says something, uses a tool, says more: with characters of several bytes. */
export const talk: Script = (message, random) => {
  const steps: Step[] = [{ emit: { type: 'agent.thinking' } }];
  for (let index = 0; index < 3 + random.below(12); index += 1) {
    steps.push({
      emit: { type: 'agent.message', content: [{ type: 'text', text: `é𝄞 ${message} ${index}` }] },
    });
  }
  return steps;
};

/** The hosted service on loopback, as faithful as its documents tell, with faults on demand. */
export async function startFake(options: FakeOptions = {}): Promise<Fake> {
  const random = options.random ?? seeded(1);
  const faults = options.faults ?? NO_FAULTS;
  const host: SessionHost = {
    random,
    script: options.script ?? talk,
    lagMs: options.lagMs ?? (() => 0),
    pauseMs: options.pauseMs ?? (() => 0),
    emptyIds: options.emptyIds ?? false,
  };
  const sockets = new Set<Socket>();
  const state = {
    requests: [] as Received[],
    agents: new Map<string, Record<string, unknown>>(),
    environments: new Map<string, Record<string, unknown>>(),
    sessions: new Map<string, FakeSession>(),
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://fake');
    const method = request.method ?? '';
    const text = await bodyOf(request);
    const body = text === '' ? undefined : (JSON.parse(text) as Record<string, unknown>);
    state.requests.push({ method, path: url.pathname, headers: request.headers, body });
    const refusal = credentials(request, options.apiKey);
    if (refusal !== undefined) return fail(response, 401, 'authentication_error', refusal);
    if (!String(request.headers['anthropic-beta'] ?? '').includes(BETA)) {
      return fail(response, 404, 'not_found_error', 'no such thing without the beta header');
    }
    const isStream = url.pathname.endsWith('/stream');
    const fault = faults.request(method, isStream);
    if (fault?.kind === 'reset') return reset(response);
    if (fault?.kind === 'status') {
      if (fault.html === true) {
        response.writeHead(fault.status, { 'content-type': 'text/html' }).end('<html>oops</html>');
        return;
      }
      return fail(response, fault.status, 'api_error', 'a fault', fault.headers);
    }
    const answer = route(method, url, body);
    if (fault?.kind === 'landed-then-reset') return reset(response);
    if (fault?.kind === 'landed-then-status')
      return fail(response, fault.status, 'api_error', 'after it landed');
    if (answer === 'stream') return;
    const [status, value] = answer;
    if (typeof value === 'string') return fail(response, status, 'invalid_request_error', value);
    send(response, status, value);

    function route(
      verb: string,
      { pathname, searchParams }: URL,
      given: typeof body,
    ): 'stream' | [number, unknown] {
      const [, , kind = '', id, ...rest] = pathname.split('/');
      const action = rest.join('/');
      if (kind === 'agents' || kind === 'environments')
        return resources(state[kind], kind, verb, id, action, given);
      if (kind !== 'sessions') return [404, 'no such path'];
      if (id === undefined) return sessions(verb, searchParams, given);
      const session = state.sessions.get(id);
      if (session === undefined) return [404, `no session ${id}`];
      if (verb === 'GET' && action === '') return [200, shown(session)];
      if (verb === 'POST' && action === 'archive') return archive(session);
      if (verb === 'POST' && action === 'events') {
        const taken = receive(host, session, (given?.['events'] ?? []) as Record<string, unknown>[]);
        return typeof taken === 'string' ? [400, taken] : [200, { data: taken }];
      }
      if (verb === 'GET' && action === 'events' && options.history !== false)
        return events(session, searchParams);
      const served = options.streamPaths ?? ['stream', 'events/stream'];
      if (verb === 'GET' && (served as readonly string[]).includes(action)) {
        if (fault === undefined) serveStream(response, session, random, faults.stream(), faults.lineEnd());
        return 'stream';
      }
      return [404, 'no such path'];
    }
  };

  function sessions(
    verb: string,
    query: URLSearchParams,
    given: Record<string, unknown> | undefined,
  ): [number, unknown] {
    if (verb === 'POST') {
      if (!state.agents.has(String(given?.['agent']))) return [404, 'no such agent'];
      if (!state.environments.has(String(given?.['environment_id']))) return [404, 'no such environment'];
      const made = newSession(
        String(given?.['agent']),
        String(given?.['environment_id']),
        given?.['metadata'] ?? {},
      );
      state.sessions.set(made.id, made);
      return [200, shown(made)];
    }
    const wanted = query.getAll('statuses[]');
    const all = [...state.sessions.values()]
      .filter(({ agent }) => !query.has('agent_id') || agent === query.get('agent_id'))
      .filter(({ status }) => wanted.length === 0 || wanted.includes(status));
    if (query.get('order') !== 'asc') all.reverse();
    return [200, paged(all.map(shown), query)];
  }

  function events(session: FakeSession, query: URLSearchParams): [number, unknown] {
    const now = Date.now();
    const types = query.getAll('types[]');
    const visible = session.log.filter((_, index) => (session.visibleAt[index] ?? 0) <= now);
    const wanted = types.length === 0 ? visible : visible.filter(({ type }) => types.includes(type));
    if (query.get('order') === 'desc') wanted.reverse();
    return [200, paged(wanted, query)];
  }

  function paged(all: readonly unknown[], query: URLSearchParams): unknown {
    const from = Number(
      Buffer.from(query.get('page') ?? '', 'base64url')
        .toString()
        .replace('at:', '') || 0,
    );
    const limit = Math.min(Number(query.get('limit') ?? 20), options.pageSize ?? 1000);
    const next = from + limit < all.length ? Buffer.from(`at:${from + limit}`).toString('base64url') : null;
    return { data: all.slice(from, from + limit), next_page: next };
  }

  function archive(session: FakeSession): [number, unknown] {
    const seen = session.log.filter((_, index) => (session.visibleAt[index] ?? 0) <= Date.now());
    const last = seen.findLast(({ type }) => type.startsWith('session.status_'));
    if (last?.type === 'session.status_running' || session.status === 'running')
      return [400, 'the session is running'];
    session.archived = new Date().toISOString();
    session.status = 'terminated';
    append(host, session, { type: 'session.status_terminated' });
    return [200, shown(session)];
  }

  const server: Server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      console.error(error);
      reset(response);
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
  });
  const listen = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => {
        server.off('error', reject);
        resolve();
      });
    });
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    ...state,
    connections: () => sockets.size,
    restart: async () => {
      await close();
      await listen(port);
    },
    stop: close,
    makeSession: (given = []) => {
      const session = newSession('agent_x', 'env_x', {});
      state.sessions.set(session.id, session);
      for (const event of given) append(host, session, event);
      return session;
    },
  };
}
