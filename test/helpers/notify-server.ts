import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A request as the server got it. */
export interface Got {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: Record<string, unknown>;
  text: string;
}

export type Reply =
  | { status: number; body?: unknown; headers?: Record<string, string> }
  /** Never answers, breaks the connection, or answers without an end. */
  | 'hang'
  | 'reset'
  | 'endless';

export interface NotifyServer {
  url: string;
  port: number;
  got: Got[];
  /** What it answers, in turn; then `usual`. */
  replies: Reply[];
  usual: (got: Got) => Reply;
  close: () => Promise<void>;
}

/** A local server that takes JSON posts and answers as it is told, with every fault that a real one has. */
export async function notifyServer(usual: NotifyServer['usual']): Promise<NotifyServer> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const got = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        text,
        body: (text === '' ? {} : JSON.parse(text)) as Got['body'],
      };
      at.got.push(got);
      answer(at.replies.shift() ?? at.usual(got), response);
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const at: NotifyServer = {
    url: `http://127.0.0.1:${port}`,
    port,
    got: [],
    replies: [],
    usual,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
  return at;
}

function answer(reply: Reply, response: ServerResponse): void {
  if (reply === 'hang') return;
  if (reply === 'reset') {
    response.socket?.resetAndDestroy();
    return;
  }
  if (reply === 'endless') {
    response.writeHead(200, { 'content-type': 'application/json' });
    const more = (): void => {
      if (response.destroyed) return;
      response.write('x'.repeat(64 * 1024), () => setImmediate(more));
    };
    more();
    return;
  }
  const { body: told = '' } = reply;
  const body = typeof told === 'string' ? told : JSON.stringify(told);
  response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
  response.end(body);
}

/** ntfy's answer to a message that it has published. */
export const ntfyOk = (got: Got): Reply => ({
  status: 200,
  body: { id: 'abc123', time: 1_800_000_000, event: 'message', topic: got.body['topic'] },
});

/** ntfy's errors have this shape. */
export function ntfyError(code: number): Reply {
  const status = Math.floor(code / 100);
  return { status, body: { code, http: status, error: 'limit reached', link: 'https://example.org' } };
}
