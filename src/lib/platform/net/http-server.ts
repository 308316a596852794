import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { Server as NetServer, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import { errnoCode } from '../../errors';
import {
  SERVER_LIMITS,
  type Application,
  type HttpAnswer,
  type RequestHead,
  type ServerLimits,
} from './http-application';
import { peerLookup, type IsOtherUser } from './peer';
import { bodyOf, drained, hasBody } from './request-body';

interface Connection {
  /** The number of requests in progress. */
  unanswered: number;
  isOtherUser: IsOtherUser;
}

/** How long a shutdown waits, each time, before it closes the idle connections: a request may be in transit. */
const LINGER_MS = 400;

function stateOf(app: Application, limits: ServerLimits) {
  return {
    app,
    limits,
    servers: [] as Server[],
    sockets: new Map<Socket, Connection>(),
    open: 0,
    answered: 0,
    accepted: 0,
    /** Open streams, which don't count as requests in progress. */
    streams: new Set<ServerResponse>(),
    /** `isEnding` is set when a shutdown begins, and `isClosing` once the server no longer listens. */
    isEnding: false,
    isClosing: false,
    /** Called when no requests are in progress. */
    onSettled: undefined as (() => void) | undefined,
  };
}

type State = ReturnType<typeof stateOf>;

/**
 * Creates an HTTP/1.1 server for TCP and a local socket, with size and time limits. A shutdown loses no
 * requests: the server sends `Connection: close`, and closes only idle connections.
 */
export function httpServer(app: Application, limits: ServerLimits = SERVER_LIMITS) {
  const state = stateOf(app, limits);
  const peerOf = peerLookup();
  return {
    /** Listens on a TCP port and returns the port. Port 0 selects any free port. */
    async listenTcp(host: string, port: number) {
      const server = makeServer(state, false, peerOf);
      await listening(server, { host, port, exclusive: true });
      return (server.address() as AddressInfo).port;
    },
    /** Listens on a Unix socket, or on a named pipe on Windows. */
    listenLocal(path: string) {
      // `listen` creates the socket before it returns, so nothing else is created under this umask.
      const mask = process.umask(0o177);
      try {
        return listening(
          makeServer(state, true, () => () => false),
          { path },
        );
      } finally {
        process.umask(mask);
      }
    },
    /** The number of requests in progress, and the number handled since the start. */
    load: () => ({ open: state.open, answered: state.answered }),
    /**
     * Stops listening, handles the requests that have arrived, and closes. After `graceMs`, drops the remaining
     * connections.
     */
    close: (graceMs: number) => close(state, graceMs),
  };
}

export type HttpServer = ReturnType<typeof httpServer>;

function makeServer(state: State, isLocal: boolean, peerOf: (socket: Socket) => IsOtherUser): Server {
  const { app, limits, sockets } = state;
  const server = createServer(
    {
      headersTimeout: limits.requestMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: limits.idleMs,
      connectionsCheckingInterval: Math.min(1000, limits.requestMs / 4),
      maxHeaderSize: limits.maxHeaderBytes,
      noDelay: true,
      // `admit` rejects requests without a Host header, with a clearer message than Node's.
      requireHostHeader: false,
    },
    (request, response) => onRequest(state, isLocal, request, response),
  );
  // 0 means no limit. With a limit, Node would silently drop excess headers; instead, `respond` rejects
  // requests with too many headers.
  server.maxHeadersCount = 0;
  server.maxConnections = limits.maxConnections;
  server.timeout = limits.unreadMs;
  server.on('connection', (socket: Socket) => onConnection(state, socket, peerOf(socket)));
  // Drops idle connections and clients that don't read their response. Never drops a request in progress.
  server.on('timeout', (socket: Socket) => {
    if (socket.writableLength > 0 || sockets.get(socket)?.unanswered === 0) socket.destroy();
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') socket.destroy();
    else sendOff(socket, app.refuse(STATUS_OF.get(error.code ?? '') ?? 400));
  });
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) =>
    finish(state, response, app.refuse(417), { isHead: false, hangUp: true }),
  );
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => sendOff(socket, app.refuse(400)));
  state.servers.push(server);
  return server;
}

const STATUS_OF: ReadonlyMap<string, number> = new Map([
  ['HPE_HEADER_OVERFLOW', 431],
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
]);

function onConnection(state: State, socket: Socket, isOtherUser: IsOtherUser): void {
  state.accepted += 1;
  const connection = { unanswered: 0, isOtherUser };
  state.sockets.set(socket, connection);
  socket.once('close', () => {
    state.sockets.delete(socket);
    // When a connection closes, count all of its pending responses as ended, because queued responses emit no
    // close event.
    ended(state, connection, connection.unanswered);
  });
}

function onRequest(state: State, isLocal: boolean, request: IncomingMessage, response: ServerResponse): void {
  const { app, limits, sockets } = state;
  const { socket } = request;
  const known = sockets.get(socket);
  // Node still delivers requests that arrived before the connection was destroyed.
  if (known === undefined || socket.destroyed) return;
  if (known.unanswered >= limits.maxUnanswered) {
    socket.destroy();
    return;
  }
  known.unanswered += 1;
  state.open += 1;
  response.once('close', () => {
    if (!state.streams.delete(response) && sockets.has(socket)) ended(state, known, 1);
  });
  const { method = '', headers, rawHeaders } = request;
  const target = originForm(request.url ?? '', headers.host);
  const head = { method, target, headers, rawHeaders, isLocal, isOtherUser: known.isOtherUser };
  respond(state, head, request, response).catch((error: unknown) => {
    if (response.headersSent || (request.destroyed && !request.complete)) response.destroy();
    else finish(state, response, app.refuse(500, error), { isHead: method === 'HEAD', hangUp: true });
  });
}

async function respond(state: State, head: RequestHead, request: IncomingMessage, response: ServerResponse) {
  const { app, limits } = state;
  const isHead = head.method === 'HEAD';
  const refused = head.rawHeaders.length > limits.maxHeaders * 2 ? app.refuse(431) : await app.admit(head);
  if (request.socket.destroyed) return;
  if (!hasBody(request)) {
    finish(state, response, refused ?? (await app.answer(head, Buffer.alloc(0))), { isHead, hangUp: false });
    return;
  }
  const body = refused === undefined ? await bodyOf(request, limits.maxBodyBytes) : undefined;
  const answer = body === undefined ? (refused ?? app.refuse(413)) : await app.answer(head, body);
  const hangUp = body === undefined && !(await drained(request));
  finish(state, response, answer, { isHead, hangUp });
}

function finish(
  state: State,
  response: ServerResponse,
  answer: HttpAnswer,
  { isHead, hangUp }: { isHead: boolean; hangUp: boolean },
): void {
  if (answer.stream !== undefined && !isHead) {
    startStream(state, response, answer, answer.stream);
    return;
  }
  const headers = answer.headers.slice();
  if (answer.status !== 304) {
    headers.push('content-length', String(answer.length ?? Buffer.byteLength(answer.body)));
  }
  if (hangUp || state.isClosing) headers.push('connection', 'close');
  response.writeHead(answer.status, headers);
  response.end(isHead || answer.status === 304 ? undefined : answer.body);
}

/** Maximum number of unread bytes. A client above this limit is disconnected. */
const MAX_UNREAD_BYTES = 64 * 1024;

function startStream(
  state: State,
  response: ServerResponse,
  { status, headers }: HttpAnswer,
  stream: NonNullable<HttpAnswer['stream']>,
): void {
  const connection = response.socket && state.sockets.get(response.socket);
  // A response has no socket while an earlier response on the connection is being sent.
  if (!connection) {
    response.destroy();
    return;
  }
  response.writeHead(status, [...headers, 'connection', 'close']);
  ended(state, connection, 1);
  if (state.isEnding) {
    response.end();
    return;
  }
  state.streams.add(response);
  const stop = stream((text) => {
    if (response.writableLength > MAX_UNREAD_BYTES) response.destroy();
    else if (!response.writableEnded) response.write(text);
  });
  response.once('close', stop);
}

function ended(state: State, connection: Connection, count: number): void {
  connection.unanswered -= count;
  state.open -= count;
  state.answered += count;
  if (state.open === 0) state.onSettled?.();
}

async function close(state: State, graceMs: number): Promise<void> {
  state.isEnding = true;
  for (const response of state.streams) response.end();
  await takeWaiting(state);
  // Use the `close` of net.Server, because that of http.Server would drop a connection whose next request is
  // in transit.
  const closed = state.servers.map(
    (server) => new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve())),
  );
  // Set `isClosing` only after the server stops listening. Otherwise, a disconnected client could reconnect
  // and be dropped.
  state.isClosing = true;
  const hangUpIdle = (): void => {
    for (const server of state.servers) server.closeIdleConnections();
    // Browsers open connections before they need them. Node doesn't count these as idle.
    for (const socket of state.sockets.keys()) if (socket.bytesRead === 0) socket.destroy();
  };
  const idle = setInterval(() => setImmediate(hangUpIdle), LINGER_MS);
  const cut = setTimeout(() => {
    for (const socket of state.sockets.keys()) socket.destroy();
  }, graceMs);
  await new Promise<void>((resolve) => {
    state.onSettled = resolve;
    if (state.open === 0) resolve();
  });
  await Promise.all(closed);
  clearTimeout(cut);
  clearInterval(idle);
  for (const server of state.servers) server.close();
}

/**
 * Accepts the connections that are waiting in the system's queue, because closing the server would drop them.
 * Stops after two event loop turns without a new connection.
 */
async function takeWaiting(state: State): Promise<void> {
  for (let turns = 0, quiet = 0; turns < MAX_TURNS && quiet < 2; turns += 1) {
    const before = state.accepted;
    await new Promise((resolve) => setImmediate(resolve));
    quiet = state.accepted === before ? quiet + 1 : 0;
  }
}

/** Maximum number of event loop turns, higher than the system's limit of 511 queued connections. */
const MAX_TURNS = 600;

/** Removes the scheme and host that clients send before the path when they use a proxy. */
function originForm(target: string, host = ''): string {
  const before = `http://${host}`;
  return target.startsWith('/') || !target.startsWith(`${before}/`) ? target : target.slice(before.length);
}

/** Sends the response to an invalid request, and closes the connection. */
function sendOff(socket: Duplex, { status, headers, body }: HttpAnswer): void {
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Refused'}`];
  for (let i = 0; i + 1 < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`);
  lines.push(`content-length: ${Buffer.byteLength(body)}`, 'connection: close');
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body.toString()}`, () => socket.destroy());
}

function listening(server: Server, where: object): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
}

/** Returns whether the error means that a port or socket is in use. */
export function isTaken(error: unknown): boolean {
  return errnoCode(error) === 'EADDRINUSE';
}
