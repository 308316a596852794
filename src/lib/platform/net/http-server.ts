import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import { errnoCode } from '../../errors';
import {
  SERVER_LIMITS,
  type Application,
  type HttpAnswer,
  type RequestHead,
  type ServerLimits,
} from './http-application';
import { closedNet, hangUpIdle, LINGER_MS, takeWaiting, type Connection } from './http-connections';
import { wireText } from './http-wire';
import { peerLookup } from './peer';
import { bodyOf, drained, hasBody } from './request-body';

export interface HttpServer {
  /** Resolves with the port; port 0 is any free one. */
  listenTcp: (host: string, port: number) => Promise<number>;
  /** A unix socket, or a named pipe on Windows. */
  listenLocal: (path: string) => Promise<void>;
  /** Requests that are being answered, and how many were since the start. */
  load: () => { open: number; answered: number };
  /** Stops listening, answers every request that has arrived, and closes; after `graceMs` whatever is left is cut. */
  close: (graceMs: number) => Promise<void>;
}

/**
 * An HTTP/1.1 server over TCP and a local socket. It bounds sizes and times, reads the body, and closes without
 * losing a request: an answer that is given while it closes carries `Connection: close`, and a connection is
 * only closed when nothing has come over it for a moment.
 */
export function httpServer(app: Application, limits: ServerLimits = SERVER_LIMITS): HttpServer {
  const servers: Server[] = [];
  const peerOf = peerLookup();
  const sockets = new Map<Socket, Connection>();
  let open = 0;
  let answered = 0;
  let accepted = 0;
  let closing = false;
  let settled: (() => void) | undefined;

  const finish = (response: ServerResponse, answer: HttpAnswer, isHead: boolean, hangUp: boolean): void => {
    const headers = answer.headers.slice();
    const isBare = isHead || answer.status === 304;
    if (answer.status !== 304) {
      headers.push('content-length', String(answer.length ?? Buffer.byteLength(answer.body)));
    }
    if (hangUp || closing) headers.push('connection', 'close');
    response.writeHead(answer.status, headers);
    response.end(isBare ? undefined : answer.body);
  };

  const serve = (
    head: RequestHead,
    request: IncomingMessage,
    response: ServerResponse,
  ): void | Promise<void> => {
    const refused = head.rawHeaders.length > limits.maxHeaders * 2 ? app.refuse(431) : app.admit(head);
    return refused instanceof Promise
      ? refused.then((later) => proceed(head, request, response, later))
      : proceed(head, request, response, refused);
  };

  const proceed = (
    head: RequestHead,
    request: IncomingMessage,
    response: ServerResponse,
    refused: HttpAnswer | undefined,
  ): void | Promise<void> => {
    if (request.socket.destroyed) return;
    const isHead = head.method === 'HEAD';
    if (hasBody(request)) return withBody(head, request, response, refused);
    const answer = refused ?? app.answer(head, NO_BYTES);
    if (!(answer instanceof Promise)) return finish(response, answer, isHead, false);
    return answer.then((later) => finish(response, later, isHead, false));
  };

  const withBody = async (
    head: RequestHead,
    request: IncomingMessage,
    response: ServerResponse,
    refused: HttpAnswer | undefined,
  ): Promise<void> => {
    const isHead = head.method === 'HEAD';
    const body = refused === undefined ? await bodyOf(request, limits.maxBodyBytes) : undefined;
    if (body === undefined) finish(response, refused ?? app.refuse(413), isHead, !(await drained(request)));
    else finish(response, await app.answer(head, body), isHead, false);
  };

  const ended = (connection: Connection, count: number): void => {
    connection.unanswered -= count;
    if (connection.unanswered === 0) connection.idleSince = process.uptime();
    open -= count;
    answered += count;
    if (open === 0) settled?.();
  };

  const onRequest =
    (isLocal: boolean) =>
    (request: IncomingMessage, response: ServerResponse): void => {
      const known = sockets.get(request.socket);
      // Of a connection that was cut, what it had sent goes on being read.
      if (known === undefined || request.socket.destroyed) return;
      if (known.unanswered >= limits.maxUnanswered) {
        request.socket.destroy();
        return;
      }
      known.unanswered += 1;
      known.idleSince = undefined;
      open += 1;
      response.once('close', () => {
        if (sockets.has(request.socket)) ended(known, 1);
      });
      const { method = '', headers, rawHeaders } = request;
      const target = originForm(request.url ?? '', headers.host);
      const failed = (error: unknown): void => {
        // A client that has gone while it was sending needs no answer.
        if (request.destroyed && !request.complete) response.destroy();
        else if (response.headersSent) response.destroy();
        else finish(response, app.refuse(500, error), method === 'HEAD', true);
      };
      try {
        const { isOtherUser } = known;
        serve({ method, target, headers, rawHeaders, isLocal, isOtherUser }, request, response)?.catch(
          failed,
        );
      } catch (error) {
        failed(error);
      }
    };

  const make = (isLocal: boolean): Server => {
    const server = createServer(
      {
        headersTimeout: limits.requestMs,
        requestTimeout: limits.requestMs,
        keepAliveTimeout: limits.idleMs,
        connectionsCheckingInterval: Math.min(1000, limits.requestMs / 4),
        maxHeaderSize: limits.maxHeaderBytes,
        noDelay: true,
        // The guards refuse it, in words.
        requireHostHeader: false,
      },
      onRequest(isLocal),
    );
    // None is dropped unseen, as Node would: `serve` counts them.
    server.maxHeadersCount = 0;
    server.maxConnections = limits.maxConnections;
    server.on('connection', (socket: Socket) => {
      accepted += 1;
      const isOtherUser = isLocal ? () => false : peerOf(socket);
      const connection = { idleSince: process.uptime(), unanswered: 0, isLeaving: false, isOtherUser };
      sockets.set(socket, connection);
      socket.once('close', () => {
        sockets.delete(socket);
        // Answers that stood in line behind another one are told nothing of the end.
        ended(connection, connection.unanswered);
      });
    });
    server.timeout = limits.unreadMs;
    // It stands still: between two requests for too long, or with an answer that is not read. One that is worked on may.
    server.on('timeout', (socket: Socket) => {
      if (socket.writableLength > 0 || sockets.get(socket)?.idleSince !== undefined) socket.destroy();
    });
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
      const status = STATUS_OF.get(error.code ?? '') ?? 400;
      if (!socket.writable || error.code === 'ECONNRESET') socket.destroy();
      else socket.end(wireText(app.refuse(status)), () => socket.destroy());
    });
    server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) =>
      finish(response, app.refuse(417), false, true),
    );
    server.on('connect', (_request: IncomingMessage, socket: Duplex) =>
      socket.end(wireText(app.refuse(400)), () => socket.destroy()),
    );
    servers.push(server);
    return server;
  };

  return {
    async listenTcp(host, port) {
      const server = make(false);
      await listening(server, { host, port, exclusive: true });
      return (server.address() as AddressInfo).port;
    },
    listenLocal(path) {
      // The socket is made before listen() returns, so nothing else is made under this mask.
      const mask = process.umask(0o177);
      try {
        return listening(make(true), { path });
      } finally {
        process.umask(mask);
      }
    },
    load: () => ({ open, answered }),
    async close(graceMs) {
      await takeWaiting(() => accepted);
      // Not http's own close(): that would cut connections whose next request is on its way.
      const closed = servers.map((server) => closedNet(server));
      // Not before the door is shut: clients that are sent away would all be back at it, and be cut there.
      closing = true;
      const idle = setInterval(() => setImmediate(() => hangUpIdle(sockets)), LINGER_MS);
      const answeredAll = new Promise<void>((resolve) => {
        settled = resolve;
        if (open === 0) resolve();
      });
      const cut = setTimeout(() => {
        for (const socket of sockets.keys()) socket.destroy();
      }, graceMs);
      await answeredAll;
      await Promise.all(closed);
      clearTimeout(cut);
      clearInterval(idle);
      for (const server of servers) server.close();
    },
  };
}

/** `/path` of a target with its scheme and host before it, as a client that takes us for a proxy sends it. */
function originForm(target: string, host = ''): string {
  const before = `http://${host}`;
  return target.startsWith('/') || !target.startsWith(`${before}/`) ? target : target.slice(before.length);
}

const NO_BYTES = Buffer.alloc(0);

const STATUS_OF: ReadonlyMap<string, number> = new Map([
  ['HPE_HEADER_OVERFLOW', 431],
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
]);

function listening(server: Server, where: object): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
}

/** Is the error that a port or socket is taken? */
export function isTaken(error: unknown): boolean {
  return errnoCode(error) === 'EADDRINUSE';
}
